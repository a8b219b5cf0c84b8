#include "simulator/fuzz/differential/needs.h"

#include <string>

namespace lockstep::fuzz::differential {
namespace {

using Kind = Statement::Kind;

void needs(const Statement& s, Needs& n);

void use(Register x, Needs& n) {
  if (x.index < kPool[static_cast<int>(x.cls)]) n.pool[static_cast<int>(x.cls)][x.index] = true;
}
void needs(const std::vector<Statement>& list, Needs& n) {
  for (const Statement& s : list) needs(s, n);
}
void needs(const Statement& s, Needs& n) {
  for (const Instruction& i : s.unit) {
    if (i.guard >= 0) use({Class::kPredicate, static_cast<std::uint8_t>(i.guard)}, n);
    for (const Operand& o : i.operands) {
      if (o.kind == Operand::Kind::kRegister || o.kind == Operand::Kind::kNegated) use(o.reg, n);
      for (const Register x : o.elements) use(x, n);
      if (o.kind != Operand::Kind::kAddress) continue;
      if (o.address.index >= 0) use({Class::k32, static_cast<std::uint8_t>(o.address.index)}, n);
      switch (o.address.region) {
        case Region::kInput: n.window |= o.address.window; break;
        case Region::kScratch: n.scratch = true; break;
        case Region::kShared: n.shared = true; break;
        case Region::kLocal: n.local = true; break;
        case Region::kBoard: n.board = true; break;
        case Region::kGlobalSums: n.sums = true; break;
        case Region::kSharedSums: n.shared_sums = true; break;
        default: break;
      }
    }
  }
  const auto predicate = [&] {
    use({Class::kPredicate, static_cast<std::uint8_t>(s.predicate)}, n);
  };
  switch (s.kind) {
    case Kind::kIf:
    case Kind::kIrreducible:
      if (!s.uniform) predicate();
      break;
    case Kind::kLeaveIf:
    case Kind::kEnd: predicate(); break;
    case Kind::kLoop:
      if (s.trips == Statement::Trips::kLanes) use({Class::k32, s.reg}, n);
      if (s.walk >= 0) use({Class::k32, static_cast<std::uint8_t>(s.walk)}, n);
      break;
    case Kind::kSwitch: use({Class::k32, s.reg}, n); break;
    case Kind::kCall:
      if (s.alternative >= 0) predicate();
      for (std::size_t i = 0; i < s.registers.size(); ++i)
        use({i == 1 ? Class::k64 : Class::k32, s.registers[i]}, n);
      break;
    case Kind::kExchange:
    case Kind::kHandOver: n.board = true; break;
    case Kind::kText:
      for (const std::string& l : s.lines) {
        const auto has = [&](const char* word) { return l.find(word) != std::string::npos; };
        n.stage |= has("b_stage") || has("b_mbarrier");
        n.shared |= has("b_shared");
        n.local |= has("b_local");
        n.window |= has("b_window");
        n.scratch |= has("b_scratch");
      }
      for (const Assignment& a : s.effects) {
        use(a.to, n);
        if (a.value == Assignment::Value::kRegister) use(a.from, n);
      }
      break;
    default: break;
  }
  needs(s.body, n);
  needs(s.other, n);
  for (const auto& c : s.cases) needs(c, n);
}

}  // namespace

Needs needs_of(const Program& program) {
  Needs n;
  needs(program.body, n);
  // The predicates are initialised by comparing r0 to r3 with r4 to r7.
  for (int i = 0; i < 4; ++i)
    if (n.pool[0][i]) n.pool[2][i] = n.pool[2][i + 4] = true;
  return n;
}

}  // namespace lockstep::fuzz::differential
