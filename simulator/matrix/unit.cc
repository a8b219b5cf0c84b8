#include "simulator/matrix/unit.h"

#include <immintrin.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cfenv>
#include <cmath>
#include <optional>
#include <vector>

#include "simulator/matrix/eight_sums.h"
#include "simulator/matrix/rounding.h"

namespace lockstep::matrix {
namespace {

using isa::Type;

// A decoded floating-point value: significand * 2^(exponent - fraction bits of its type).
struct Parts {
  std::int32_t significand = 0;  // signed
  std::int32_t exponent = 0;
  enum class Class : std::uint8_t { kFinite = 0, kInfinite = 1, kNaN = 2 } kind = Class::kFinite;
};

struct Format {
  int fraction_bits, exponent_bits;
  bool has_infinity;
  int unused_bits = 0;  // low bits of the register that are ignored
  bool has_nan = true;
};

constexpr Format format_of(Type t) {
  switch (t) {
    case Type::kF16: return {10, 5, true};
    case Type::kBF16: return {7, 8, true};
    case Type::kTF32: return {10, 8, true, 13};
    case Type::kE4M3: return {3, 4, false};
    case Type::kE5M2: return {2, 5, true};
    case Type::kE2M3: return {3, 2, false, 0, false};
    case Type::kE3M2: return {2, 3, false, 0, false};
    case Type::kE2M1: return {1, 2, false, 0, false};
    default: return {23, 8, true};  // kF32
  }
}

inline Parts take_apart(std::uint64_t bits, const Format& f) {
  bits >>= f.unused_bits;
  const std::uint64_t fraction = bits & ((std::uint64_t{1} << f.fraction_bits) - 1),
                      top = (std::uint64_t{1} << f.exponent_bits) - 1;
  const std::uint64_t field = bits >> f.fraction_bits & top;
  const bool negative = (bits >> (f.fraction_bits + f.exponent_bits) & 1) != 0;
  Parts p;
  const int bias = static_cast<int>(top >> 1);
  std::uint64_t significand = fraction;
  p.exponent = field == 0 ? 1 - bias : static_cast<int>(field) - bias;
  if (field != 0) significand |= std::uint64_t{1} << f.fraction_bits;
  if (f.has_infinity && field == top) {
    p.kind = fraction == 0 ? Parts::Class::kInfinite : Parts::Class::kNaN;
    significand = 1;  // only its sign matters, and that it is not zero
  } else if (!f.has_infinity && f.has_nan && field == top &&
             fraction == (std::uint64_t{1} << f.fraction_bits) - 1) {
    p.kind = Parts::Class::kNaN;
  }
  p.significand =
      negative ? -static_cast<std::int32_t>(significand) : static_cast<std::int32_t>(significand);
  return p;
}

// Converts an 8-bit number to f16, which represents all of them.
Parts widened(std::uint64_t bits, const Format& f) {
  Parts p = take_apart(bits, f);
  if (p.kind != Parts::Class::kFinite || p.significand == 0) return p;
  p.significand *= 1 << (10 - f.fraction_bits);
  while (p.exponent > -14 && std::abs(p.significand) < 1 << 10) p.significand *= 2, --p.exponent;
  return p;
}

constexpr std::uint16_t kNaN16 = 0x7fff;

// sum * 2^scale, rounded to nearest, ties to even.
std::uint16_t to_f16(std::int64_t sum, int scale) {
  if (sum == 0) return 0;
  const std::uint16_t sign = sum < 0 ? 0x8000 : 0;
  const std::uint64_t magnitude =
      sum < 0 ? -static_cast<std::uint64_t>(sum) : static_cast<std::uint64_t>(sum);
  const int exponent = scale + std::bit_width(magnitude) - 1;
  if (exponent > 16) return sign | 0x7c00;
  const int drop = std::max(exponent, -14) - 10 - scale;
  std::uint64_t significand;
  if (drop <= 0) {
    significand = magnitude << -drop;
  } else if (drop >= 63) {
    return 0;
  } else {
    significand = magnitude >> drop;
    const std::uint64_t rest = magnitude & ((std::uint64_t{1} << drop) - 1),
                        half = std::uint64_t{1} << (drop - 1);
    if (rest > half || (rest == half && (significand & 1) != 0)) ++significand;
  }
  if (significand == 0) return 0;
  // A carry out of the fraction increments the exponent.
  const std::uint64_t bits = exponent < -14
                                 ? significand
                                 : (static_cast<std::uint64_t>(exponent + 14) << 10) + significand;
  return static_cast<std::uint16_t>(bits >= 0x7c00 ? sign | 0x7c00 : sign | bits);
}

// Decoded factors, in the order of the sum.
struct Factors {
  const std::int32_t *significands, *exponents;
  const Parts::Class* kinds;
  Factors from(int k) const { return {significands + k, exponents + k, kinds + k}; }
};

// Storage for `count` factors.
class FactorArrays {
 public:
  explicit FactorArrays(std::size_t count)
      : significands_(count), exponents_(count), kinds_(count) {}
  void set(int k, const Parts& p) {
    const auto i = static_cast<std::size_t>(k);
    significands_[i] = p.significand;
    exponents_[i] = p.significand == 0 ? kOfZero : p.exponent;
    kinds_[i] = p.kind;
  }
  // As set() of take_apart(), from the first on: a loop over vectors.
  void set_all(const std::uint64_t* bits, int count, const Format& f) {
    const std::uint32_t all = (1u << f.fraction_bits) - 1, top = (1u << f.exponent_bits) - 1;
    const auto bias = static_cast<std::int32_t>(top >> 1);
    const std::uint32_t has_infinity = f.has_infinity ? 1 : 0, has_nan = f.has_nan ? 1 : 0;
    std::int32_t *const significands = significands_.data(), *const exponents = exponents_.data();
    auto* const kinds = reinterpret_cast<std::uint8_t*>(kinds_.data());
    for (int i = 0; i < count; ++i) {
      const std::uint32_t v = static_cast<std::uint32_t>(bits[i]) >> f.unused_bits,
                          fraction = v & all, field = v >> f.fraction_bits & top,
                          negative = v >> (f.fraction_bits + f.exponent_bits) & 1,
                          is_top = field == top ? 1 : 0, is_special = is_top & has_infinity;
      const std::uint32_t whole = fraction | (field != 0 ? all + 1 : 0),
                          magnitude = is_special != 0 ? 1 : whole,
                          is_infinite = is_special & (fraction == 0 ? 1 : 0),
                          is_nan =
                              (is_special & (fraction != 0 ? 1 : 0)) |
                              (is_top & (1 - has_infinity) & has_nan & (fraction == all ? 1 : 0));
      const auto exponent = field == 0 ? 1 - bias : static_cast<std::int32_t>(field) - bias;
      significands[i] = static_cast<std::int32_t>(negative != 0 ? 0u - magnitude : magnitude);
      exponents[i] = magnitude == 0 ? kOfZero : exponent;
      kinds[i] = static_cast<std::uint8_t>(is_infinite + 2 * is_nan);
    }
  }
  void copy(int k, const Factors& from, int at) {
    set(k, {from.significands[at], from.exponents[at], from.kinds[at]});
  }
  Factors from(int k) const {
    return Factors{significands_.data(), exponents_.data(), kinds_.data()}.from(k);
  }
  bool all_finite(int begin, int count) const {
    std::uint8_t kinds = 0;
    for (int i = begin; i < begin + count; ++i)
      kinds |= static_cast<std::uint8_t>(kinds_[static_cast<std::size_t>(i)]);
    return kinds == 0;
  }

