#include "harness/matrix_unit/number_format.h"

#include <cmath>

namespace lockstep::matrix_unit {
namespace {

std::uint64_t ones(int n) { return (std::uint64_t{1} << n) - 1; }

}  // namespace

std::uint64_t NumberFormat::infinity() const {
  return ones(exponent_bits) << (fraction_bits + ignored_bits);
}

std::uint64_t NumberFormat::nan() const {
  if (!has_infinity) return ones(exponent_bits + fraction_bits) << ignored_bits;
  // The quiet bit and, if there is another fraction bit, the lowest.
  return infinity() | (std::uint64_t{1} << (fraction_bits - 1) | 1) << ignored_bits;
}

Parts take_apart(std::uint64_t bits, const NumberFormat& f) {
  bits >>= f.ignored_bits;
  const std::uint64_t fraction = bits & ones(f.fraction_bits), top = ones(f.exponent_bits);
  const std::uint64_t field = bits >> f.fraction_bits & top;
  Parts p;
  p.negative = (bits >> (f.fraction_bits + f.exponent_bits) & 1) != 0;
  if (field == top && f.has_infinity) {
    p.kind = fraction == 0 ? Parts::Kind::kInfinite : Parts::Kind::kNaN;
    return p;
  }
  if (field == top && fraction == ones(f.fraction_bits)) {
    p.kind = Parts::Kind::kNaN;
    return p;
  }
  p.exponent = field == 0 ? f.least_exponent() : static_cast<int>(field) - f.bias();
  p.significand = field == 0 ? fraction : fraction | std::uint64_t{1} << f.fraction_bits;
  return p;
}

double value_of(std::uint64_t bits, const NumberFormat& f) {
  const Parts p = take_apart(bits, f);
  const double magnitude =
      std::ldexp(static_cast<double>(p.significand), p.exponent - f.fraction_bits);
  return p.negative ? -magnitude : magnitude;
}

bool encode(double value, const NumberFormat& f, bool allow_subnormal, std::uint64_t& bits) {
  const std::uint64_t sign = std::signbit(value) ? f.sign() : 0;
  if (value == 0) {
    bits = sign;
    return true;
  }
  const double magnitude = std::fabs(value);
  const int own = std::ilogb(magnitude);
  if (own > f.greatest_exponent() || (own < f.least_exponent() && !allow_subnormal)) return false;
  const int exponent = own < f.least_exponent() ? f.least_exponent() : own;
  const double scaled = std::ldexp(magnitude, f.fraction_bits - exponent);
  if (scaled != std::floor(scaled) || scaled >= std::ldexp(1.0, f.fraction_bits + 1)) return false;
  const auto significand = static_cast<std::uint64_t>(scaled);
  const std::uint64_t field =
      own < f.least_exponent() ? 0 : static_cast<std::uint64_t>(exponent + f.bias());
  bits = sign | (field << f.fraction_bits | (significand & ones(f.fraction_bits)))
                    << f.ignored_bits;
  return take_apart(bits, f).kind == Parts::Kind::kFinite;  // e4m3 has one NaN among its numbers
}

}  // namespace lockstep::matrix_unit
