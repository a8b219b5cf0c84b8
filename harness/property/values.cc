#include "harness/property/values.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>
#include <limits>
#include <numbers>
#include <stdexcept>
#include <type_traits>

namespace lockstep {
namespace {

constexpr std::pair<const char*, ValueKind> kKinds[] = {
    // In the order of shrinking: what a person understands at once comes first.
    {"zero", ValueKind::kZero},       {"one", ValueKind::kOne},
    {"index", ValueKind::kIndex},     {"integers", ValueKind::kSmallIntegers},
    {"uniform", ValueKind::kUniform}, {"mixed", ValueKind::kMixed},
    {"wide", ValueKind::kWide},       {"special", ValueKind::kSpecial},
};

bool has_seed(ValueKind k) {
  return k != ValueKind::kZero && k != ValueKind::kOne && k != ValueKind::kIndex;
}

// A floating-point format by its fields. `Bits` is the unsigned type of the same size.
template <class T>
struct Format;
template <>
struct Format<float> {
  using Bits = std::uint32_t;
  static constexpr int kMantissa = 23, kExponent = 8;
};
template <>
struct Format<double> {
  using Bits = std::uint64_t;
  static constexpr int kMantissa = 52, kExponent = 11;
};
template <>
struct Format<Half> {
  using Bits = std::uint16_t;
  static constexpr int kMantissa = 10, kExponent = 5;
};

template <class T>
constexpr bool kIsFloat =
    std::is_same_v<T, float> || std::is_same_v<T, double> || std::is_same_v<T, Half>;

template <class T>
inline T from_double(double x) {
  if constexpr (std::is_same_v<T, Half>) {
    return to_half(x);
  } else {
    return static_cast<T>(x);
  }
}

template <class T>
std::vector<T> make_specials() {
  std::vector<T> out;
  const auto add = [&](T v) {
    const auto same = [&](const T& known) { return std::memcmp(&known, &v, sizeof(T)) == 0; };
    if (std::none_of(out.begin(), out.end(), same)) out.push_back(v);
  };
  if constexpr (kIsFloat<T>) {
    using F = Format<T>;
    using B = typename F::Bits;
    const auto add_bits = [&](std::uint64_t magnitude) {
      constexpr B kSign = static_cast<B>(B{1} << (F::kMantissa + F::kExponent));
      add(std::bit_cast<T>(static_cast<B>(magnitude)));
      add(std::bit_cast<T>(static_cast<B>(magnitude | kSign)));
    };
    constexpr std::uint64_t kMin = std::uint64_t{1} << F::kMantissa;  // the least normal
    constexpr std::uint64_t kInfinity = ((std::uint64_t{1} << F::kExponent) - 1) << F::kMantissa,
                            kQuiet = kMin / 2;
    constexpr int kBias = (1 << (F::kExponent - 1)) - 1;
    const std::uint64_t subnormals[] = {
        0, 1, 2, 3, kMin / 4, kMin / 2 - 1, kMin / 2, kMin / 2 + 1, kMin - 2, kMin - 1};
    const std::uint64_t ends[] = {kMin,          kMin + 1,      2 * kMin, kInfinity - kMin,
                                  kInfinity - 2, kInfinity - 1, kInfinity};
    const std::uint64_t quiet_nans[] = {kInfinity | kQuiet, kInfinity | kQuiet | 1,
                                        kInfinity | (kMin - 1)};
    const std::uint64_t signalling_nans[] = {kInfinity | 1, kInfinity | (kQuiet - 1)};
    for (std::uint64_t magnitude : subnormals) add_bits(magnitude);
    for (std::uint64_t magnitude : ends) add_bits(magnitude);
    for (std::uint64_t magnitude : quiet_nans) add_bits(magnitude);
    for (std::uint64_t magnitude : signalling_nans) add_bits(magnitude);
    // Powers of two and their neighbours: near 1, where the last bit of the significand weighs 1,
    // and where integers end.
    constexpr int kM = F::kMantissa;
    for (int exponent :
         {-3, -2, -1, 0, 1, 2, 3, kM - 1, kM, kM + 1, -kM, -kM - 1, 7, 8, 15, 16, 31, 32, 63, 64}) {
      if (exponent + kBias < 1 || exponent + kBias > 2 * kBias) continue;
      const std::uint64_t power = static_cast<std::uint64_t>(exponent + kBias) << kM;
      for (std::uint64_t magnitude : {power - 1, power, power + 1}) add_bits(magnitude);
    }
    namespace num = std::numbers;
    const double constants[] = {1.5,
                                2.5,
                                3.0,
                                5.0,
                                7.0,
                                10.0,
                                100.0,
                                255.5,
                                1000.0,
                                0.1,
                                1.0 / 3,
                                num::pi,
                                num::pi / 2,
                                num::pi / 4,
                                num::e,
                                num::ln2,
                                num::sqrt2,
                                65504,
                                0x1.fffffep+127,
                                0x1p-126};
    const double exp_limits[] = {88.72283,
                                 103.97208};  // where expf overflows and, negated, underflows
    for (double x : constants) add_bits(std::bit_cast<B>(from_double<T>(x)));
    for (double x : exp_limits) add_bits(std::bit_cast<B>(from_double<T>(x)));
  } else {
    using L = std::numeric_limits<T>;
    for (int d = 0; d <= 2; ++d) {
      add(static_cast<T>(L::min() + d));
      add(static_cast<T>(L::max() - d));
      add(static_cast<T>(d));
      add(static_cast<T>(0 - d));
    }
    for (int k = 2; k < L::digits; ++k) {
      for (int d = -1; d <= 1; ++d) {
        const T v = static_cast<T>((std::uint64_t{1} << k) + static_cast<std::uint64_t>(d));
        add(v);
        add(static_cast<T>(std::uint64_t{0} - static_cast<std::uint64_t>(v)));
      }
    }
    for (std::uint64_t pattern : {0x5555555555555555u, 0xaaaaaaaaaaaaaaaau, 0x0123456789abcdefu})
      add(static_cast<T>(pattern));
  }
  return out;
}

template <class T>
inline T uniform_value(std::uint64_t word) {
  if constexpr (kIsFloat<T>) {
    // A grid on which every format is exact, and which includes zero and both ends.
    constexpr int kGrid = std::is_same_v<T, Half> ? 10 : 23;
    constexpr std::int64_t kSteps = std::int64_t{1} << kGrid;
    const std::int64_t step =
        static_cast<std::int64_t>((static_cast<unsigned __int128>(word) * (2 * kSteps + 1)) >> 64) -
        kSteps;
    return from_double<T>(static_cast<double>(step) / static_cast<double>(kSteps));
  } else {
    constexpr std::int64_t kHi = std::numeric_limits<T>::digits < 10
                                     ? static_cast<std::int64_t>(std::numeric_limits<T>::max())
                                     : 1000;
    constexpr std::int64_t kLo = std::is_signed_v<T> ? -kHi : 0;
    return static_cast<T>(kLo +
                          static_cast<std::int64_t>((static_cast<unsigned __int128>(word) *
                                                     static_cast<std::uint64_t>(kHi - kLo + 1)) >>
                                                    64));
  }
}

template <class T>
inline T wide_value(std::uint64_t word) {
  if constexpr (kIsFloat<T>) {
    using F = Format<T>;
    // The exponent is from the high bits of the word; sign and significand are from a second,
    // independent mixing.
    constexpr std::uint64_t kNormals = (std::uint64_t{1} << F::kExponent) - 2;
    const std::uint64_t exponent =
        1 + static_cast<std::uint64_t>((static_cast<unsigned __int128>(word) * kNormals) >> 64);
    const std::uint64_t rest = mix(word + kSplitMixStep);
    const std::uint64_t mantissa = rest & ((std::uint64_t{1} << F::kMantissa) - 1),
                        sign = rest >> 63;
    using B = typename F::Bits;
    return std::bit_cast<T>(
        static_cast<B>((((sign << F::kExponent) | exponent) << F::kMantissa) | mantissa));
  } else {
    constexpr std::uint64_t kWidth = sizeof(T) * 8;
    const std::uint64_t width =
        static_cast<std::uint64_t>((static_cast<unsigned __int128>(word) * (kWidth + 1)) >> 64);
    const std::uint64_t rest = mix(word + kSplitMixStep);
    if (width == 0) return T{0};
    const std::uint64_t magnitude = (rest >> (64 - width)) | (std::uint64_t{1} << (width - 1));
    const bool negate = std::is_signed_v<T> && (mix(rest) & 1);
    return static_cast<T>(negate ? std::uint64_t{0} - magnitude : magnitude);
  }
}

template <class T>
inline T value_at(ValueKind kind, std::uint64_t word, std::uint64_t i,
                  std::span<const T> specials) {
  constexpr std::uint64_t kModulus = sizeof(T) < 4 ? 64 : 1024;
  switch (kind) {
    case ValueKind::kZero: return T{};
    case ValueKind::kOne: return from_double<T>(1);
    case ValueKind::kIndex: return from_double<T>(static_cast<double>(i % kModulus));
    case ValueKind::kSmallIntegers: {
      const int nine = static_cast<int>((static_cast<unsigned __int128>(word) * 9) >> 64);
      constexpr bool kUnsigned = !kIsFloat<T> && std::is_unsigned_v<T>;
      return from_double<T>(kUnsigned ? nine : nine - 4);
    }
    case ValueKind::kUniform: return uniform_value<T>(word);
    case ValueKind::kWide: return wide_value<T>(word);
    case ValueKind::kMixed:
      if (word & 3) return uniform_value<T>(mix(word));
      word = mix(word);
      [[fallthrough]];
    case ValueKind::kSpecial:
      return specials[static_cast<std::size_t>(
          (static_cast<unsigned __int128>(word) * specials.size()) >> 64)];
  }
  throw std::invalid_argument("make_values: no such kind");
}

}  // namespace

Domain<Values> values_of(std::vector<ValueKind> kinds) {
  if (kinds.empty()) throw std::invalid_argument("values_of: no kind given");
  std::vector<std::pair<std::string, ValueKind>> named;
  std::string describe = "one of ";
  for (const auto& [text, kind] : kKinds) {
    if (std::find(kinds.begin(), kinds.end(), kind) == kinds.end()) continue;
    describe += (named.empty() ? "" : ", ") + std::string(text) + (has_seed(kind) ? ":SEED" : "");
    named.emplace_back(text, kind);
  }
  const auto draw = [kinds](Bits& bits) {
    // Short seeds are easy to read, and no case needs more than a few million of them.
    Values v{kinds[bits.below(kinds.size())], bits.below(1'000'000)};
    if (!has_seed(v.kind)) v.seed = 0;
    return v;
  };
  const auto simpler = [named](const Values& v) {
    std::vector<Values> out;
    for (const auto& [text, kind] : named) {
      if (kind == v.kind) break;
      out.push_back({kind, 0});
    }
    for (std::uint64_t seed = 0; has_seed(v.kind) && seed < std::min<std::uint64_t>(v.seed, 8);
         ++seed)
      out.push_back({v.kind, seed});
    return out;
  };
  Domain<Values> d{gen_by<Values>(draw, simpler)};
  d.describe = [describe = std::move(describe)] { return describe; };
  d.print = [](const Values& v) {
    for (const auto& [text, kind] : kKinds) {
      if (kind == v.kind)
        return has_seed(kind) ? std::string(text) + ":" + std::to_string(v.seed)
                              : std::string(text);
    }
    return std::string("?");
  };
  d.parse = [named](std::string_view text, Values& v) {
    const std::size_t colon = text.find(':');
    for (const auto& [known, kind] : named) {
      if (text.substr(0, colon) != known) continue;
      v = {kind, 0};
      if (!has_seed(kind)) return colon == std::string_view::npos;
      return colon != std::string_view::npos && parse_integer(text.substr(colon + 1), v.seed);
    }
    return false;
  };
  return d;
}

template <class T>
std::span<const T> special_values() {
  static const std::vector<T> kSpecials = make_specials<T>();
  return kSpecials;
}

template <class T>
std::vector<T> make_values(const Values& v, std::size_t n, std::uint64_t stream) {
  std::vector<T> out(n);
  const std::span<const T> specials = special_values<T>();
  const std::uint64_t key =
      mix(v.seed + mix(stream * kSplitMixStep + static_cast<std::uint64_t>(v.kind) + 1));
  for (std::size_t i = 0; i < n; ++i)
    out[i] = value_at<T>(v.kind, mix(key + i * kSplitMixStep), i, specials);
  return out;
}

#define LOCKSTEP_VALUES_OF(T)                      \
  template std::span<const T> special_values<T>(); \
  template std::vector<T> make_values<T>(const Values&, std::size_t, std::uint64_t);
LOCKSTEP_VALUES_OF(float)
LOCKSTEP_VALUES_OF(double)
LOCKSTEP_VALUES_OF(Half)
LOCKSTEP_VALUES_OF(std::int8_t)
LOCKSTEP_VALUES_OF(std::uint8_t)
LOCKSTEP_VALUES_OF(std::int16_t)
LOCKSTEP_VALUES_OF(std::uint16_t)
LOCKSTEP_VALUES_OF(std::int32_t)
LOCKSTEP_VALUES_OF(std::uint32_t)
LOCKSTEP_VALUES_OF(std::int64_t)
LOCKSTEP_VALUES_OF(std::uint64_t)
LOCKSTEP_VALUES_OF(long long)
LOCKSTEP_VALUES_OF(unsigned long long)
#undef LOCKSTEP_VALUES_OF

}  // namespace lockstep