 private:
  std::vector<std::int32_t> significands_, exponents_;
  std::vector<Parts::Class> kinds_;
};

// Computes one element of D.
class Sum {
 public:
  Sum(const Unit& unit, Type result) : unit_(unit), result_(result), format_(format_of(result)) {}

  // The accumulator plus the products of `count` pairs of factors, as bits of the result's type.
  // fraction_bits: of a product. finite: all factors are finite.
  std::uint32_t chunk(std::uint64_t accumulator, const Factors& as, const Factors& bs, int count,
                      int fraction_bits, bool finite) const {
    const Parts c = take_apart(accumulator, format_);
    if (!finite || c.kind != Parts::Class::kFinite) {
      if (const auto special = not_finite(c, as, bs, count)) return *special;
    }
    int largest = c.significand == 0 ? unit_.zero_exponent : c.exponent;
    std::int64_t sum;
    switch (count) {
      case 8: sum = products<1>(as, bs, fraction_bits, largest); break;
      case 16: sum = products<2>(as, bs, fraction_bits, largest); break;
      case 32: sum = products<4>(as, bs, fraction_bits, largest); break;
      default: sum = products_one_by_one(as, bs, count, fraction_bits, largest);
    }
    sum += cut(c.significand, largest - c.exponent, format_.fraction_bits);
    const int scale = largest - unit_.fraction_bits;
    return result_ == Type::kF16 ? to_f16(sum, scale)
                                 : to_f32(sum, scale, unit_.result_fraction_bits);
  }

