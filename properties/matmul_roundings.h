// The roundings of kernels/matmul.h, their neighbours, and operands on which
// their results differ.
#pragma once

#include <array>

#include "harness/property/rounding_search.h"

namespace lockstep::properties {

// A row of A and a column of B: more than one tile of every variant, and no whole number of them.
inline constexpr int kMatmulTerms = 67;
struct MatmulTerms {
  std::array<float, kMatmulTerms> a{}, b{};
};

using MatmulRoundings = RoundingSearch<MatmulTerms, float>;
const MatmulRoundings& matmul_roundings();

// Terms of like size, in which every rounding can show; some of them subnormal, some 0.
MatmulTerms any_matmul_terms(Bits& bits);

}  // namespace lockstep::properties
