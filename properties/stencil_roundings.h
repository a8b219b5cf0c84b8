// The roundings of kernels/stencil.h, their neighbours, and signals on which
// their results differ.
#pragma once

#include <array>

#include "harness/property/rounding_search.h"
#include "kernels/stencil.h"

namespace lockstep::properties {

// All that one element depends on: x[i - 4] ... x[i + 4], and the coefficients.
struct StencilTerms {
  std::array<float, 2 * kernels::kStencilRadius + 1> x{};
  kernels::StencilCoefficients c{};
};

using StencilRoundings = RoundingSearch<StencilTerms, float>;
const StencilRoundings& stencil_roundings();

// Terms of like size, in which every rounding can show; some of them subnormal, some 0.
StencilTerms any_stencil_terms(Bits& bits);

}  // namespace lockstep::properties
