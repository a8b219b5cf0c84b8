// Shared parts of the resolvers of all families: their entry points, and the refusal of modifiers
// that a form does not have. Include only in the handlers' files, which are compiled for AVX2.
#pragma once

#include "simulator/engine/ops/alu/handler_file.h"

namespace lockstep::engine::alu {

Handler resolve_integer(const AluKey& key);
Handler resolve_carry(const AluKey& key);
Handler resolve_bits(const AluKey& key);
Handler resolve_move(const AluKey& key);
Handler resolve_compare(const AluKey& key);
Handler resolve_float32(const AluKey& key);
Handler resolve_float64(const AluKey& key);
Handler resolve_approximate(const AluKey& key);
Handler resolve_half(const AluKey& key);
Handler resolve_half_compare(const AluKey& key);
Handler resolve_packed_float32(const AluKey& key);  // f32x2, and f32 with half operands

namespace {

using isa::Opcode;
using isa::Type;

// One bit for each modifier that may be present.
enum Field : std::uint32_t {
  kSourceType = 1u << 0,
  kThirdType = 1u << 1,
  kRounding = 1u << 2,
  kCompare = 1u << 3,
  kBoolOp = 1u << 4,
  kHalf = 1u << 5,
  kPrmt = 1u << 6,
  kTestp = 1u << 7,
  kVariant = 1u << 8,
  kFtz = 1u << 9,
  kSat = 1u << 10,
  kRelu = 1u << 11,
  kNaN = 1u << 12,
  kXorsignAbs = 1u << 13,
  kApprox = 1u << 14,
  kFull = 1u << 15,
  kCarryOut = 1u << 16,
  kCarryIn = 1u << 17,
  kShiftAmount = 1u << 18,
  kClamp = 1u << 19,
  kLeft = 1u << 20,
  kAbs = 1u << 21,
  kOob = 1u << 22,
  kNeverHere = 1u << 31,  // modifiers of memory, control and exchange instructions
};

LOCKSTEP_INLINE std::uint32_t fields_of(const isa::Modifiers& m) {
  std::uint32_t f = 0;
  if (m.source_type != Type::kNone) f |= kSourceType;
  if (m.third_type != Type::kNone) f |= kThirdType;
  if (m.rounding != isa::Rounding::kNone) f |= kRounding;
  if (m.compare != isa::Compare::kNone) f |= kCompare;
  if (m.bool_op != isa::BoolOp::kNone) f |= kBoolOp;
  if (m.half != isa::Half::kNone) f |= kHalf;
  if (m.prmt != isa::PrmtMode::kNone) f |= kPrmt;
  if (m.testp != isa::TestpOp::kNone) f |= kTestp;
  if (m.variant != 0) f |= kVariant;
  if (m.ftz) f |= kFtz;
  if (m.sat) f |= kSat;
  if (m.relu) f |= kRelu;
  if (m.nan) f |= kNaN;
  if (m.xorsign_abs) f |= kXorsignAbs;
  if (m.approx) f |= kApprox;
  if (m.full) f |= kFull;
  if (m.carry_out) f |= kCarryOut;
  if (m.carry_in) f |= kCarryIn;
  if (m.shift_amount) f |= kShiftAmount;
  if (m.clamp) f |= kClamp;
  if (m.left) f |= kLeft;
  if (m.abs) f |= kAbs;
  if (m.oob) f |= kOob;
  if (m.space != isa::Space::kNone || m.source_space != isa::Space::kNone ||
      m.cache != isa::CacheOp::kNone || m.semantics != isa::Semantics::kNone ||
      m.scope != isa::Scope::kNone || m.atom != isa::AtomOp::kNone ||
      m.shfl != isa::ShflMode::kNone || m.vote != isa::VoteMode::kNone ||
      m.bar != isa::BarMode::kNone || m.vector != 1 || m.uniform || m.non_coherent || m.to ||
      m.aligned || m.noftz || m.no_return) {
    f |= kNeverHere;
  }
  return f;
}

LOCKSTEP_INLINE bool is_half(Type t) {
  return t == Type::kF16 || t == Type::kBF16 || t == Type::kF16x2 || t == Type::kBF16x2;
}

// Whether the key has no modifier outside `allowed`. A form with an unknown modifier is refused,
// not guessed.
LOCKSTEP_INLINE bool only(const AluKey& key, std::uint32_t allowed) {
  return (fields_of(key.modifiers) & ~allowed) == 0;
}

// Whether the key has as many operands as `width...`, each of the given width. Width 0: a
// predicate.
template <class... Widths>
LOCKSTEP_INLINE bool widths(const AluKey& key, Widths... width) {
  constexpr int kCount = sizeof...(Widths);
  if (key.operand_count != kCount) return false;
  const int expected[kCount] = {static_cast<int>(width)...};
  for (int i = 0; i < kCount; ++i) {
    if (key.register_bytes[i] != expected[i]) return false;
  }
  return true;
}

}  // namespace
}  // namespace lockstep::engine::alu
