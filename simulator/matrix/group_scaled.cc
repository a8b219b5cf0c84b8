#include "simulator/matrix/group_scaled.h"

#include <algorithm>
#include <cstddef>
#include <vector>

#include "simulator/matrix/rounding.h"

namespace lockstep::matrix {
namespace {

constexpr int kFractionBits = 35, kZeroExponent = -139;
constexpr int kSparseStored = 64, kGroup = 16, kMostGroups = 6;
// A scale's significand is in eighths and a factor in halves, so a term is in units of 2^-8.
constexpr int kTermBits = 8;

// A scale or an f32 accumulator, decoded: significand * 2^exponent.
struct Taken {
  std::int64_t significand = 0;
  int exponent = 0;
  bool nan = false, infinite = false;
};

Taken scale_of(std::uint8_t bits, bool ue4m3) {
  if (!ue4m3) return {8, bits - 127, bits == 255, false};
  const int field = bits >> 3 & 15, fraction = bits & 7;
  return {field == 0 ? fraction : 8 + fraction, std::max(field, 1) - 7, (bits & 0x7f) == 0x7f,
          false};
}

Taken accumulator_of(std::uint64_t bits) {
  const auto field = static_cast<int>(bits >> 23 & 255);
  const auto fraction = static_cast<std::int64_t>(bits & 0x7fffff);
  const std::int64_t magnitude = field == 0 ? fraction : fraction | 0x800000;
  return {(bits >> 31 & 1) != 0 ? -magnitude : magnitude, std::max(field, 1) - 127,
          field == 255 && fraction != 0, field == 255 && fraction == 0};
}

// Twice the value of an e2m1.
int doubled(std::uint64_t bits) {
  constexpr int kValues[] = {0, 1, 2, 3, 4, 6, 8, 12};
  const int v = kValues[bits & 7];
  return (bits & 8) != 0 ? -v : v;
}

// significand * 2^-fraction_bits, with an exponent `below` under the largest, in units of the last
// retained bit.
std::int64_t cut(std::int64_t significand, int below, int fraction_bits) {
  const int up = kFractionBits - fraction_bits - below;
  const std::int64_t magnitude = significand < 0 ? -significand : significand;
  const std::int64_t kept = up >= 0 ? magnitude << up : up <= -63 ? 0 : magnitude >> -up;
  return significand < 0 ? -kept : kept;
}

}  // namespace

void multiply_group_scaled(const isa::Shape& shape, const std::uint64_t* a, const std::uint64_t* b,
                           const std::uint64_t* c, const std::uint8_t* columns,
                           const GroupScales& scales, std::uint64_t* d) {
  const std::size_t k = shape.k, stored = columns == nullptr ? k : kSparseStored;
  const int groups = static_cast<int>(stored) / kGroup;
  std::vector<std::int8_t> as(shape.m * stored), bs(std::size_t{shape.n} * k);
  for (std::size_t i = 0; i < as.size(); ++i) as[i] = static_cast<std::int8_t>(doubled(a[i]));
  for (std::size_t i = 0; i < bs.size(); ++i) bs[i] = static_cast<std::int8_t>(doubled(b[i]));
  for (std::size_t i = 0; i < shape.m; ++i) {
    const std::int8_t* row = as.data() + i * stored;
    for (std::size_t j = 0; j < shape.n; ++j) {
      const std::int8_t* column = bs.data() + j * k;
      const Taken accumulator = accumulator_of(c[i * shape.n + j]);
      std::int64_t terms[kMostGroups];
      int exponents[kMostGroups];
      bool nan = accumulator.nan;
      int largest = accumulator.significand == 0 ? kZeroExponent : accumulator.exponent;
      for (int g = 0; g < groups; ++g) {
        const int line = g * scales.per_line / groups;
        const Taken x = scale_of(scales.rows[i * static_cast<std::size_t>(scales.per_line) +
                                             static_cast<std::size_t>(line)],
                                 scales.ue4m3),
                    y = scale_of(scales.columns[j * static_cast<std::size_t>(scales.per_line) +
                                                static_cast<std::size_t>(line)],
                                 scales.ue4m3);
        nan |= x.nan || y.nan;
        std::int64_t sum = 0;  // in quarters
        bool all_zero = true;
        for (int e = g * kGroup; e < (g + 1) * kGroup; ++e) {
          const int at = columns == nullptr ? e : columns[i * stored + static_cast<std::size_t>(e)];
          const int product = row[e] * column[at];
          sum += product;
          all_zero &= product == 0;
        }
        const std::int64_t scale = x.significand * y.significand;  // in 64ths
        terms[g] = sum * scale;
        exponents[g] = all_zero || scale == 0 ? kZeroExponent : x.exponent + y.exponent;
        largest = std::max(largest, exponents[g]);
      }
      std::uint64_t& result = d[i * shape.n + j];
      if (nan) {
        result = kNaN32;
      } else if (accumulator.infinite) {
        result = c[i * shape.n + j];
      } else {
        std::int64_t total = cut(accumulator.significand, largest - accumulator.exponent, 23);
        for (int g = 0; g < groups; ++g) total += cut(terms[g], largest - exponents[g], kTermBits);
        result = to_f32(total, largest - kFractionBits, 23);
      }
    }
  }
}

}  // namespace lockstep::matrix
