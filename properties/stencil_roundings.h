// The roundings of kernels/stencil.h, their neighbours, and signals on which their results differ.
#pragma once

#include <array>

#include "harness/property/rounding_search.h"
#include "kernels/stencil.h"

namespace lockstep::properties {

// The inputs of one element: x[i - 4] ... x[i + 4], and the coefficients.
struct StencilTerms {
  std::array<float, 2 * kernels::kStencilRadius + 1> x{};
  kernels::StencilCoefficients c{};
};

using StencilRoundings = RoundingSearch<StencilTerms, float>;
const StencilRoundings& stencil_roundings();

// Terms of similar size, on which every rounding can matter; some are subnormal, some 0.
StencilTerms any_stencil_terms(Bits& bits);

}  // namespace lockstep::properties
