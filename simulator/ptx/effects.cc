#include "simulator/ptx/effects.h"

#include "simulator/isa/category.h"
#include "simulator/isa/forms.h"

namespace lockstep::ptx {
namespace {

using Kind = Operand::Kind;

void add(const Operand& o, bool writes, std::vector<RegisterAccess>& out) {
  // The registers of an address are read, even if the memory there is written.
  if (o.kind == Kind::kAddress) {
    if (o.has_register) out.push_back({o.index, false});
    writes = false;
  } else if (o.kind == Kind::kRegister || o.kind == Kind::kNegatedPredicate) {
    out.push_back({o.index, writes});
  }
  for (const Operand& e : o.elements) add(e, writes, out);
}

// The first operand of a call is the list of results (Instruction::operands).
bool writes_operand(const Instruction& i, std::size_t n) {
  return i.rules != nullptr ? (*i.rules)[n].is_destination() : i.opcode == Opcode::k_call && n == 0;
}

bool is_read_too(const Instruction& i, std::size_t n) {
  return i.rules != nullptr && (*i.rules)[n].read_too;
}

}  // namespace

std::vector<RegisterAccess> register_accesses(const Instruction& i) {
  std::vector<RegisterAccess> all;
  if (i.guard.present) all.push_back({i.guard.index, false});
  for (std::size_t n = 0; n < i.operands.size(); ++n) {
    if (!writes_operand(i, n) || is_read_too(i, n)) add(i.operands[n], false, all);
  }
  for (std::size_t n = 0; n < i.operands.size(); ++n) {
    if (writes_operand(i, n)) add(i.operands[n], true, all);
  }
  return all;
}

Successors successors(const Instruction& i) {
  Successors s;
  const isa::Flow flow = isa::flow_of(i.opcode);
  if (flow == isa::Flow::kEnds || flow == isa::Flow::kBranches) s.next = i.guard.present;
  if (flow != isa::Flow::kBranches) return s;
  for (const Operand& o : i.operands) {
    if (o.kind == Kind::kLabel) s.targets.push_back(o.index);
    if (o.kind != Kind::kList) continue;
    for (const Operand& e : o.elements) s.targets.push_back(e.index);
  }
  return s;
}

}  // namespace lockstep::ptx
