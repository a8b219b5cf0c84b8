// cvt with fp6, fp4 and ue8m0, and of four values at once, compared with a search over all values
// of the format.
#include <gtest/gtest.h>

#include <bit>
#include <cmath>

#include "simulator/coverage/judged.h"
#include "simulator/engine/ops/alu/alu_test_values.h"

namespace lockstep::engine::alu_test {
namespace {

// Of a normal number of f64. A search asks for it at each step: std::ldexp would take most of the
// time.
double two_to_the(int e) { return std::bit_cast<double>(static_cast<Bits>(e + 1023) << 52); }

// A format of `bits` bits including the sign. All codes up to `largest` are finite numbers.
struct Narrow {
  std::string name;
  int bits, fraction, bias;
  Bits largest, nan;
  int register_bytes;  // of a pair
  int place() const { return bits == 4 ? 4 : 8; }
  double value(Bits code) const {
    const Bits magnitude = code & ((Bits{1} << (bits - 1)) - 1);
    const int e = static_cast<int>(magnitude >> fraction);
    const double f = static_cast<double>(magnitude & ((1u << fraction) - 1));
    const double v = e == 0 ? f * two_to_the(1 - bias - fraction)
                            : (f + (1 << fraction)) * two_to_the(e - bias - fraction);
    return code >> (bits - 1) != 0 ? -v : v;
  }
  // The largest code whose value is not above a magnitude within range.
  Bits below(double magnitude) const {
    Bits code = 0;
    while (code < largest && value(code + 1) <= magnitude) ++code;
    return code;
  }
  Bits nearest(float v) const {
    if (std::isnan(v)) return nan;
    const Bits sign = std::signbit(v) ? Bits{1} << (bits - 1) : 0;
    const double magnitude = std::fabs(static_cast<double>(v));
    if (magnitude >= value(largest)) return sign | largest;
    const Bits low = below(magnitude);
    const double down = magnitude - value(low), up = value(low + 1) - magnitude;
    return sign | (up < down || (up == down && low % 2 == 1) ? low + 1 : low);
  }
  // Stochastic rounding with a random byte, in 256ths of the distance between two codes.
  Bits stochastic(float v, Bits random) const {
    if (std::isnan(v)) return nan;
    const Bits sign = std::signbit(v) ? Bits{1} << (bits - 1) : 0;
    const double magnitude = std::fabs(static_cast<double>(v));
    if (magnitude >= value(largest)) return sign | largest;
    const Bits low = below(magnitude);
    const double part = (magnitude - value(low)) / (value(low + 1) - value(low));
    const Bits steps = static_cast<Bits>(part * 256);
    return sign | (steps + random >= 256 ? low + 1 : low);
  }
};

const Narrow kE2M3{"e2m3", 6, 3, 1, 0x1f, 0x1f, 2}, kE3M2{"e3m2", 6, 2, 3, 0x1f, 0x1f, 2},
    kE2M1{"e2m1", 4, 1, 1, 0x7, 0x7, 1}, kE4M3{"e4m3", 8, 3, 7, 0x7e, 0x7f, 2},
    kE5M2{"e5m2", 8, 2, 15, 0x7b, 0x7f, 2};

float as_float(Bits b) { return std::bit_cast<float>(static_cast<std::uint32_t>(b)); }
Bits as_bits(float v) { return std::bit_cast<std::uint32_t>(v); }
float rectified(float v, bool relu) { return relu && !(v > 0) && !std::isnan(v) ? 0.0f : v; }

// The format's values, their midpoints, and numbers next to both, with both signs.
std::vector<Bits> values_near(const Narrow& f) {
  std::vector<Bits> v = special_f32();
  for (Bits code = 0; code < f.largest; ++code) {
    const auto a = static_cast<float>(f.value(code)), b = static_cast<float>(f.value(code + 1));
    for (const float x : {a, (a + b) / 2, b}) {
      for (const float y : {x, std::nextafter(x, 1e9f), std::nextafter(x, -1e9f)}) {
        v.push_back(as_bits(y));
        v.push_back(as_bits(-y));
      }
    }
  }
  return v;
}

JUDGES(ConvertNarrow, PairsOfSixAndFourBits, "cvt.rn.satfinite.e2m3x2.f32",
       "cvt.rn.satfinite.e2m1x2.f32", "cvt.rn.satfinite.e2m1x2.f16x2", "cvt.rn.f16x2.e3m2x2",
       "cvt.rn.f16x2.e2m1x2");
TEST(ConvertNarrow, PairsOfSixAndFourBits) {
  Options few;
  few.random = 2000;
  for (const Narrow& f : {kE2M3, kE3M2, kE2M1}) {
    const auto near = values_near(f);
    for (const bool relu : {false, true}) {
      const std::string end = std::string(relu ? ".relu" : "") + "." + f.name + "x2";
      check(
          {"cvt.rn.satfinite" + end + ".f32", {f.register_bytes, 4, 4}}, {near, near},
          [&](const Bits* in) {
            return f.nearest(rectified(as_float(in[0]), relu)) << f.place() |
                   f.nearest(rectified(as_float(in[1]), relu));
          },
          few);
      const Bits mask = (Bits{1} << f.bits) - 1;
      check({"cvt.rn" + std::string(relu ? ".relu" : "") + ".f16x2." + f.name + "x2",
             {4, f.register_bytes}},
            {special_int(f.register_bytes)}, [&](const Bits* in) {
              const auto half = [&](Bits code) {
                const auto v = static_cast<float>(f.value(code));
                return exact::encode(exact::decode(as_bits(rectified(v, relu)), exact::kF32),
                                     exact::kF16, exact::Direction::kNearestEven);
              };
              return half(in[0] >> f.place() & mask) << 16 | half(in[0] & mask);
            });
    }
  }
  std::vector<Bits> halves;
  for (Bits h = 0; h < 65536; ++h) halves.push_back(h << 16 | (h * 40503 & 0xffff));
  for (const bool relu : {false, true}) {
    check({"cvt.rn.satfinite" + std::string(relu ? ".relu" : "") + ".e2m1x2.f16x2", {1, 4}},
          {halves}, [&](const Bits* in) {
            const auto element = [&](Bits half) {
              const Bits wide = exact::encode(exact::decode(half & 0xffff, exact::kF16),
                                              exact::kF32, exact::Direction::kZero);
              return kE2M1.nearest(rectified(as_float(wide), relu));
            };
            return element(in[0] >> 16) << 4 | element(in[0]);
          });
  }
}

// The power of two next to |v|, or NaN; the smallest is 2^-127.
Bits exponent_of(float v, bool up, bool finite) {
  if (std::isnan(v)) return 0xff;
  const double magnitude = std::fabs(static_cast<double>(v));
  for (int e = -127; e <= 127; ++e) {
    const double here = two_to_the(e);
    if (up ? here >= magnitude : 2 * here > magnitude) return static_cast<Bits>(e + 127);
  }
  return finite ? 0xfe : 0xff;
}

JUDGES(ConvertNarrow, PowersOfTwo, "cvt.rp.ue8m0x2.f32", "cvt.rz.satfinite.ue8m0x2.bf16x2",
       "cvt.rn.bf16x2.ue8m0x2");
TEST(ConvertNarrow, PowersOfTwo) {
  std::vector<Bits> near = special_f32();
  for (int e = -149; e <= 127; ++e) {
    const auto v = static_cast<float>(std::ldexp(1.0, e));
    for (const float x : {v, std::nextafter(v, 0.0f), std::nextafter(v, HUGE_VALF)}) {
      near.push_back(as_bits(x));
      near.push_back(as_bits(-x));
    }
  }
  const std::vector<Bits> beside = {0, 0x80000001, 0x3f800000, 0xc0490fdb, 0x7f7fffff, 0x7fc00000};
  std::vector<Bits> every;
  for (Bits h = 0; h < 65536; ++h) every.push_back(h << 16 | (h * 40503 & 0xffff));
  Options few;
  few.random = 2000;
  for (const bool up : {false, true}) {
    for (const bool finite : {false, true}) {
      const std::string start =
          std::string("cvt") + (up ? ".rp" : ".rz") + (finite ? ".satfinite" : "") + ".ue8m0x2";
      const auto two = [&](const Bits* in) {
        return exponent_of(as_float(in[0]), up, finite) << 8 |
               exponent_of(as_float(in[1]), up, finite);
      };
      // Every value in each half, with few values in the other.
      check({start + ".f32", {2, 4, 4}}, {near, beside}, two, few);
      check({start + ".f32", {2, 4, 4}}, {beside, near}, two, few);
      check({start + ".bf16x2", {2, 4}}, {every}, [&](const Bits* in) {
        return exponent_of(as_float(in[0] & 0xffff0000), up, finite) << 8 |
               exponent_of(as_float(in[0] << 16), up, finite);
      });
    }
  }
  check({"cvt.rn.bf16x2.ue8m0x2", {4, 2}}, {special_int(2)}, [&](const Bits* in) {
    const auto power = [](Bits e) -> Bits {
      return e == 255
                 ? 0x7fff
                 : as_bits(static_cast<float>(std::ldexp(1.0, static_cast<int>(e) - 127))) >> 16;
    };
    return power(in[0] >> 8 & 255) << 16 | power(in[0] & 255);
  });
}

JUDGES(ConvertNarrow, FourWithRandomBits, "cvt.rs.satfinite.e4m3x4.f32");
TEST(ConvertNarrow, FourWithRandomBits) {
  const std::vector<Bits> random = {0,          0xffffffff, 0x01020408, 0x80402010, 0x7f7f7f7f,
                                    0x80808080, 0x00ff00ff, 0xff00ff00, 0x12345678};
  Options few;
  few.random = 3000;
  for (const Narrow& f : {kE4M3, kE5M2, kE2M3, kE3M2, kE2M1}) {
    std::vector<Bits> near, all = values_near(f);
    for (std::size_t i = 0; i < all.size(); i += 1 + all.size() / 100) near.push_back(all[i]);
    for (const bool relu : {false, true}) {
      const std::string text =
          std::string("cvt.rs") + (relu ? ".relu" : "") + ".satfinite." + f.name + "x4.f32";
      check(
          {text, {f.bits == 4 ? 2 : 4, 4, 4, 4, 4, 4}}, {near, near, near, near, random},
          [&](const Bits* in) {
            Bits r = 0;
            for (int n = 0; n < 4; ++n) {
              const float v = rectified(as_float(in[n]), relu);
              r = r << f.place() | f.stochastic(v, in[4] >> (8 * (3 - n)) & 255);
            }
            return r;
          },
          few);
    }
  }
}

}  // namespace
}  // namespace lockstep::engine::alu_test
