#include "properties/stencil_roundings.h"

#include <cmath>
#include <limits>

#include "harness/property/rounded.h"
#include "reference/stencil.h"

namespace lockstep::properties {
namespace {

using kernels::kStencilRadius;
using enum Rounding;

float right(const StencilTerms& t, int k) {
  return t.x[static_cast<std::size_t>(kStencilRadius + k)];
}
float left(const StencilTerms& t, int k) {
  return t.x[static_cast<std::size_t>(kStencilRadius - k)];
}
float c(const StencilTerms& t, int k) { return t.c[static_cast<std::size_t>(k)]; }
float difference(const StencilTerms& t, int k) { return rounded_sub(right(t, k), left(t, k)); }

float stated(const StencilTerms& t) {
  return reference::stencil_chain(t.x, t.c, reference::Boundary::kPadded)(0);
}

// The chain with another step; `step` takes the terms, k and the sum so far.
template <class Step>
StencilRoundings::Chain chain(Step step, float first = 0) {
  return [step, first](const StencilTerms& t) {
    float sum = first;
    for (int k = 1; k <= kStencilRadius; ++k) sum = step(t, k, sum);
    return sum;
  };
}

float fused(const StencilTerms& t, int k, float sum) {
  return rounded_fma(c(t, k), difference(t, k), sum);
}

auto with_difference(Rounding mode) {
  return chain([mode](const StencilTerms& t, int k, float sum) {
    return rounded_fma(c(t, k), rounded_sub(right(t, k), left(t, k), mode), sum);
  });
}
auto with_sum(Rounding mode) {
  return chain([mode](const StencilTerms& t, int k, float sum) {
    return rounded_fma(c(t, k), difference(t, k), sum, mode);
  });
}

std::vector<StencilRoundings::Neighbour> neighbours() {
  return {
      {"differences rounded to zero", with_difference(kZero)},
      {"differences rounded up", with_difference(kUp)},
      {"differences rounded down", with_difference(kDown)},
      {"sums rounded to zero", with_sum(kZero)},
      {"sums rounded up", with_sum(kUp)},
      {"sums rounded down", with_sum(kDown)},
      {"products rounded by themselves", chain([](const StencilTerms& t, int k, float sum) {
         return rounded_add(rounded_mul(c(t, k), difference(t, k)), sum);
       })},
      {"both products fused, and no difference", chain([](const StencilTerms& t, int k, float sum) {
         return rounded_fma(c(t, k), right(t, k), rounded_fma(-c(t, k), left(t, k), sum));
       })},
      {"differences that are not rounded", chain([](const StencilTerms& t, int k, float sum) {
         return static_cast<float>(double{c(t, k)} * (double{right(t, k)} - left(t, k)) + sum);
       })},
      {"a sum in double",
       [](const StencilTerms& t) {
         double sum = 0;
         for (int k = 1; k <= kStencilRadius; ++k) sum += double{c(t, k)} * difference(t, k);
         return static_cast<float>(sum);
       }},
      {"terms in the other order",
       [](const StencilTerms& t) {
         float sum = 0;
         for (int k = kStencilRadius; k >= 1; --k) sum = fused(t, k, sum);
         return sum;
       }},
      {"two sums of two terms each",
       [](const StencilTerms& t) {
         return rounded_add(fused(t, 2, fused(t, 1, 0)), fused(t, 4, fused(t, 3, 0)));
       }},
      {"a sum that begins at -0", chain(fused, -0.0f)},
      {"subnormal differences flushed", chain([](const StencilTerms& t, int k, float sum) {
         return rounded_fma(c(t, k), flushed(difference(t, k)), sum);
       })},
      {"subnormal sums flushed",
       chain([](const StencilTerms& t, int k, float sum) { return flushed(fused(t, k, sum)); })},
      {"subnormal coefficients flushed", chain([](const StencilTerms& t, int k, float sum) {
         return rounded_fma(flushed(c(t, k)), difference(t, k), sum);
       })},
  };
}

}  // namespace

const StencilRoundings& stencil_roundings() {
  static const StencilRoundings search(stated, neighbours());
  return search;
}

StencilTerms any_stencil_terms(Bits& bits) {
  StencilTerms t;
  const auto any = [&](int exponent) {
    const int less = static_cast<int>(bits.below(4));
    const auto significand = static_cast<float>(static_cast<int>(bits.below(1 << 25)) - (1 << 24));
    return std::ldexp(significand, exponent - 24 - less);
  };
  // The size of the signal and of the coefficients: one, or near the least normal number. The other
  // may or may not compensate.
  const bool tiny_x = bits.chance(25), tiny_c = !tiny_x && bits.chance(20), flat = bits.chance(10);
  for (float& x : t.x) x = any(tiny_x ? -125 : 0);
  if (flat) t.x.fill(t.x[0]);
  for (float& k : t.c) k = any(tiny_c ? -125 : tiny_x && bits.chance(50) ? 60 : 0);
  if (tiny_c) {
    for (float& x : t.x) x = std::ldexp(x, 60);
  }
  t.c[0] = std::numeric_limits<float>::quiet_NaN();
  return t;
}

}  // namespace lockstep::properties
