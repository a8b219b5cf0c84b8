// Eight neighbouring elements of a row of D at once, in f32: the sums of unit.h as vectors.
#pragma once

#include <cstdint>

#include "simulator/matrix/unit.h"

namespace lockstep::matrix {

// Decoded factors of one element after the other: significands with their signs, and exponents.
// That of a zero is kOfZero, so that it never is the largest of its sum.
struct FactorPointers {
  const std::int32_t *significands, *exponents;
};
inline constexpr std::int32_t kOfZero = -(1 << 20);

class EightSums {
 public:
  // Whether units of this kind are computed here. product_bits: fraction bits of a product.
  static bool knows(const Unit& unit, int product_bits) {
    return unit.fraction_bits >= 23 && unit.fraction_bits <= 25 &&
           unit.result_fraction_bits == 23 && product_bits <= unit.fraction_bits;
  }
  EightSums(const Unit& unit, int product_bits) : unit_(unit), product_bits_(product_bits) {}

  // The accumulators plus the products of `count` factors of a row with those of eight columns. The
  // columns' k-th factors are side by side, `stride` elements behind those before. All are finite.
  // zeros: of each column, ~0 if it or the row has a zero factor. Returns false, and changes
  // nothing, if an accumulator is not finite or a result is subnormal.
  bool add(std::uint32_t* accumulators, const FactorPointers& row, const FactorPointers& columns,
           int stride, int count, const std::int32_t* zeros) const;

 private:
  const Unit unit_;
  const int product_bits_;
};

}  // namespace lockstep::matrix
