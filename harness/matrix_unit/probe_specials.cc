#include "harness/matrix_unit/probe_specials.h"

namespace lockstep::matrix_unit {
namespace {

std::string hexadecimal(std::uint64_t v, int digits) {
  std::string out(static_cast<std::size_t>(digits), '0');
  for (auto at = out.rbegin(); at != out.rend(); ++at, v >>= 4) *at = "0123456789abcdef"[v & 15];
  return out;
}

}  // namespace

using enum Property;

void SpecialsProbe::find_subnormal_factors() {
  Dot of_a = in_.zeros(), of_b = in_.zeros();
  const double a = power(f_.a.quantum_exponent()), b = power(f_.b.quantum_exponent());
  const double to_a = power(std::min(f_.b.greatest_exponent(), -f_.a.quantum_exponent()));
  const double to_b = power(std::min(f_.a.greatest_exponent(), -f_.b.quantum_exponent()));
  in_.factors(of_a, 0, a, to_a, true);
  in_.factors(of_b, 0, to_b, b, true);
  const double from_a = value(of_a), from_b = value(of_b);
  if (from_a == a * to_a && from_b == b * to_b) {
    say(kSubnormalFactors, "count");
    in_.allow_subnormal_factors(true);
  } else if (from_a == 0 && from_b == 0) {
    say(kSubnormalFactors, "are zero");
    unit_.subnormal_factors = false;
  } else {
    say_unclear(kSubnormalFactors, "of A and of B otherwise");
  }
}

// Uses a subnormal product, or otherwise a subnormal C.
void SpecialsProbe::find_subnormal_results() {
  const double half_least = power(f_.d.least_exponent() - 1);  // of normal numbers
  const int first = unit_.steps.front().front();
  Dot through = in_.zeros(), product = in_.zeros(), both = in_.zeros();
  in_.c(through, half_least), in_.c(both, half_least);
  const bool passes = value(through) == half_least;
  if (in_.product(product, first, half_least) && in_.product(both, first, half_least)) {
    unit_.subnormal_results = value(product) == half_least;
    unit_.subnormal_c = passes || value(both) == 2 * half_least;
  } else if (passes && !unit_.adds_c_last) {
    unit_.subnormal_results = unit_.subnormal_c = true;
  } else if (passes) {
    unit_.subnormal_results = unit_.subnormal_c = true;
    say(kSubnormalC, "counts");
    return say_no_effect(kSubnormalResults, "no sum is that small");
  } else {
    unit_.subnormal_results = unit_.subnormal_c = false;
    say_unclear(kSubnormalC, "C or the result is zero");
    say_unclear(kSubnormalResults, "C or the result is zero");
    return;
  }
  say(kSubnormalResults, unit_.subnormal_results ? "stay" : "become zero");
  say(kSubnormalC, unit_.subnormal_c ? "counts" : "is zero");
}

void SpecialsProbe::find_specials() {
  find_nan();
  find_overflow();
  Dot zeros = in_.zeros();
  for (int k = 0; k < f_.k; ++k) in_.factors(zeros, k, -0.0, 1, false);
  in_.c(zeros, -0.0);
  unit_.keeps_minus_zero = (bits(zeros) & f_.d.sign()) != 0;
  say(kMinusZero, unit_.keeps_minus_zero ? "-0" : "+0");
  find_underflow();
}

// A product below half of the least result, without a cut, beside zeros of a sign that does not
// hide its own.
void SpecialsProbe::find_underflow() {
  const int exponent = least_result() - 2;
  Dot tiny = in_.zeros();
  if (products_.empty() || !in_.product(tiny, products_[0], -power(exponent)) ||
      (known(kZeroExponent) && exponent < unit_.zero_exponent - unit_.fraction_bits))
    return say_no_effect(kUnderflow, "no sum is that small");
  if (!known(kZeroExponent)) return say_unclear(kUnderflow, "");
  if (unit_.adds_c_last) in_.c(tiny, -0.0);
  const double v = value(tiny);
  if (v != 0) return say_no_effect(kUnderflow, "no sum becomes zero");
  unit_.underflows_to_minus_zero = std::signbit(v);
  say(kUnderflow, std::signbit(v) ? "-0" : "+0");
}

void SpecialsProbe::find_nan() {
  std::vector<Dot>
      dots;  // NaN in A, B, C; then zero times infinity, and a difference of infinities
  const auto at = [&](int k) { return static_cast<std::size_t>(k); };
  for (int i = 0; i < 3; ++i) dots.push_back(in_.zeros());
  in_.factors(dots[0], 0, 1, 1, false), in_.factors(dots[1], 0, 1, 1, false);
  dots[0].a[0] = f_.a.nan(), dots[1].b[0] = f_.b.nan() | f_.b.sign(), dots[2].c = f_.d.nan();
  if (f_.a.has_infinity && f_.b.has_infinity) {
    Dot product = in_.zeros(), difference = in_.zeros();
    product.a[0] = f_.a.infinity();
    difference.a[at(0)] = difference.a[at(1)] = f_.a.infinity();
    in_.factors(product, 1, 1, 1, false);
    difference.b[at(0)] = f_.b.infinity(), difference.b[at(1)] = f_.b.infinity() | f_.b.sign();
    dots.push_back(product), dots.push_back(difference);
  }
  const std::vector<std::uint64_t> got = multiply_(dots);
  for (const std::uint64_t v : got) {
    if (take_apart(v, f_.d).kind != Parts::Kind::kNaN)
      return say_unclear(kNaN, "a NaN is not kept");
  }
  unit_.nan = got.front();
  if (std::all_of(got.begin(), got.end(), [&](std::uint64_t v) { return v == got.front(); })) {
    say(kNaN, hexadecimal(got.front(), (f_.d.sign_bit() + 1) / 4));
  } else if (f_.a.fraction_bits == f_.d.fraction_bits && got[0] == dots[0].a[0] &&
             got[1] == dots[1].b[0] && got[2] == dots[2].c) {
    unit_.hands_nan_on = true;
    say(kNaN, "that of the operands");
  } else {
    say_unclear(kNaN, "otherwise for each operand");
  }
}

void SpecialsProbe::find_overflow() {
  const int greatest = f_.d.greatest_exponent();
  Dot d = in_.zeros();
  if (places_.size() < 2 || in_.greatest_product() < greatest ||
      !set(d, places_[0], power(greatest)) || !set(d, places_[1], power(greatest)))
    return say_no_effect(kOverflow, "no product is that large");
  const double v = value(d);
  unit_.overflows_to_infinity = std::isinf(v);
  if (std::isinf(v) && v > 0) return say(kOverflow, "infinity");
  if (v == value(f_.d.infinity() - 1)) return say(kOverflow, "the greatest number");
  say_unclear(kOverflow, "neither infinity nor the greatest number");
}

}  // namespace lockstep::matrix_unit