 private:
  // The sum of the products, each truncated, in units of the last retained bit. `largest`: on entry
  // the accumulator's exponent, on return the largest exponent of any term.
  std::int64_t products_one_by_one(const Factors& as, const Factors& bs, int count,
                                   int fraction_bits, int& largest) const {
    std::int32_t product[kMaxK], exponent[kMaxK];
    for (int k = 0; k < count; ++k) {
      product[k] = as.significands[k] * bs.significands[k];  // at most 22 bits
      exponent[k] = product[k] == 0 ? unit_.zero_exponent : as.exponents[k] + bs.exponents[k];
      largest = std::max(largest, exponent[k]);
    }
    std::int64_t sum = 0;
    for (int k = 0; k < count; ++k) sum += cut(product[k], largest - exponent[k], fraction_bits);
    return sum;
  }

  // The same for kEights * 8 products, eight at a time. A product has fraction_bits + 2 bits.
  // Shifted up to the last retained bit it has unit_.fraction_bits + 2 bits, at most 27, so the sum
  // of four fits 32 bits.
  template <int kEights>
  std::int64_t products(const Factors& as, const Factors& bs, int fraction_bits,
                        int& largest) const {
    const auto load = [](const std::int32_t* p) {
      return _mm256_loadu_si256(reinterpret_cast<const __m256i*>(p));
    };
    const __m256i of_zero = _mm256_set1_epi32(unit_.zero_exponent);
    __m256i product[kEights], exponent[kEights], top = _mm256_set1_epi32(largest);
    for (int i = 0; i < kEights; ++i) {
      product[i] = _mm256_mullo_epi32(load(as.significands + 8 * i), load(bs.significands + 8 * i));
      const __m256i sum = _mm256_add_epi32(load(as.exponents + 8 * i), load(bs.exponents + 8 * i));
      exponent[i] =
          _mm256_blendv_epi8(sum, of_zero, _mm256_cmpeq_epi32(product[i], _mm256_setzero_si256()));
      top = _mm256_max_epi32(top, exponent[i]);
    }
    __m128i most = _mm_max_epi32(_mm256_castsi256_si128(top), _mm256_extracti128_si256(top, 1));
    most = _mm_max_epi32(most, _mm_shuffle_epi32(most, 0x4e));
    most = _mm_max_epi32(most, _mm_shuffle_epi32(most, 0xb1));
    largest = _mm_cvtsi128_si32(most);
    const __m256i highest = _mm256_broadcastd_epi32(most);
    const __m128i up = _mm_cvtsi32_si128(unit_.fraction_bits - fraction_bits);
    __m256i total = _mm256_setzero_si256();
    for (int i = 0; i < kEights; ++i) {
      const __m256i magnitude = _mm256_sll_epi32(_mm256_abs_epi32(product[i]), up);
      // A shift by more than 31 leaves nothing.
      const __m256i kept = _mm256_srlv_epi32(magnitude, _mm256_sub_epi32(highest, exponent[i]));
      total = _mm256_add_epi32(total, _mm256_sign_epi32(kept, product[i]));
    }
    const __m256i wide =
        _mm256_add_epi64(_mm256_cvtepi32_epi64(_mm256_castsi256_si128(total)),
                         _mm256_cvtepi32_epi64(_mm256_extracti128_si256(total, 1)));
    const __m128i two =
        _mm_add_epi64(_mm256_castsi256_si128(wide), _mm256_extracti128_si256(wide, 1));
    return _mm_cvtsi128_si64(two) + _mm_extract_epi64(two, 1);
  }

