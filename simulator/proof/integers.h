// Integers in registers and comparisons between them, by the types of instructions.
#pragma once

#include <algorithm>
#include <cstdint>

#include "simulator/program/meaning.h"
#include "simulator/proof/form.h"

namespace lockstep::proof {

inline int register_bits(isa::Type t) { return t == isa::Type::kPred ? 1 : 8 * isa::size_of(t); }
inline bool is_integer(isa::Type t) {
  switch (t) {
    case isa::Type::kB8:
    case isa::Type::kB16:
    case isa::Type::kB32:
    case isa::Type::kB64:
    case isa::Type::kU8:
    case isa::Type::kU16:
    case isa::Type::kU32:
    case isa::Type::kU64:
    case isa::Type::kS8:
    case isa::Type::kS16:
    case isa::Type::kS32:
    case isa::Type::kS64: return true;
    default: return false;
  }
}
// The integers that a register of the type can hold.
inline Range integers_of(int bits, bool is_signed) {
  return is_signed ? Range{-(Wide{1} << (bits - 1)), (Wide{1} << (bits - 1)) - 1}
                   : Range{0, (Wide{1} << bits) - 1};
}
inline bool within(const Range& r, const Range& all) {
  return r.low >= all.low && r.high <= all.high;
}
// Whether sums and differences of a few such forms fit 64 bits.
inline bool is_moderate(const Form& f) {
  const auto fits = [](std::int64_t v) { return v > -(1ll << 60) && v < 1ll << 60; };
  return std::all_of(f.base.begin(), f.base.end(), fits) &&
         std::all_of(f.factors.begin(), f.factors.end(),
                     [&](const auto& factor) { return fits(factor.second); });
}
inline bool is_known_compare(isa::Compare c) {
  return c >= isa::Compare::kEq && c <= isa::Compare::kHs;
}
inline bool is_unsigned_compare(const program::Meaning& m) {
  return m.compare >= isa::Compare::kLo || !isa::is_signed(m.type);
}

// The depth to which operands of operands are examined.
inline constexpr int kMostDepth = 64;

}  // namespace lockstep::proof
