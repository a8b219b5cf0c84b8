#include "simulator/mutation/values.h"

#include <algorithm>
#include <string_view>

#include "simulator/isa/names.h"
#include "simulator/isa/opcode.h"
#include "simulator/ptx/effects.h"

namespace lockstep::mutation {
namespace {

using isa::Opcode;
using isa::SpecialRegister;
using isa::Type;
using ptx::Function;
using ptx::Instruction;
using ptx::Operand;

constexpr int kDeepest =
    12;  // instructions between a value and the constants from which it is computed
constexpr std::uint64_t kHighWord = 0xffffffff00000000;

std::optional<std::uint64_t> most_of(SpecialRegister r) {
  switch (r) {
    case SpecialRegister::kTidX:
    case SpecialRegister::kTidY: return 1023;
    case SpecialRegister::kTidZ: return 63;
    case SpecialRegister::kNtidX:
    case SpecialRegister::kNtidY: return 1024;
    case SpecialRegister::kNtidZ: return 64;
    case SpecialRegister::kCtaidX: return 0x7ffffffe;
    case SpecialRegister::kNctaidX: return 0x7fffffff;
    case SpecialRegister::kCtaidY:
    case SpecialRegister::kCtaidZ: return 65534;
    case SpecialRegister::kNctaidY:
    case SpecialRegister::kNctaidZ: return 65535;
    case SpecialRegister::kLaneid:
    case SpecialRegister::kWarpid: return 31;
    case SpecialRegister::kClusterCtarank: return 15;
    case SpecialRegister::kClusterNctarank: return 16;
    default: return std::nullopt;
  }
}

class Bound {
 public:
  explicit Bound(const Function& function) : function_(function) {}

  std::optional<std::uint64_t> of(const Operand& o, int depth) const {
    if (o.kind == Operand::Kind::kImmediate && !o.is_float) return o.bits;
    if (o.kind == Operand::Kind::kSpecialRegister) return most_of(o.special);
    if (o.kind != Operand::Kind::kRegister || depth == 0) return std::nullopt;
    const Instruction* i = definition_of(function_, o.index);
    return i == nullptr ? std::nullopt : of_result(*i, depth - 1);
  }

 private:
  std::optional<std::uint64_t> of_result(const Instruction& i, int depth) const {
    const auto operand = [&](std::size_t n) {
      return n < i.operands.size() ? of(i.operands[n], depth) : std::nullopt;
    };
    const Type type = i.modifiers.type;
    switch (i.opcode) {
      case Opcode::k_mov: return operand(1);
      case Opcode::k_ld:
        return isa::size_of(type) < 4 && !isa::is_signed(type) ? std::optional(largest(type))
                                                               : std::nullopt;
      case Opcode::k_cvt: {
        // Valid if the value fits the destination. The last word is the source's type; a value that
        // fits a signed type is not negative.
        const auto source =
            isa::type_from_name(std::string_view(i.text).substr(i.text.rfind('.') + 1));
        const auto a = operand(1);
        return a && *a <= std::min(largest(type), largest(source)) ? a : std::nullopt;
      }
      case Opcode::k_add:
        return fitting(operand(1), operand(2), type,
                       [](unsigned __int128 a, unsigned __int128 b) { return a + b; });
      case Opcode::k_mul:
        if (i.modifiers.half == isa::Half::kHi) return std::nullopt;
        return fitting(operand(1), operand(2), type,
                       [](unsigned __int128 a, unsigned __int128 b) { return a * b; });
      case Opcode::k_shl: {
        const Operand& by = i.operands.at(2);
        if (by.kind != Operand::Kind::kImmediate || by.bits >= 32) return std::nullopt;
        return fitting(operand(1), by.bits, type, [](unsigned __int128 a, unsigned __int128 b) {
          return a << static_cast<int>(b);
        });
      }
      case Opcode::k_shr: {
        const Operand& by = i.operands.at(2);
        const auto a = operand(1);
        return a && *a <= largest(type) && by.kind == Operand::Kind::kImmediate && by.bits < 64
                   ? std::optional(*a >> by.bits)
                   : std::nullopt;
      }
      case Opcode::k_and: {
        const auto a = operand(1), b = operand(2);
        return a && b ? std::min(a, b) : a ? a : b;
      }
      case Opcode::k_selp: {
        const auto a = operand(1), b = operand(2);
        return a && b ? std::max(a, b) : std::nullopt;
      }
      default: return std::nullopt;
    }
  }

  template <class F>
  static std::optional<std::uint64_t> fitting(std::optional<std::uint64_t> a,
                                              std::optional<std::uint64_t> b, Type type, F&& f) {
    if (!a || !b || *a > largest(type) || (*b > largest(type))) return std::nullopt;
    const auto result = f(*a, *b);
    return result <= largest(type) ? std::optional(static_cast<std::uint64_t>(result))
                                   : std::nullopt;
  }

