// Loads, stores and atomics: on the thread's own bytes in every state space, on memory that nobody
// writes, and on sums that all threads share.
#include <algorithm>

#include "simulator/fuzz/differential/sums.h"
#include "simulator/fuzz/differential/writer.h"

namespace lockstep::fuzz::differential {
namespace {

using isa::AtomOp;
using isa::Opcode;
using isa::OperandRule;
using isa::Space;
using isa::Type;
using Role = OperandRule::Role;

// Hints and memory-mapped accesses are for global memory alone, also by generic addresses.
bool wants_global(const isa::Example& e) {
  const std::string& t = e.spelling.text;
  return t.find(".L1::") != std::string::npos || t.find(".L2::") != std::string::npos ||
         t.find(".mmio") != std::string::npos || t.find(".nc") != std::string::npos ||
         e.spelling.form->row->opcode == Opcode::k_ldu;
}

std::uint32_t floor_power(std::uint32_t n) {
  std::uint32_t p = 1;
  while (2 * p <= n) p *= 2;
  return p;
}

Operand address_operand(Address a) {
  Operand o;
  o.kind = Operand::Kind::kAddress;
  o.address = a;
  return o;
}

Operand policy() {
  Operand o;
  o.kind = Operand::Kind::kPolicy;
  return o;
}

}  // namespace

// An element of `size` bytes, at a fixed place or at one that a register selects.
Address Writer::own(Region region, std::uint32_t size) {
  Address a;
  a.region = region;
  std::uint32_t extent = kPrivate;
  if (region == Region::kConstant) extent = kConstantBytes;
  if (region == Region::kArguments) extent = kArgumentBytes;
  if (region == Region::kInput && choose_.percent(50)) a.window = true, extent = kWindow;
  const std::uint32_t count = floor_power(extent / size);
  if (region != Region::kArguments && count > 1 && choose_.percent(60)) {
    a.index = source(Type::kB32).index;
    a.count = count;
    a.scale = size;
  } else {
    a.offset = static_cast<std::uint32_t>(choose_.below(count)) * size;
  }
  return a;
}

Statement Writer::load(int example, const Context& at) {
  const isa::Example& e = Catalogue::get().example(example);
  const isa::Modifiers& m = e.spelling.modifiers;
  const std::uint32_t size = static_cast<std::uint32_t>(isa::size_of(m.type)) * m.vector;
  Region region = Region::kScratch;
  switch (m.space) {
    case Space::kGlobal:
      if (m.non_coherent || choose_.percent(40)) region = Region::kInput;
      break;
    case Space::kShared:
    case Space::kSharedCluster: region = Region::kShared; break;
    case Space::kLocal: region = Region::kLocal; break;
    case Space::kConst: region = Region::kConstant; break;
    case Space::kParam: region = Region::kArguments; break;
    default: {
      if (e.spelling.form->row->opcode == Opcode::k_ldu || m.non_coherent) {
        region = Region::kInput;
      } else if (!wants_global(e)) {
        constexpr Region kAny[] = {Region::kScratch, Region::kShared, Region::kInput,
                                   Region::kLocal};
        region = kAny[choose_.below(
            m.semantics == isa::Semantics::kNone || m.semantics == isa::Semantics::kWeak ? 4 : 3)];
      }
      break;
    }
  }
  if (m.semantics == isa::Semantics::kMmio) region = Region::kScratch;
  Instruction i;
  i.example = example;
  std::vector<Register> written;
  for (const OperandRule& rule : *e.operands) {
    if (rule.role == Role::kDestination && m.vector > 1) {
      Operand o;
      o.kind = Operand::Kind::kVector;
      const Class c = class_of(m.type);
      // Each register once.
      const int first = static_cast<int>(choose_.below(8)),
                n = std::max(kPool[static_cast<int>(c)], static_cast<int>(m.vector));
      for (int k = 0; k < m.vector; ++k)
        o.elements.push_back({c, static_cast<std::uint8_t>((first + k) % n)});
      i.operands.push_back(o);
    } else if (rule.role == Role::kDestination) {
      i.operands.push_back(of(destination(m.type)));
    } else if (rule.role == Role::kAddress) {
      Address a;
      if (region == Region::kShared && size <= kBoardStride && (at.board || at.warp_board) &&
          choose_.percent(60)) {
        a.region = Region::kBoard;
        a.others = true;
        a.warp = at.warp_board;
        a.index = source(Type::kB32).index;
        a.count = at.warp_board ? 32 : floor_power(program_.threads);
        a.scale = kBoardStride;
      } else {
        a = own(region, size);
      }
      i.operands.push_back(address_operand(a));
    } else {
      i.operands.push_back(policy());
    }
  }
  Statement s;
  s.unit.push_back(std::move(i));
  return s;
}

Statement Writer::store(int example) {
  const isa::Example& e = Catalogue::get().example(example);
  const isa::Modifiers& m = e.spelling.modifiers;
  const std::uint32_t size = static_cast<std::uint32_t>(isa::size_of(m.type)) * m.vector;
  Region region = Region::kScratch;
  switch (m.space) {
    case Space::kGlobal: break;
    case Space::kShared:
    case Space::kSharedCluster: region = Region::kShared; break;
    case Space::kLocal: region = Region::kLocal; break;
    default:
      if (!wants_global(e)) {
        constexpr Region kAny[] = {Region::kScratch, Region::kShared, Region::kLocal};
        region = kAny[choose_.below(
            m.semantics == isa::Semantics::kNone || m.semantics == isa::Semantics::kWeak ? 3 : 2)];
      }
  }
  Statement s;
  // ptxas 13.0.88 treats a 16-bit register that a floating-point instruction uses as a number, and
  // a store of its low byte as a conversion (docs/journal/ptxas.md). So a program for a GPU stores
  // the byte of another register.
  const auto byte = [&](Register r, int n) {
    if (!silicon_ || isa::size_of(m.type) != 1) return r;
    const Register t{Class::k16,
                     static_cast<std::uint8_t>(kPool[static_cast<int>(Class::k16)] + n)};
    s.unit.push_back(instruction("and.b16", {of(t), of(r), immediate(0xff, "0xff")}));
    return t;
  };
  Instruction i;
  i.example = example;
  for (const OperandRule& rule : *e.operands) {
    if (rule.role == Role::kAddress) {
      i.operands.push_back(address_operand(own(region, size)));
    } else if (rule.name == "policy") {
      i.operands.push_back(policy());
    } else if (m.vector > 1) {
      Operand o;
      o.kind = Operand::Kind::kVector;
      for (int k = 0; k < m.vector; ++k) o.elements.push_back(byte(source(m.type), k));
      i.operands.push_back(o);
    } else {
      i.operands.push_back(of(byte(source(m.type), 0)));
    }
  }
  if (choose_.percent(15)) {
    i.guard = pool(Class::kPredicate).index;
    i.guard_negated = choose_.percent(50);
  }
  s.unit.push_back(std::move(i));
  return s;
}

// An atomic on the thread's own bytes: the old value is known.
Statement Writer::atomic(int example) {
  const isa::Example& e = Catalogue::get().example(example);
  const isa::Modifiers& m = e.spelling.modifiers;
  const std::uint32_t size = static_cast<std::uint32_t>(isa::size_of(m.type)) * m.vector;
  Region region = Region::kScratch;
  if (m.space == Space::kShared || m.space == Space::kSharedCluster) region = Region::kShared;
  const bool packed = m.type == Type::kF16x2 || m.type == Type::kBF16x2;
  if ((m.space == Space::kNone || m.space == Space::kGeneric) && m.vector == 1 &&
      !wants_global(e) && !packed && choose_.percent(50))
    region = Region::kShared;
  Address a;
  a.region = region;
  a.offset = static_cast<std::uint32_t>(choose_.below(kPrivate / size)) * size;
  Instruction i;
  i.example = example;
  std::vector<Register> vector;
  const Class c = class_of(m.type);
  for (const OperandRule& rule : *e.operands) {
    if (rule.role == Role::kAddress) {
      i.operands.push_back(address_operand(a));
    } else if (rule.name == "policy") {
      i.operands.push_back(policy());
    } else if (m.vector > 1) {
      Operand o;
      o.kind = Operand::Kind::kVector;
      const int n = std::max(kPool[static_cast<int>(c)], static_cast<int>(m.vector)),
                first = static_cast<int>(choose_.below(8));
      for (int k = 0; k < m.vector; ++k) {
        o.elements.push_back(rule.role == Role::kDestination
                                 ? Register{c, static_cast<std::uint8_t>((first + k) % n)}
                                 : source(m.type));
      }
      i.operands.push_back(o);
    } else {
      i.operands.push_back(
          of(rule.role == Role::kDestination ? destination(m.type) : source(m.type)));
    }
  }
  Statement s;
  s.unit.push_back(std::move(i));
  if (is_float(m.type)) {
    // A NaN in memory becomes the canonical one, element by element.
    const std::string space = region == Region::kShared ? ".shared" : ".global",
                      bits = ".b" + std::to_string(8 * isa::size_of(m.type));
    for (int k = 0; k < m.vector; ++k) {
      Address element = a;
      element.offset += static_cast<std::uint32_t>(k * isa::size_of(m.type));
      const Register t{c, 4};
      const Register r = c == Class::k32 ? Register{c, 8} : t;
      s.unit.push_back(instruction("ld" + space + bits, {of(r), address_operand(element)}));
      make_nan_canonical(r, m.type, s.unit);
      s.unit.push_back(instruction("st" + space + bits, {address_operand(element), of(r)}));
    }
  }
  return s;
}

// An atomic on a sum that other threads change, too: the old value depends on the order and is not
// used.
bool Writer::sum(int example, Statement& s) {
  const isa::Example& e = Catalogue::get().example(example);
  const isa::Modifiers& m = e.spelling.modifiers;
  const int cell = sum_cell(m.atom, m.type);
  if (cell < 0 || m.vector > 1) return false;
  const bool shared = m.space == Space::kShared || m.space == Space::kSharedCluster ||
                      ((m.space == Space::kNone || m.space == Space::kGeneric) &&
                       !wants_global(e) && choose_.percent(40));
  if (shared && program_.ends_early) return false;
  if (!shared && (m.scope == isa::Scope::kCta || m.scope == isa::Scope::kCluster))
    return false;  // does not reach the other blocks
  Address a;
  a.region = shared ? Region::kSharedSums : Region::kGlobalSums;
  a.offset = static_cast<std::uint32_t>(8 * cell);
  Instruction i;
  i.example = example;
  const Class c = class_of(m.type);
  for (const OperandRule& rule : *e.operands) {
    if (rule.role == Role::kAddress) {
      i.operands.push_back(address_operand(a));
    } else if (rule.name == "policy") {
      i.operands.push_back(policy());
    } else if (rule.role == Role::kDestination) {
      i.operands.push_back(of({c, static_cast<std::uint8_t>(c == Class::k32 ? 13 : 9)}));
    } else {
      i.operands.push_back(m.atom == AtomOp::kInc || m.atom == AtomOp::kDec ? immediate(kSumLimit)
                                                                            : of(source(m.type)));
    }
  }
  s.unit.push_back(std::move(i));
  return true;
}

}  // namespace lockstep::fuzz::differential