  // Truncates a term with `fraction_bits` fraction bits, whose exponent is `below` under the
  // largest. In units of the last retained bit.
  std::int64_t cut(std::int64_t significand, int below, int fraction_bits) const {
    const int drop = below + fraction_bits - unit_.fraction_bits;
    const std::int64_t magnitude = significand < 0 ? -significand : significand;
    const std::int64_t kept = drop <= 0 ? magnitude << -drop : drop >= 63 ? 0 : magnitude >> drop;
    return significand < 0 ? -kept : kept;
  }

  // The result if a term is infinite or NaN.
  std::optional<std::uint32_t> not_finite(const Parts& c, const Factors& as, const Factors& bs,
                                          int count) const {
    bool nan = c.kind == Parts::Class::kNaN, plus = false, minus = false;
    if (c.kind == Parts::Class::kInfinite) (c.significand < 0 ? minus : plus) = true;
    for (int k = 0; k < count; ++k) {
      const std::int32_t a = as.significands[k], b = bs.significands[k];
      if (as.kinds[k] == Parts::Class::kFinite && bs.kinds[k] == Parts::Class::kFinite) continue;
      nan |= as.kinds[k] == Parts::Class::kNaN || bs.kinds[k] == Parts::Class::kNaN || a == 0 ||
             b == 0;
      ((a < 0) != (b < 0) ? minus : plus) = true;
    }
    const bool half = result_ == Type::kF16;
    if (nan || (plus && minus)) return half ? kNaN16 : kNaN32;
    if (plus || minus)
      return half ? (minus ? 0xfc00 : 0x7c00) : (minus ? 0xff800000u : 0x7f800000u);
    return std::nullopt;
  }