  const Function& function_;
};

bool is_register(const Operand& o, std::uint32_t reg) {
  return o.kind == Operand::Kind::kRegister && o.index == reg;
}

bool same(const Operand& a, const Operand& b) {
  if (a.kind != b.kind) return false;
  if (a.kind == Operand::Kind::kRegister) return a.index == b.index;
  return a.kind == Operand::Kind::kImmediate && a.bits == b.bits;
}

bool divides(const Instruction& i) {
  return (i.opcode == Opcode::k_div || i.opcode == Opcode::k_rem) &&
         isa::size_of(i.modifiers.type) == 8;
}

// The and.b64 of the high words, their comparison with 0, the branch and, behind it, the long
// division.
bool choice_begins_at(const Function& f, std::uint32_t n) {
  if (n + 4 >= f.body.size()) return false;
  const Instruction &mask = f.body[n], &compare = f.body[n + 1], &branch = f.body[n + 2];
  if (mask.opcode != Opcode::k_and || mask.operands.size() != 3 ||
      mask.operands[2].kind != Operand::Kind::kImmediate || mask.operands[2].bits != kHighWord)
    return false;
  if (compare.opcode != Opcode::k_setp || compare.operands.size() != 3 ||
      !is_register(compare.operands[1], mask.operands[0].index))
    return false;
  if (branch.opcode != Opcode::k_bra || !branch.guard.present ||
      !is_register(compare.operands[0], branch.guard.index))
    return false;
  return divides(f.body[n + 3]) || divides(f.body[n + 4]);
}

}  // namespace

std::uint64_t largest(Type type) {
  const int bits = 8 * isa::size_of(type) - (isa::is_signed(type) ? 1 : 0);
  return bits >= 64 ? ~std::uint64_t{0} : (std::uint64_t{1} << bits) - 1;
}

const Instruction* definition_of(const Function& function, std::uint32_t reg) {
  const Instruction* found = nullptr;
  for (const Instruction& i : function.body) {
    for (const ptx::RegisterAccess& a : ptx::register_accesses(i)) {
      if (!a.writes || a.index != reg) continue;
      if (found != nullptr || i.guard.present) return nullptr;
      found = &i;
    }
  }
  return found;
}

std::size_t reads_of(const Function& function, std::uint32_t reg) {
  std::size_t count = 0;
  for (const Instruction& i : function.body)
    for (const ptx::RegisterAccess& a : ptx::register_accesses(i))
      count += !a.writes && a.index == reg;
  return count;
}

std::optional<std::uint64_t> most(const Function& function, const Operand& operand) {
  return Bound(function).of(operand, kDeepest);
}

bool is_zero(const Function& function, const Operand& operand, Type type) {
  if (operand.kind == Operand::Kind::kImmediate)
    return operand.bits == 0 || operand.bits == std::uint64_t{1} << (8 * isa::size_of(type) - 1);
  if (operand.kind != Operand::Kind::kRegister) return false;
  const Instruction* i = definition_of(function, operand.index);
  return i != nullptr && i->opcode == Opcode::k_mov &&
         i->operands[1].kind == Operand::Kind::kImmediate &&
         is_zero(function, i->operands[1], type);
}

bool chooses_division(const Function& function, std::uint32_t index) {
  for (std::uint32_t back = 0; back <= 2 && back <= index; ++back)
    if (choice_begins_at(function, index - back)) return true;
  // The instruction that combines the high words of the two numbers.
  const Instruction& i = function.body[index];
  return i.opcode == Opcode::k_or && index + 1 < function.body.size() &&
         choice_begins_at(function, index + 1) &&
         is_register(function.body[index + 1].operands[1], i.operands[0].index);
}

bool chooses_extreme(const Function& function, std::uint32_t index) {
  const Instruction& i = function.body[index];
  const Type type = i.modifiers.type;
  const bool integers = isa::is_signed(type) || type == Type::kU16 || type == Type::kU32 ||
                        type == Type::kU64;  // one of two equal floats may be -0
  if (i.opcode != Opcode::k_setp || i.operands.size() != 3 || !integers) return false;
  if (i.operands[0].kind != Operand::Kind::kRegister ||
      reads_of(function, i.operands[0].index) != 1)
    return false;
  const std::uint32_t predicate = i.operands[0].index;
  return std::any_of(function.body.begin(), function.body.end(), [&](const Instruction& s) {
    if (s.opcode != Opcode::k_selp || s.operands.size() != 4 ||
        !is_register(s.operands[3], predicate))
      return false;
    return (same(s.operands[1], i.operands[1]) && same(s.operands[2], i.operands[2])) ||
           (same(s.operands[1], i.operands[2]) && same(s.operands[2], i.operands[1]));
  });
}

}  // namespace lockstep::mutation
