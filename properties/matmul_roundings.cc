#include "properties/matmul_roundings.h"

#include <bit>
#include <cmath>
#include <cstdint>

#include "harness/property/rounded.h"
#include "reference/matmul.h"

namespace lockstep::properties {
namespace {

using enum Rounding;
constexpr int kTerms = kMatmulTerms;

float a(const MatmulTerms& t, int p) { return t.a[static_cast<std::size_t>(p)]; }
float b(const MatmulTerms& t, int p) { return t.b[static_cast<std::size_t>(p)]; }

float stated(const MatmulTerms& t) {
  using Map = Eigen::Map<const reference::RowMajorF>;
  return reference::matmul_chain(Map(t.a.data(), 1, kTerms), Map(t.b.data(), kTerms, 1))(0);
}

// The chain with another step; `step` takes the factors and the sum so far.
template <class Step>
MatmulRoundings::Chain chain(Step step, float first = 0) {
  return [step, first](const MatmulTerms& t) {
    float sum = first;
    for (int p = 0; p < kTerms; ++p) sum = step(a(t, p), b(t, p), sum);
    return sum;
  };
}

auto with_sum(Rounding mode) {
  return chain([mode](float x, float y, float sum) { return rounded_fma(x, y, sum, mode); });
}

// Sums every `stride`-th term from `first` on, up to `end`.
float part(const MatmulTerms& t, int first, int end, int stride = 1) {
  float sum = 0;
  for (int p = first; p < end; p += stride) sum = rounded_fma(a(t, p), b(t, p), sum);
  return sum;
}

auto in_tiles(int side) {
  return [side](const MatmulTerms& t) {
    float sum = 0;
    for (int p = 0; p < kTerms; p += side)
      sum = rounded_add(sum, part(t, p, std::min(p + side, kTerms)));
    return sum;
  };
}

// The bits of a float that a tensor core reads: ten of its significand.
float tf32(float x) { return std::bit_cast<float>(std::bit_cast<std::uint32_t>(x) & 0xffffe000u); }

std::vector<MatmulRoundings::Neighbour> neighbours() {
  return {
      {"sums rounded to zero", with_sum(kZero)},
      {"sums rounded up", with_sum(kUp)},
      {"sums rounded down", with_sum(kDown)},
      {"products rounded by themselves",
       chain([](float x, float y, float sum) { return rounded_add(rounded_mul(x, y), sum); })},
      {"a sum in double",
       [](const MatmulTerms& t) {
         double sum = 0;
         for (int p = 0; p < kTerms; ++p) sum += double{a(t, p)} * b(t, p);
         return static_cast<float>(sum);
       }},
      {"terms in the other order",
       [](const MatmulTerms& t) {
         float sum = 0;
         for (int p = kTerms - 1; p >= 0; --p) sum = rounded_fma(a(t, p), b(t, p), sum);
         return sum;
       }},
      {"two sums, of even and odd terms",
       [](const MatmulTerms& t) {
         return rounded_add(part(t, 0, kTerms, 2), part(t, 1, kTerms, 2));
       }},
      {"two sums, of either half",
       [](const MatmulTerms& t) {
         return rounded_add(part(t, 0, kTerms / 2), part(t, kTerms / 2, kTerms));
       }},
      {"a sum for each tile of 8", in_tiles(8)},
      {"a sum for each tile of 16", in_tiles(16)},
      {"a sum for each tile of 32", in_tiles(32)},
      {"a sum that begins at -0",
       chain([](float x, float y, float sum) { return rounded_fma(x, y, sum); }, -0.0f)},
      {"tiles padded with zeros",
       [](const MatmulTerms& t) { return rounded_fma(0.0f, 0.0f, part(t, 0, kTerms)); }},
      {"subnormal sums flushed",
       chain([](float x, float y, float sum) { return flushed(rounded_fma(x, y, sum)); })},
      {"subnormal factors flushed",
       chain([](float x, float y, float sum) { return rounded_fma(flushed(x), flushed(y), sum); })},
      {"factors with ten bits, as TF32",
       chain([](float x, float y, float sum) { return rounded_fma(tf32(x), tf32(y), sum); })},
  };
}

}  // namespace

const MatmulRoundings& matmul_roundings() {
  static const MatmulRoundings search(stated, neighbours());
  return search;
}

MatmulTerms any_matmul_terms(Bits& bits) {
  MatmulTerms t;
  const auto any = [&](int exponent) {
    const auto significand = static_cast<float>(static_cast<int>(bits.below(1 << 25)) - (1 << 24));
    return std::ldexp(significand, exponent - 24 - static_cast<int>(bits.below(3)));
  };
  // Products of about 1, of subnormal factors, of subnormal size, or so small that all round to
  // zeros of one sign.
  const std::uint64_t kind = bits.below(6);
  const int of_a = kind < 2 ? 0 : kind == 2 ? -125 : kind == 3 ? -65 : kind == 4 ? -100 : 0;
  const int of_b = kind < 2 ? 0 : kind == 2 ? 100 : kind == 3 ? -64 : kind == 4 ? -100 : 0;
  for (float& x : t.a) x = any(of_a);
  for (float& x : t.b) x = any(of_b);
  if (kind >= 4) {
    for (float& x : t.a) x = kind == 4 ? std::abs(x) : 0;
    for (float& x : t.b) x = -std::abs(x);
  }
  return t;
}

}  // namespace lockstep::properties