  Unit unit_;
  Type result_;
  Format format_;
};

bool is_integer(Type t) {
  return t == Type::kS8 || t == Type::kU8 || t == Type::kS4 || t == Type::kU4 || t == Type::kB1;
}

std::int64_t integer_of(std::uint64_t bits, Type t) {
  switch (t) {
    case Type::kS8: return static_cast<std::int8_t>(bits);
    case Type::kS4: return static_cast<std::int64_t>(bits << 60) >> 60;
    default: return static_cast<std::int64_t>(bits);
  }
}

// D for integers: exact, so the order does not matter.
void multiply_integers(const Operation& o, const std::uint64_t* a, const std::uint64_t* b,
                       const std::uint64_t* c, const std::uint8_t* columns, std::uint64_t* d) {
  const int n = o.shape.n, k = o.shape.k, stored = o.sparse ? k / 2 : k;
  std::vector<std::int32_t> as(static_cast<std::size_t>(o.shape.m * stored)),
      bs(static_cast<std::size_t>(n * k));
  for (std::size_t i = 0; i < as.size(); ++i)
    as[i] = static_cast<std::int32_t>(integer_of(a[i], o.a));
  for (std::size_t i = 0; i < bs.size(); ++i)
    bs[i] = static_cast<std::int32_t>(integer_of(b[i], o.b));
  for (int i = 0; i < o.shape.m; ++i) {
    const std::int32_t* row = as.data() + i * stored;
    for (int j = 0; j < n; ++j) {
      const std::int32_t* column = bs.data() + j * k;
      std::int32_t products = 0;  // at most 128 * 255 * 255 in magnitude
      if (o.sparse) {
        for (int at = 0; at < stored; ++at) products += row[at] * column[columns[i * stored + at]];
      } else if (o.a == Type::kB1 && o.bits == isa::BoolOp::kXor) {
        for (int at = 0; at < k; ++at) products += row[at] ^ column[at];
      } else {
        for (int at = 0; at < k; ++at) products += row[at] * column[at];
      }
      std::int64_t sum = std::int64_t{static_cast<std::int32_t>(c[i * n + j])} + products;
      if (o.saturates) sum = std::clamp<std::int64_t>(sum, INT32_MIN, INT32_MAX);
      d[i * n + j] = static_cast<std::uint32_t>(sum);
    }
  }
}

int rounding_mode(isa::Rounding r) {
  switch (r) {
    case isa::Rounding::kZero: return FE_TOWARDZERO;
    case isa::Rounding::kDown: return FE_DOWNWARD;
    case isa::Rounding::kUp: return FE_UPWARD;
    default: return FE_TONEAREST;
  }
}

// A NaN operand is returned with its quiet bit set. Of several, B takes precedence, then C, then A.
double fused(std::uint64_t a, std::uint64_t b, double c) {
  constexpr std::uint64_t kQuiet = std::uint64_t{1} << 51;
  for (const std::uint64_t v : {b, std::bit_cast<std::uint64_t>(c), a}) {
    if (std::isnan(std::bit_cast<double>(v))) return std::bit_cast<double>(v | kQuiet);
  }
  const double sum = std::fma(std::bit_cast<double>(a), std::bit_cast<double>(b), c);
  return std::isnan(sum) ? std::bit_cast<double>(std::uint64_t{0xfff8000000000000}) : sum;
}

std::uint64_t double_element(const std::uint64_t* a, const std::uint64_t* b, std::uint64_t c,
                             int count) {
  double sum = std::bit_cast<double>(c);
  for (int k = 0; k < count; ++k) sum = fused(a[k], b[k], sum);
  return std::bit_cast<std::uint64_t>(sum);
}

}  // namespace

Unit unit_of(int compute_capability, isa::Type factor, isa::Type result) {
  const bool half = result == Type::kF16;
  const int bits = isa::bits_of(factor);
  if (bits == 8) {
    if (compute_capability < 100)
      return {13, (compute_capability < 90 ? 128 : 256) / bits, half ? -21 : -133, 13};
    return {25, 256 / bits, half ? -21 : -133, 23};
  }
  if (compute_capability < 75) return {23, 64 / bits, half ? -19 : -131, 23};
  if (compute_capability < 90) return {24, 128 / bits, half ? -20 : -132, 23};
  return {25, 256 / bits, half ? -21 : -133, 23};
}

namespace {

// An f16 or f32 as an f32.
float f32_of(std::uint64_t bits, Type type) {
  if (type == Type::kF32) {
    const auto v = std::bit_cast<float>(static_cast<std::uint32_t>(bits));
    return std::isnan(v) ? std::bit_cast<float>(kNaN32) : v;
  }
  const Format f = format_of(type);
  const Parts p = take_apart(bits, f);
  if (p.kind == Parts::Class::kNaN) return std::bit_cast<float>(kNaN32);
  if (p.kind == Parts::Class::kInfinite) return p.significand < 0 ? -INFINITY : INFINITY;
  if (p.significand == 0)
    return (bits >> (f.fraction_bits + f.exponent_bits) & 1) != 0 ? -0.0f : 0.0f;
  // A power of two from 2^-24 to 2^5: the product is exact.
  return static_cast<float>(p.significand) *
         std::bit_cast<float>(static_cast<std::uint32_t>(127 + p.exponent - f.fraction_bits) << 23);
}

std::uint32_t f32_bits(float v) { return std::isnan(v) ? kNaN32 : std::bit_cast<std::uint32_t>(v); }

// Rounds to nearest, ties to even. A zero keeps its sign.
std::uint16_t f16_bits(float v) {
  if (std::isnan(v)) return kNaN16;
  const auto bits = std::bit_cast<std::uint32_t>(v);
  const auto sign = static_cast<std::uint16_t>(bits >> 16 & 0x8000);
  if (std::isinf(v)) return sign | 0x7c00;
  const Parts p = take_apart(bits, format_of(Type::kF32));
  return sign | (to_f16(p.significand, p.exponent - 23) & 0x7fff);
}

bool is_quad(const Operation& o) {
  return o.a == Type::kF16 && o.shape.m == 8 && o.shape.n == 8 && o.shape.k == 4;
}

// mma.m8n8k4 of f16 since Ampere does not use a matrix unit: ptxas compiles it to fused multiply-
// adds in f32. For an f16 result, two pairs are added to C; for f32, C is added to all four.
std::uint64_t quad_element(const Operation& o, const std::uint64_t* a, const std::uint64_t* b,
                           std::uint64_t c) {
  const float addend = f32_of(c, o.c);
  const auto factor = [&](int k) { return f32_of(a[k], o.a); };
  const auto fused = [&](int k, float sum) { return std::fmaf(factor(k), f32_of(b[k], o.b), sum); };
  const auto product = [&](int k) { return factor(k) * f32_of(b[k], o.b); };
  if (o.d == Type::kF16) return f16_bits((addend + fused(1, product(0))) + fused(3, product(2)));
  return f32_bits(fused(3, fused(2, fused(1, fused(0, 0)))) + addend);
}

// B for EightSums: factors of neighbouring columns side by side.
class SideBySide {
 public:
  SideBySide(const Factors& b, int n, int k, int products)
      : n_(n),
        k_(k),
        products_(products),
        values_(static_cast<std::size_t>(2 * n * k)),
        zeros_(static_cast<std::size_t>((k + products - 1) / products * n)) {
    std::int32_t *const significands = values_.data(), *const exponents = significands + n * k;
    for (int j = 0; j < n; ++j) {
      for (int at = 0; at < k; ++at) {
        significands[at * n + j] = b.significands[j * k + at];
        exponents[at * n + j] = b.exponents[j * k + at];
        if (b.significands[j * k + at] == 0)
          zeros_[static_cast<std::size_t>(at / products * n + j)] = ~0;
      }
    }
  }
  // Adds the products of a row with eight columns, from `j` on, chunk after chunk. False: one by
  // one; some of the accumulators have changed.
  bool add(const EightSums& sums, const Factors& row, int j, std::uint32_t* accumulators) const {
    constexpr std::int32_t kAll[8] = {~0, ~0, ~0, ~0, ~0, ~0, ~0, ~0};
    const std::int32_t *const significands = values_.data() + j, *const exponents =
                                                                     significands + n_ * k_;
    for (int at = 0; at < k_; at += products_) {
      const int count = std::min(products_, k_ - at);
      const std::int32_t* const factors = row.significands + at;
      const bool zero = std::find(factors, factors + count, 0) != factors + count;
      if (!sums.add(accumulators, {factors, row.exponents + at},
                    {significands + at * n_, exponents + at * n_}, n_, count,
                    zero ? kAll : zeros_.data() + at / products_ * n_ + j))
        return false;
    }
    return true;
  }

