// Instructions that compute, chain carries, exchange values among lanes or meet at a barrier, with
// the preparation that makes their results defined.
#include <algorithm>
#include <array>

#include "simulator/fuzz/differential/writer.h"
#include "simulator/isa/category.h"
#include "simulator/isa/form_examples.h"

namespace lockstep::fuzz::differential {
namespace {

using isa::Opcode;
using isa::OperandRule;
using isa::Type;
using Role = OperandRule::Role;

bool is_wide_integer(Type t) {
  switch (t) {
    case Type::kB16:
    case Type::kB32:
    case Type::kB64:
    case Type::kU16:
    case Type::kU32:
    case Type::kU64:
    case Type::kS16:
    case Type::kS32:
    case Type::kS64: return true;
    default: return false;
  }
}

// Constants for which compilers often have special cases.
constexpr std::uint64_t kRevealingIntegers[] = {
    0,          1,          2,          3,          4,          5,         7,
    8,          10,         15,         16,         24,         31,        32,
    33,         63,         64,         100,        127,        128,       255,
    256,        1000,       0x7fff,     0x8000,     0xffff,     0x10000,   0x00ff00ff,
    0x55555555, 0x80000000, 0x7fffffff, 0xffffffff, 0xfffffffe, 0xffffff00};
constexpr std::uint32_t kRevealingSingles[] = {
    0x00000000, 0x80000000, 0x3f800000, 0xbf800000, 0x40000000, 0x3f000000,
    0x7f800000, 0x7fffffff, 0x00000001, 0x007fffff, 0x00800000, 0x7f7fffff,
    0x3eaaaaab, 0x42280000, 0x4b800000, 0xcf000000, 0x40490fdb};
constexpr std::uint64_t kDoubles[] = {0,
                                      0x8000000000000000,
                                      0x3ff0000000000000,
                                      0xbff0000000000000,
                                      0x4000000000000000,
                                      0x3fe0000000000000,
                                      0x7ff0000000000000,
                                      0x0000000000000001,
                                      0x0010000000000000,
                                      0x7fefffffffffffff,
                                      0x3fd5555555555555,
                                      0x43f0000000000000,
                                      0x400921fb54442d18};

Operand constant(Choices& choose, Type type) {
  const auto hex = [](std::uint64_t v, int digits) {
    std::string s;
    for (int i = digits; i-- > 0;) s += "0123456789abcdef"[v >> (4 * i) & 15];
    return s;
  };
  if (type == Type::kF32) {
    const std::uint32_t v = choose.of(kRevealingSingles);
    return immediate(v, "0f" + hex(v, 8));
  }
  if (type == Type::kF64) {
    const std::uint64_t v = choose.of(kDoubles);
    return immediate(v, "0d" + hex(v, 16));
  }
  std::uint64_t v = choose.of(kRevealingIntegers);
  const int bytes = isa::size_of(type);
  if (bytes == 8 && choose.percent(40)) v = v << 32 | choose.of(kRevealingIntegers);
  if (bytes < 8) v &= (std::uint64_t{1} << (8 * bytes)) - 1;
  return immediate(v, "0x" + hex(v, 2 * bytes));
}

// Whether the results depend on which NaN an operand is only by being a NaN, so that such
// operations may follow each other.
bool chains(const isa::Example& e) {
  const isa::Modifiers& m = e.spelling.modifiers;
  switch (e.spelling.form->row->opcode) {
    case Opcode::k_add:
    case Opcode::k_sub:
    case Opcode::k_mul:
    case Opcode::k_fma:
      return (m.type == Type::kF32 || m.type == Type::kF64 || m.type == Type::kF16 ||
              m.type == Type::kBF16 || m.type == Type::kF16x2 || m.type == Type::kBF16x2) &&
             !m.oob && m.source_type == Type::kNone;
    default: return false;
  }
}

// ptxas 13.0.88 loses the guard of these instructions, at every level (docs/journal/ptxas.md):
// completely for testp; for set in the last step, which converts the comparison's mask to a number,
// or a 16-bit mask to 32 bits. The destination then changes in lanes where the guard is false. A
// program for a GPU does not guard them.
bool loses_guard(const isa::Example& e) {
  const isa::Modifiers& m = e.spelling.modifiers;
  switch (e.spelling.form->row->opcode) {
    case Opcode::k_testp: return true;
    case Opcode::k_set:
      return m.type == Type::kF32 || m.type == Type::kF16 || m.type == Type::kBF16 ||
             isa::size_of(m.source_type) == 2;
    default: return false;
  }
}

bool computes_nan(const isa::Example& e) {
  const isa::Modifiers& m = e.spelling.modifiers;
  switch (e.spelling.form->row->opcode) {
    case Opcode::k_mov:
    case Opcode::k_selp:
    case Opcode::k_slct:
    case Opcode::k_set:
    case Opcode::k_setp:
    case Opcode::k_testp: return false;
    case Opcode::k_cvt:
      return is_float(m.source_type) || m.source_type == Type::kE4M3x2 ||
             m.source_type == Type::kE5M2x2;
    default: return true;
  }
}

}  // namespace

Register Writer::source(Type type) {
  const Class c = class_of(type);
  const int n = kPool[static_cast<int>(c)];
  if (c == Class::kPredicate || choose_.percent(15)) return pool(c);
  // Numbers mostly in the upper half of the pool, integers in the lower.
  const int half = n / 2;
  return {c, static_cast<std::uint8_t>(
                 (is_float(type) ? half : 0) +
                 static_cast<int>(choose_.below(static_cast<std::size_t>(half))))};
}

Register Writer::destination(Type type) { return source(type); }

Operand Writer::operand(const OperandRule& rule, const isa::Modifiers& m,
                        std::vector<Register>& written) {
  const Type type = isa::operand_type(rule, m);
  const auto fresh = [&](Type t) {
    Register r;
    do r = destination(t);
    while (std::find(written.begin(), written.end(), r) != written.end());
    written.push_back(r);
    return r;
  };
  Operand o;
  switch (rule.role) {
    case Role::kDestination:
    case Role::kDestinationPredicate: return of(fresh(type));
    case Role::kDestinationPair:
      o.kind = Operand::Kind::kPair;
      o.elements.push_back(fresh(type));
      o.elements.push_back(fresh(rule.second));
      return o;
    case Role::kDestinationVector:
      o.kind = Operand::Kind::kVector;
      for (int i = 0; i < 2; ++i) o.elements.push_back(fresh(isa::half_of(type)));
      return o;
    case Role::kSourceVector:
      o.kind = Operand::Kind::kVector;
      for (int i = 0; i < 2; ++i) o.elements.push_back(source(isa::half_of(type)));
      return o;
    case Role::kSourcePredicate:
      o = of(pool(Class::kPredicate));
      if (rule.may_negate && choose_.percent(30)) o.kind = Operand::Kind::kNegated;
      return o;
    case Role::kInteger: return immediate(choose_.below(256));
    default:
      if ((is_wide_integer(type) || type == Type::kF32 || type == Type::kF64) && constants_ &&
          choose_.percent(15))
        return constant(choose_, type);
      return of(source(type));
  }
}

// Replaces operands for which the manual leaves the result open.
void Writer::prepare(int example, Instruction& i, std::vector<Instruction>& before) {
  const isa::Example& e = Catalogue::get().example(example);
  const isa::Modifiers& m = e.spelling.modifiers;
  const Opcode op = e.spelling.form->row->opcode;
  const auto replace = [&](std::size_t n, std::string_view opcode, std::uint64_t mask,
                           Register temporary) {
    Operand& o = i.operands[n];
    if (o.kind == Operand::Kind::kImmediate) {
      o = immediate(opcode.starts_with("or") ? o.bits | mask : o.bits & mask);
      return;
    }
    before.push_back(instruction(opcode, {of(temporary), o, immediate(mask)}));
    o = of(temporary);
  };
  const Register t8{Class::k32, 8}, t9{Class::k32, 9};
  switch (op) {
    case Opcode::k_div:
    case Opcode::k_rem: {
      if (is_float(m.type)) break;
      const Class c = class_of(m.type);
      const Register t{c, static_cast<std::uint8_t>(kPool[static_cast<int>(c)])};
      const std::string bits = "b" + std::to_string(8 * isa::size_of(m.type));
      if (m.type == Type::kS16 || m.type == Type::kS32 || m.type == Type::kS64)
        replace(2, "and." + bits, (std::uint64_t{1} << (8 * isa::size_of(m.type) - 1)) - 1, t);
      replace(2, "or." + bits, 1, t);
      break;
    }
    case Opcode::k_bfe: replace(2, "and.b32", 0x7f, t8), replace(3, "and.b32", 0x7f, t9); break;
    case Opcode::k_bfi: replace(3, "and.b32", 0x7f, t8), replace(4, "and.b32", 0x7f, t9); break;
    case Opcode::k_shl:
    case Opcode::k_shr:
      if (choose_.percent(70)) replace(2, "and.b32", 63, t8);
      break;
    case Opcode::k_shf:
      if (choose_.percent(70)) replace(3, "and.b32", 63, t8);
      break;
    case Opcode::k_szext:
      if (choose_.percent(70)) replace(2, "and.b32", 63, t8);
      break;
    case Opcode::k_bmsk:
      if (choose_.percent(70)) replace(1, "and.b32", 63, t8), replace(2, "and.b32", 63, t9);
      break;
    case Opcode::k_fns:
      replace(2, "and.b32", 31, t8);
      replace(3, "and.b32", 15, t9);
      break;
    case Opcode::k_cvt:
      // GPUs differ in the integer that a NaN becomes. The manual does not define the conversion of
      // NaN to tf32.
      if (Operand& o = i.operands[1];
          o.kind == Operand::Kind::kImmediate && (o.text == "0f7fffffff"))
        o = immediate(0x3f800000, "0f3f800000");
      if (is_float(m.source_type) &&
          (is_wide_integer(m.type) || isa::size_of(m.type) == 1 || m.type == Type::kTF32) &&
          i.operands.size() == 2 && i.operands[1].kind == Operand::Kind::kRegister) {
        const Register p{Class::kPredicate, 4};
        const Register from = i.operands[1].reg;
        const Register t{from.cls, static_cast<std::uint8_t>(kPool[static_cast<int>(from.cls)])};
        const std::string bits = ".b" + std::to_string(8 * isa::size_of(m.source_type));
        before.push_back(instruction("mov" + bits, {of(t), of(from)}));
        make_nan_canonical(t, m.source_type, before);
        const std::uint64_t nan = m.source_type == Type::kF64   ? 0x7ff8000000000000
                                  : m.source_type == Type::kF32 ? 0x7fffffff
                                                                : 0x7fff;
        before.push_back(instruction("setp.eq" + bits, {of(p), of(t), immediate(nan)}));
        before.push_back(instruction("selp" + bits, {of(t), immediate(0), of(t), of(p)}));
        i.operands[1] = of(t);
      }
      break;
    default: break;
  }
}

Statement Writer::compute(int example) {
  const Catalogue& all = Catalogue::get();
  Statement s;
  const isa::Example& e = all.example(example);
  const auto add = [&](int which, const Register* previous) {
    const isa::Example& x = all.example(which);
    Instruction i;
    i.example = which;
    std::vector<Register> written;
    const Opcode opcode = x.spelling.form->row->opcode;
    constants_ = isa::category_of(opcode) != isa::Category::kVideo;
    for (const OperandRule& rule : *x.operands)
      i.operands.push_back(operand(rule, x.spelling.modifiers, written));
    constants_ = true;
    if (opcode == Opcode::k_mov && x.spelling.modifiers.type == Type::kU32 && choose_.percent(50)) {
      constexpr isa::SpecialRegister kKnown[] = {
          isa::SpecialRegister::kTidX,       isa::SpecialRegister::kNtidX,
          isa::SpecialRegister::kCtaidX,     isa::SpecialRegister::kNctaidX,
          isa::SpecialRegister::kLaneid,     isa::SpecialRegister::kLanemaskEq,
          isa::SpecialRegister::kLanemaskLe, isa::SpecialRegister::kLanemaskLt,
          isa::SpecialRegister::kLanemaskGe, isa::SpecialRegister::kLanemaskGt,
          isa::SpecialRegister::kTidY,       isa::SpecialRegister::kNtidZ};
      i.operands[1] = {};
      i.operands[1].kind = Operand::Kind::kSpecial;
      i.operands[1].special = choose_.of(kKnown);
    }
    if (previous != nullptr) {
      i.operands[0] = of(*previous);
      i.operands[1 + choose_.below(i.operands.size() - 1)] = of(*previous);
    }
    prepare(which, i, s.unit);
    s.unit.push_back(std::move(i));
  };
  add(example, nullptr);
  const isa::Modifiers& m = e.spelling.modifiers;
  const OperandRule& first = e.operands->front();
  if (chains(e) && choose_.percent(40)) {
    const Register previous = s.unit.back().operands[0].reg;
    for (int more = static_cast<int>(1 + choose_.below(2)); more > 0; --more) {
      // Another operation on the same type.
      for (int tries = 0; tries < 8; ++tries) {
        const int row = choose_.of(menu_.compute);
        const auto& list = menu_.examples[static_cast<std::size_t>(row)];
        const int which = choose_.of(list);
        if (chains(all.example(which)) && all.example(which).spelling.modifiers.type == m.type) {
          add(which, &previous);
          break;
        }
      }
    }
  }
  if (choose_.percent(15) && !(silicon_ && loses_guard(all.example(s.unit.back().example)))) {
    Instruction& last = s.unit.back();
    last.guard = pool(Class::kPredicate).index;
    last.guard_negated = choose_.percent(50);
  }
  const Type type = isa::operand_type(first, m);
  if (first.role == Role::kDestination && is_float(type) && computes_nan(e))
    make_nan_canonical(s.unit.back().operands[0].reg, type, s.unit);
  return s;
}

// A chain of carries: the first instruction, those that use its carry, and an end without carry
// out.
Statement Writer::carry(int example) {
  const Catalogue& all = Catalogue::get();
  Statement s;
  const auto add = [&](int which) {
    const isa::Example& x = all.example(which);
    Instruction i;
    i.example = which;
    std::vector<Register> written;
    for (const OperandRule& rule : *x.operands)
      i.operands.push_back(operand(rule, x.spelling.modifiers, written));
    s.unit.push_back(std::move(i));
  };
  const isa::Modifiers& m = all.example(example).spelling.modifiers;
  const Opcode op = all.example(example).spelling.form->row->opcode;
  const bool subtracts = op == Opcode::k_subc || op == Opcode::k_sub;
  const std::string type = isa::size_of(m.type) == 8 ? ".u64" : ".u32";
  // The manual leaves the relation of borrow and carry open, so sums and differences are not mixed
  // in a chain.
  if (op == Opcode::k_addc || op == Opcode::k_subc || op == Opcode::k_madc)
    add(all.find((subtracts ? "sub.cc" : "add.cc") + type, 3, 0));
  add(example);
  if (m.carry_out) {
    if (choose_.percent(50)) add(all.find((subtracts ? "subc.cc" : "addc.cc") + type, 3, 0));
    add(all.find((subtracts ? "subc" : "addc") + type, 3, 0));
  }
  return s;
}

bool Writer::warp(int example, const Context& at, Statement& s) {
  const isa::Example& e = Catalogue::get().example(example);
  const Opcode op = e.spelling.form->row->opcode;
  if (at.level == Level::kLanes || at.in_function) return false;
  if (op == Opcode::k_shfl_sync && at.level == Level::kTracked)
    return false;  // its source might not take part
  Instruction i;
  i.example = example;
  std::vector<Register> written;
  constexpr std::uint64_t kSegments[] = {0x1f,   0x1f,   0,      0x1c1f, 0x181f,
                                         0x101f, 0x1807, 0x1e1f, 0x1c03, 0x0f};
  for (std::size_t n = 0; n < e.operands->size(); ++n) {
    const OperandRule& rule = (*e.operands)[n];
    if (n + 1 == e.operands->size()) {
      Operand mask;
      mask.kind = Operand::Kind::kMask;
      i.operands.push_back(mask);
    } else if (op == Opcode::k_shfl_sync && n == 2) {
      const Register lane = source(Type::kB32), t{Class::k32, 8};
      if (choose_.percent(50)) {
        i.operands.push_back(immediate(choose_.below(32)));
      } else {
        s.unit.push_back(instruction("and.b32", {of(t), of(lane), immediate(31)}));
        i.operands.push_back(of(t));
      }
    } else if (op == Opcode::k_shfl_sync && n == 3) {
      i.operands.push_back(immediate(choose_.of(kSegments)));
    } else {
      i.operands.push_back(operand(rule, e.spelling.modifiers, written));
    }
  }
  s.unit.push_back(std::move(i));
  const Type type = isa::operand_type(e.operands->front(), e.spelling.modifiers);
  if (is_float(type)) make_nan_canonical(s.unit.back().operands[0].reg, type, s.unit);
  return true;
}

Statement Writer::barrier(int example) {
  const isa::Example& e = Catalogue::get().example(example);
  Statement s;
  s.kind = Statement::Kind::kBarrier;
  Instruction i;
  i.example = example;
  std::vector<Register> written;
  for (const OperandRule& rule : *e.operands) {
    if (rule.role == Role::kSource) {
      i.operands.push_back(immediate(rule.name == "a" ? choose_.below(16) : program_.threads));
    } else {
      i.operands.push_back(operand(rule, e.spelling.modifiers, written));
    }
  }
  s.unit.push_back(std::move(i));
  return s;
}

}  // namespace lockstep::fuzz::differential
