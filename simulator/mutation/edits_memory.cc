#include <algorithm>
#include <array>
#include <string>
#include <utility>

#include "simulator/isa/names.h"
#include "simulator/isa/opcode.h"
#include "simulator/mutation/edits.h"

namespace lockstep::mutation {
namespace {

using isa::Opcode;
using isa::Space;
using isa::SpecialRegister;
using ptx::Operand;

struct Exchange {
  SpecialRegister is;
  std::array<SpecialRegister, 2> becomes;
};
constexpr std::array<Exchange, 13> kExchanges = {{
    {SpecialRegister::kTidX, {SpecialRegister::kCtaidX, SpecialRegister::kTidY}},
    {SpecialRegister::kTidY, {SpecialRegister::kCtaidY, SpecialRegister::kTidX}},
    {SpecialRegister::kTidZ, {SpecialRegister::kCtaidZ, SpecialRegister::kTidX}},
    {SpecialRegister::kCtaidX, {SpecialRegister::kTidX, SpecialRegister::kCtaidY}},
    {SpecialRegister::kCtaidY, {SpecialRegister::kTidY, SpecialRegister::kCtaidX}},
    {SpecialRegister::kCtaidZ, {SpecialRegister::kTidZ, SpecialRegister::kCtaidX}},
    {SpecialRegister::kNtidX, {SpecialRegister::kNctaidX, SpecialRegister::kNtidY}},
    {SpecialRegister::kNtidY, {SpecialRegister::kNctaidY, SpecialRegister::kNtidX}},
    {SpecialRegister::kNtidZ, {SpecialRegister::kNctaidZ, SpecialRegister::kNtidX}},
    {SpecialRegister::kNctaidX, {SpecialRegister::kNtidX, SpecialRegister::kNctaidY}},
    {SpecialRegister::kNctaidY, {SpecialRegister::kNtidY, SpecialRegister::kNctaidX}},
    {SpecialRegister::kNctaidZ, {SpecialRegister::kNtidZ, SpecialRegister::kNctaidX}},
    {SpecialRegister::kClusterCtarank, {SpecialRegister::kCtaidX, SpecialRegister::kNone}},
}};

std::string spelled(SpecialRegister r) { return std::string(isa::special_register_name(r)); }

void add_index_edits(const Site& site, std::vector<Edit>& edits) {
  const ptx::Instruction& i = site.instruction();
  if (i.opcode != Opcode::k_mov || i.operands.size() != 2 ||
      i.operands[1].kind != Operand::Kind::kSpecialRegister)
    return;
  const SpecialRegister is = i.operands[1].special;
  const auto known = std::find_if(kExchanges.begin(), kExchanges.end(),
                                  [&](const Exchange& e) { return e.is == is; });
  if (known != kExchanges.end()) {
    for (const SpecialRegister other : known->becomes) {
      if (other == SpecialRegister::kNone) continue;
      std::vector<Operand> operands = i.operands;
      operands[1].special = other;
      add(edits, Operator::kIndexExchanged, spelled(is) + " became " + spelled(other),
          with_opcode(site, i.text, std::move(operands)));
    }
  }
  if (known == kExchanges.end() && is != SpecialRegister::kLaneid &&
      is != SpecialRegister::kClusterNctarank && is != SpecialRegister::kWarpid)
    return;
  for (const std::int64_t by : {1, -1}) {
    auto sum = with_opcode(
        site, "add.s32",
        {i.operands[0], i.operands[0], integer_operand(static_cast<std::uint32_t>(by))});
    if (!sum) continue;
    Edit& edit = edits.emplace_back();
    edit.op = Operator::kIndexShifted;
    edit.change = spelled(is) +
                  (by > 0 ? " became " + spelled(is) + " + 1" : " became " + spelled(is) + " - 1");
    edit.instead = {i, std::move(*sum)};
  }
}

// The bytes that one lane accesses; 0 for other than ordinary accesses.
std::int64_t accessed_bytes(const ptx::Instruction& i) {
  switch (i.opcode) {
    case Opcode::k_ld:
    case Opcode::k_ldu:
    case Opcode::k_st:
    case Opcode::k_atom:
    case Opcode::k_red:
      return i.modifiers.space == Space::kParam
                 ? 0
                 : isa::size_of(i.modifiers.type) * i.modifiers.vector;
    case Opcode::k_cp_async: return 1;  // see below
    default: return 0;
  }
}

// The third operand of cp.async is the number of bytes.
std::int64_t element_bytes(const ptx::Instruction& i) {
  if (i.opcode != Opcode::k_cp_async) return accessed_bytes(i);
  return i.operands.size() > 2 && i.operands[2].kind == Operand::Kind::kImmediate
             ? static_cast<std::int64_t>(i.operands[2].bits)
             : 0;
}

void add_address_edits(const Site& site, std::vector<Edit>& edits) {
  const ptx::Instruction& i = site.instruction();
  const std::int64_t bytes = element_bytes(i);
  if (bytes == 0) return;
  const bool copies = i.opcode == Opcode::k_cp_async;
  for (std::size_t n = 0; n < i.operands.size(); ++n) {
    if (i.operands[n].kind != Operand::Kind::kAddress) continue;
    for (const std::int64_t by : {bytes, -bytes}) {
      ptx::Instruction moved = i;
      moved.operands[n].offset += by;
      const std::string what = !copies  ? "the access is"
                               : n == 0 ? "the destination is"
                                        : "the source is";
      add(edits, Operator::kAddressShifted,
          what + (by > 0 ? " one element further" : " one element before"), std::move(moved));
    }
  }
}

void add_store_edits(const Site& site, std::vector<Edit>& edits) {
  const ptx::Instruction& i = site.instruction();
  const char* what = nullptr;
  switch (i.opcode) {
    case Opcode::k_st:
      what = i.modifiers.space == Space::kParam ? nullptr : "the store is left out";
      break;
    case Opcode::k_sust: what = "the store is left out"; break;
    case Opcode::k_red:
    case Opcode::k_sured:
    case Opcode::k_cp_reduce_async_bulk:
    case Opcode::k_cp_reduce_async_bulk_tensor: what = "the reduction is left out"; break;
    case Opcode::k_cp_async:
    case Opcode::k_cp_async_bulk:
    case Opcode::k_cp_async_bulk_tensor: what = "the copy is left out"; break;
    default: break;
  }
  if (what == nullptr) return;
  Edit& edit = edits.emplace_back();
  edit.op = Operator::kStoreRemoved;
  edit.change = what;
}

// Moves a shared variable to local memory, at the first instruction of its function that takes the
// variable's address.
void add_sharing_edits(const Site& site, std::vector<Edit>& edits) {
  const ptx::Instruction& i = site.instruction();
  if (i.opcode != Opcode::k_mov || i.operands.size() != 2 ||
      i.operands[1].kind != Operand::Kind::kSymbol)
    return;
  const std::string& symbol = i.operands[1].symbol;
  const auto is_it = [&](const ptx::Variable& v) {
    return v.name == symbol && v.space == Space::kShared && !v.is_extern;
  };
  if (std::none_of(site.function.variables.begin(), site.function.variables.end(), is_it)) return;
  bool others = false;  // moving the variable would also move other shared data
  for (const ptx::Variable& v : site.function.variables)
    others |= v.space == Space::kShared && v.name != symbol;
  for (std::uint32_t n = 0; n < site.function.body.size(); ++n) {
    const ptx::Instruction& other = site.function.body[n];
    const bool shared =
        other.modifiers.space == Space::kShared || other.modifiers.space == Space::kSharedCluster;
    if (shared && other.opcode != Opcode::k_ld && other.opcode != Opcode::k_st)
      return;  // atomics and barriers have no local form
    if (n < site.index && other.opcode == Opcode::k_mov && other.operands.size() == 2 &&
        other.operands[1].symbol == symbol)
      return;
  }
  if (others) return;
  Edit& edit = edits.emplace_back();
  edit.op = Operator::kSharingRemoved;
  edit.change = "the shared variable became one of each thread";
  edit.removes_sharing = true;
}

}  // namespace

void add_memory_edits(const Site& site, std::vector<Edit>& edits) {
  add_index_edits(site, edits);
  add_address_edits(site, edits);
  add_store_edits(site, edits);
  add_sharing_edits(site, edits);
}

}  // namespace lockstep::mutation