 private:
  const int n_, k_, products_;
  std::vector<std::int32_t> values_;  // significands, then exponents
  std::vector<std::int32_t> zeros_;   // of each chunk, and each column
};

// Computes D with a matrix unit.
void multiply_floats(const Operation& o, const std::uint64_t* a, const std::uint64_t* b,
                     const std::uint64_t* c, const std::uint8_t* columns, std::uint64_t* d) {
  const int n = o.shape.n, k = o.shape.k, stored = o.sparse ? k / 2 : k;
  // A warp's fp8 on Hopper, and on devices with tensor memory, uses two steps of the f16 unit:
  // first the products with k mod 4 equal to 0 or 1, then the others. C is added to the result.
  const bool through_f16 = isa::bits_of(o.a) == 8 && !o.warpgroup && o.compute_capability >= 90 &&
                           o.compute_capability < 120;
  // If C and D have different types, the unit works in f32: C is converted before, or the result
  // after.
  const Type type = o.c == o.d ? o.d : Type::kF32;
  // mma.m8n8k4 on Turing behaves as on Volta.
  const int generation = is_quad(o) ? 70 : o.compute_capability;
  const Unit unit = unit_of(generation, through_f16 ? Type::kF16 : o.a, type);
  const Sum sum(unit, type);
  const int product_bits =
      through_f16 ? 20 : format_of(o.a).fraction_bits + format_of(o.b).fraction_bits;
  const int products = o.products == 0 ? unit.products : std::min(unit.products, o.products);

  const Format of_a = format_of(o.a), of_b = format_of(o.b);
  const auto part = [&](std::uint64_t bits, const Format& f) {
    return through_f16 ? widened(bits, f) : take_apart(bits, f);
  };
  const auto scaled_part = [&](std::uint64_t bits, const Format& f, const std::int16_t* scales,
                               int line) {
    Parts p = part(bits, f);
    if (scales == nullptr) return p;
    if (scales[line] == Operation::kNotANumber) p.kind = Parts::Class::kNaN;
    p.exponent += scales[line];
    return p;
  };
  FactorArrays bs(static_cast<std::size_t>(n * k));
  if (!through_f16 && o.column_scales == nullptr) {
    bs.set_all(b, n * k, of_b);
  } else {
    for (int at = 0; at < n * k; ++at)
      bs.set(at, scaled_part(b[at], of_b, o.column_scales, at / k));
  }
  std::array<bool, kMaxN> finite_columns;
  for (int j = 0; j < n; ++j) finite_columns[static_cast<std::size_t>(j)] = bs.all_finite(j * k, k);
  // The elements of A in the order of the sum, each with its row of B.
  int order[kMaxK];
  for (int at = 0; at < stored; ++at) order[at] = at;
  if (through_f16)
    std::stable_partition(order, order + stored, [](int at) { return (at & 2) == 0; });
  const bool in_order = !o.sparse && !through_f16;
  const int step = through_f16 ? stored / 2 : stored;  // chunks do not extend beyond a step

  const auto addend_of = [&](int at) {
    return static_cast<std::uint32_t>(o.c == type ? c[at] : f32_bits(f32_of(c[at], o.c)));
  };
  const auto result_of = [&](std::uint32_t sum) {
    return o.d == type ? sum : f16_bits(f32_of(sum, type));
  };
  std::optional<SideBySide> side_by_side;
  if (type == Type::kF32 && in_order && n % 8 == 0 && EightSums::knows(unit, product_bits))
    side_by_side.emplace(bs.from(0), n, k, products);
  const EightSums eight_sums(unit, product_bits);
  // Eight elements of row i from column j on; false: one by one.
  const auto add_eight = [&](const Factors& row, int i, int j) {
    if (!std::all_of(finite_columns.begin() + j, finite_columns.begin() + j + 8,
                     [](bool finite) { return finite; }))
      return false;
    std::uint32_t accumulators[8];
    for (int e = 0; e < 8; ++e) accumulators[e] = addend_of(i * n + j + e);
    if (!side_by_side->add(eight_sums, row, j, accumulators)) return false;
    for (int e = 0; e < 8; ++e) d[i * n + j + e] = result_of(accumulators[e]);
    return true;
  };

  FactorArrays row(static_cast<std::size_t>(stored)), chosen(static_cast<std::size_t>(stored));
  for (int i = 0; i < o.shape.m; ++i) {
    if (!through_f16 && o.row_scales == nullptr) {
      row.set_all(a + i * stored, stored, of_a);
    } else {
      for (int at = 0; at < stored; ++at)
        row.set(at, scaled_part(a[i * stored + order[at]], of_a, o.row_scales, i));
    }
    const bool finite_row = row.all_finite(0, stored);
    bool added = false;
    for (int j = 0; j < n; ++j) {
      if (j % 8 == 0) added = side_by_side && finite_row && add_eight(row.from(0), i, j);
      if (added) continue;
      Factors column = bs.from(j * k);
      if (!in_order) {
        for (int at = 0; at < stored; ++at)
          chosen.copy(at, column, o.sparse ? columns[i * stored + order[at]] : order[at]);
        column = chosen.from(0);
      }
      const bool finite = finite_row && finite_columns[static_cast<std::size_t>(j)];
      std::uint64_t accumulator = through_f16 ? 0 : addend_of(i * n + j);
      for (int from = 0; from < stored; from += step) {
        for (int at = from; at < from + step; at += products) {
          accumulator = sum.chunk(accumulator, row.from(at), column.from(at),
                                  std::min(products, from + step - at), product_bits, finite);
        }
      }
      if (through_f16) {
        const float whole = f32_of(accumulator, type) + f32_of(c[i * n + j], o.c);
        accumulator = type == Type::kF16 ? f16_bits(whole) : f32_bits(whole);
      }
      d[i * n + j] = result_of(static_cast<std::uint32_t>(accumulator));
    }
  }
}

}  // namespace

void multiply(const Operation& o, const std::uint64_t* a, const std::uint64_t* b,
              const std::uint64_t* c, const std::uint8_t* columns, std::uint64_t* d) {
  if (is_integer(o.a)) return multiply_integers(o, a, b, c, columns, d);
  if (o.a != Type::kF64 && !(is_quad(o) && o.compute_capability >= 80))
    return multiply_floats(o, a, b, c, columns, d);
  const int n = o.shape.n, k = o.shape.k, before = std::fegetround();
  if (o.a == Type::kF64) std::fesetround(rounding_mode(o.rounding));
  for (int i = 0; i < o.shape.m; ++i) {
    for (int j = 0; j < n; ++j) {
      const std::uint64_t addend = c[i * n + j];
      d[i * n + j] = o.a == Type::kF64 ? double_element(a + i * k, b + j * k, addend, k)
                                       : quad_element(o, a + i * k, b + j * k, addend);
    }
  }
  std::fesetround(before);
}

}  // namespace lockstep::matrix
