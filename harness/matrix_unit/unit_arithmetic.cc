#include "harness/matrix_unit/unit_arithmetic.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <stdexcept>

namespace lockstep::matrix_unit {
namespace {

__extension__ using Wide = __int128;
__extension__ using UnsignedWide = unsigned __int128;

// One term of a step: magnitude * 2^(exponent - fraction_bits).
struct Term {
  bool negative = false;
  std::uint64_t magnitude = 0;
  int exponent = 0, fraction_bits = 0;
};

int width_of(UnsignedWide v) {
  const auto high = static_cast<std::uint64_t>(v >> 64);
  return high != 0 ? 64 + std::bit_width(high) : std::bit_width(static_cast<std::uint64_t>(v));
}

// Drops the lowest `drop` bits of `magnitude`, rounding in `direction`.
UnsignedWide drop_bits(UnsignedWide magnitude, bool negative, int drop, Direction direction) {
  if (drop <= 0) return magnitude << -drop;
  const bool far = drop > 126;
  const UnsignedWide kept = far ? 0 : magnitude >> drop;
  const UnsignedWide rest = far ? magnitude : magnitude - (kept << drop);
  if (rest == 0) return kept;
  const UnsignedWide half = far ? ~UnsignedWide{0} : UnsignedWide{1} << (drop - 1);
  switch (direction) {
    case Direction::kZero: return kept;
    case Direction::kDown: return kept + (negative ? 1 : 0);
    case Direction::kUp: return kept + (negative ? 0 : 1);
    case Direction::kNearestAway: return kept + (rest >= half ? 1 : 0);
    default: return kept + (rest > half || (rest == half && (kept & 1) != 0) ? 1 : 0);
  }
}

class Element {
 public:
  Element(const UnitArithmetic& unit, const Formats& formats) : unit_(unit), f_(formats) {}

  std::uint64_t of(const Dot& dot) const {
    std::uint64_t accumulator = unit_.adds_c_last ? 0 : flushed_c(dot.c);
    for (const std::vector<int>& step : unit_.steps) accumulator = sum(accumulator, dot, step);
    return unit_.adds_c_last ? plus(accumulator, flushed_c(dot.c)) : accumulator;
  }

 private:
  std::uint64_t flushed_c(std::uint64_t c) const {
    const Parts p = take_apart(c, f_.d);
    const bool subnormal =
        p.kind == Parts::Kind::kFinite && p.significand >> f_.d.fraction_bits == 0;
    return subnormal && !unit_.subnormal_c ? c & f_.d.sign() : c;
  }

  Parts factor(std::uint64_t bits, const NumberFormat& format) const {
    Parts p = take_apart(bits, format);
    if (p.kind != Parts::Kind::kFinite || p.significand == 0 ||
        p.significand >> format.fraction_bits != 0)
      return p;
    if (!unit_.subnormal_factors) {
      p.significand = 0;
    } else if (unit_.normalises_subnormals) {
      const int shift = format.fraction_bits + 1 - std::bit_width(p.significand);
      p.significand <<= shift;
      p.exponent -= shift;
    }
    return p;
  }

  std::uint64_t infinity(bool negative) const {
    return f_.d.infinity() | (negative ? f_.d.sign() : 0);
  }

  // Sums the accumulator and the products of a step.
  std::uint64_t sum(std::uint64_t accumulator, const Dot& dot, const std::vector<int>& step) const {
    std::vector<Term> terms;
    bool nan = false, plus_infinity = false, minus_infinity = false, all_minus = true;
    const Parts c = take_apart(accumulator, f_.d);
    nan |= c.kind == Parts::Kind::kNaN;
    if (c.kind == Parts::Kind::kInfinite) (c.negative ? minus_infinity : plus_infinity) = true;
    terms.push_back({c.negative, c.significand, c.exponent, f_.d.fraction_bits});
    for (const int k : step) {
      const Parts x = factor(dot.a[static_cast<std::size_t>(k)], f_.a),
                  y = factor(dot.b[static_cast<std::size_t>(k)], f_.b);
      const bool negative = x.negative != y.negative;
      if (x.kind != Parts::Kind::kFinite || y.kind != Parts::Kind::kFinite) {
        nan |= x.kind == Parts::Kind::kNaN || y.kind == Parts::Kind::kNaN || x.is_zero() ||
               y.is_zero();
        (negative ? minus_infinity : plus_infinity) = true;
        continue;
      }
      Term t{negative, x.significand * y.significand, x.exponent + y.exponent,
             f_.a.fraction_bits + f_.b.fraction_bits};
      if (unit_.normalises_products && t.magnitude >> (t.fraction_bits + 1) != 0)
        ++t.exponent, ++t.fraction_bits;
      terms.push_back(t);
    }
    if (nan || (plus_infinity && minus_infinity))
      return unit_.hands_nan_on ? f_.d.nan() : unit_.nan;
    if (plus_infinity || minus_infinity) return infinity(minus_infinity);
    int largest = -100000;
    for (Term& t : terms) {
      if (t.magnitude == 0) t.exponent = unit_.zero_exponent;
      largest = std::max(largest, t.exponent);
      all_minus = all_minus && t.negative && t.magnitude == 0;
    }
    Wide total = 0;
    for (const Term& t : terms) {
      const int drop = largest - t.exponent + t.fraction_bits - unit_.fraction_bits;
      const auto kept = static_cast<Wide>(drop_bits(t.magnitude, t.negative, drop, unit_.cut));
      total += t.negative ? -kept : kept;
    }
    if (total == 0) return all_minus && unit_.keeps_minus_zero ? f_.d.sign() : 0;
    const bool negative = total < 0;
    return rounded(negative, static_cast<UnsignedWide>(negative ? -total : total),
                   largest - unit_.fraction_bits, unit_.result_fraction_bits, unit_.rounding,
                   unit_.underflows_to_minus_zero);
  }

