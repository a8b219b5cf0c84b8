// The roundings of kernels/matmul.h, their neighbours, and operands on which their results differ.
#pragma once

#include <array>

#include "harness/property/rounding_search.h"

namespace lockstep::properties {

// The terms of a row of A and a column of B: more than one tile of every variant, and no multiple
// of a tile.
inline constexpr int kMatmulTerms = 67;
struct MatmulTerms {
  std::array<float, kMatmulTerms> a{}, b{};
};

using MatmulRoundings = RoundingSearch<MatmulTerms, float>;
const MatmulRoundings& matmul_roundings();

// Terms of similar size, on which every rounding can matter; some are subnormal, some 0.
MatmulTerms any_matmul_terms(Bits& bits);

}  // namespace lockstep::properties