  // Rounds magnitude * 2^scale, which is not zero, to a number of D.
  std::uint64_t rounded(bool negative, UnsignedWide magnitude, int scale, int fraction_bits,
                        Direction direction, bool minus_zero) const {
    const NumberFormat& d = f_.d;
    const std::uint64_t sign = negative ? d.sign() : 0;
    int exponent = std::max(scale + width_of(magnitude) - 1, d.least_exponent());
    UnsignedWide kept = drop_bits(magnitude, negative, exponent - fraction_bits - scale, direction);
    if (width_of(kept) > fraction_bits + 1) kept >>= 1, ++exponent;
    const std::uint64_t significand = static_cast<std::uint64_t>(kept)
                                      << (d.fraction_bits - fraction_bits);
    const bool subnormal = significand >> d.fraction_bits == 0;
    if (significand == 0 || (subnormal && !unit_.subnormal_results)) return minus_zero ? sign : 0;
    if (exponent > d.greatest_exponent()) {
      return unit_.overflows_to_infinity ? infinity(negative) : sign | (d.infinity() - 1);
    }
    if (subnormal) return sign | significand;
    return sign | static_cast<std::uint64_t>(exponent + d.bias()) << d.fraction_bits |
           (significand & ((std::uint64_t{1} << d.fraction_bits) - 1));
  }

  // Adds two numbers of D as in IEEE 754.
  std::uint64_t plus(std::uint64_t x, std::uint64_t y) const {
    const Parts p = take_apart(x, f_.d), q = take_apart(y, f_.d);
    const bool infinite = p.kind == Parts::Kind::kInfinite || q.kind == Parts::Kind::kInfinite;
    if (p.kind == Parts::Kind::kNaN || q.kind == Parts::Kind::kNaN)
      return unit_.hands_nan_on ? f_.d.nan() : unit_.nan;
    if (infinite) {
      if (p.kind == q.kind && p.negative != q.negative)
        return unit_.hands_nan_on ? f_.d.nan() : unit_.nan;
      return p.kind == Parts::Kind::kInfinite ? x : y;
    }
    if (p.significand == 0 && q.significand == 0) return x & y;
    if (p.significand == 0) return y;
    if (q.significand == 0) return x;
    // If one number is far smaller, only its sign matters to the rounding: two bits below half of
    // the last place represent it.
    const int largest = std::max(p.exponent, q.exponent),
              scale = largest - f_.d.fraction_bits - kExactBits / 2;
    Wide total = 0;
    for (const Parts* t : {&p, &q}) {
      const int shift = t->exponent - f_.d.fraction_bits - scale;
      const Wide magnitude = shift >= 0 ? static_cast<Wide>(t->significand) << shift : Wide{1};
      total += t->negative ? -magnitude : magnitude;
    }
    if (total == 0) return 0;
    const bool negative = total < 0;
    return rounded(negative, static_cast<UnsignedWide>(negative ? -total : total), scale,
                   f_.d.fraction_bits, unit_.c_rounding, true);
  }

  const UnitArithmetic& unit_;
  const Formats& f_;
};

std::uint64_t double_element(const UnitArithmetic& unit, const Dot& dot) {
  if (unit.fraction_bits < kExactBits || unit.rounding != Direction::kNearestEven ||
      unit.adds_c_last)
    throw std::invalid_argument("f64 other than by fused multiply-adds");
  double sum = std::bit_cast<double>(dot.c);
  for (const std::vector<int>& step : unit.steps) {
    if (step.size() != 1) throw std::invalid_argument("f64 other than by fused multiply-adds");
    const auto k = static_cast<std::size_t>(step.front());
    sum = std::fma(std::bit_cast<double>(dot.a[k]), std::bit_cast<double>(dot.b[k]), sum);
  }
  return std::isnan(sum) ? (unit.hands_nan_on ? kF64.nan() : unit.nan)
                         : std::bit_cast<std::uint64_t>(sum);
}

}  // namespace

std::string text_of(Direction d) {
  switch (d) {
    case Direction::kZero: return "toward zero";
    case Direction::kDown: return "down";
    case Direction::kUp: return "up";
    case Direction::kNearestAway: return "to the nearest, ties away from zero";
    default: return "to the nearest, ties to even";
  }
}

std::uint64_t element_of(const UnitArithmetic& unit, const Formats& formats, const Dot& dot) {
  return formats.d.fraction_bits == kF64.fraction_bits ? double_element(unit, dot)
                                                       : Element(unit, formats).of(dot);
}

}  // namespace lockstep::matrix_unit
