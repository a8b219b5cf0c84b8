// f16 and bf16, scalar and packed: arithmetic, comparisons and conversions, compared with exact
// values rounded once.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "simulator/coverage/judged.h"
#include "simulator/engine/ops/alu/alu_test_values.h"

namespace lockstep::engine::alu_test {
namespace {

using exact::Direction;
using exact::Format;
using exact::Number;

struct HalfType {
  std::string name;
  Format format;
  const std::vector<Bits>& specials;
  bool is_f16;
};
std::vector<HalfType> half_types() {
  return {{"f16", exact::kF16, special_f16(), true}, {"bf16", exact::kBF16, special_bf16(), false}};
}

// Pairs of special values: each value in either half.
std::vector<Bits> packed(const std::vector<Bits>& v) {
  std::vector<Bits> pairs;
  for (std::size_t i = 0; i < v.size(); ++i)
    pairs.push_back(v[i] << 16 | v[(i * 31 + 7) % v.size()]);
  return pairs;
}

// Checks an operation on one element in its scalar and in its packed form.
void check_both(const std::string& opcode, const HalfType& t, int sources,
                const Reference& element) {
  Options few;
  few.random = 5000;
  check({opcode + "." + t.name, std::vector<int>(sources + 1, 2)},
        std::vector<std::vector<Bits>>(sources, t.specials), element, few);
  check(
      {opcode + "." + t.name + "x2", std::vector<int>(sources + 1, 4)},
      std::vector<std::vector<Bits>>(sources, packed(t.specials)),
      [&](const Bits* in) {
        Bits low[4], high[4];
        for (int i = 0; i < sources; ++i) low[i] = in[i] & 0xffff, high[i] = in[i] >> 16;
        return element(high) << 16 | (element(low) & 0xffff);
      },
      few);
}

Bits rectified(Bits r, const Format& f) {
  return exact::is_nan_bits(r, f) ? f.canonical_nan : r & f.sign_bit() ? 0 : r;
}
Bits finite(Bits r, const Format& f) { return (r & ~f.sign_bit()) == f.infinity() ? r - 1 : r; }

JUDGES(Half, ArithmeticIsRoundedOnce, "add.rn.bf16", "add.rn.f16", "fma.rn.relu.f16", "fma.rn.f16",
       "fma.rn.bf16", "mul.rn.bf16", "mul.rn.f16", "sub.rn.bf16", "sub.rn.f16");
TEST(Half, ArithmeticIsRoundedOnce) {
  const Direction rn = Direction::kNearestEven;
  for (const auto& t : half_types()) {
    for (bool ftz : {false, true}) {
      for (const std::string end : {"", ".sat", ".relu"}) {
        if (!t.is_f16 && (ftz || end == ".sat")) continue;
        auto finish = [&, ftz, end](const Number& n) {
          const Bits r =
              ftz ? exact::encode_flushed(n, t.format, rn) : exact::encode(n, t.format, rn);
          return end == ".sat"    ? saturated(r, t.format)
                 : end == ".relu" ? rectified(r, t.format)
                                  : r;
        };
        auto operand = [&, ftz](Bits b) {
          return exact::decode(ftz ? exact::flush(b, t.format) : b, t.format);
        };
        const std::string m = std::string(ftz ? ".ftz" : "") + end;
        check_both("fma.rn" + m, t, 3, [&](const Bits* in) {
          return finish(
              exact::add(exact::multiply(operand(in[0]), operand(in[1])), operand(in[2]), rn));
        });
        if (end == ".relu") continue;
        check_both("add.rn" + m, t, 2, [&](const Bits* in) {
          return finish(exact::add(operand(in[0]), operand(in[1]), rn));
        });
        check_both("sub.rn" + m, t, 2, [&](const Bits* in) {
          return finish(exact::add(operand(in[0]), exact::negate(operand(in[1])), rn));
        });
        check_both("mul.rn" + m, t, 2, [&](const Bits* in) {
          return finish(exact::multiply(operand(in[0]), operand(in[1])));
        });
      }
    }
  }
}

// As on an H100: factors with the bits 7ff7 or fff7 count as out of bounds; an addend never does.
JUDGES(Half, AnOutOfBoundsFactorMakesAMultiplyAddZero, "fma.rn.oob.f16");
TEST(Half, AnOutOfBoundsFactorMakesAMultiplyAddZero) {
  for (const auto& t : half_types()) {
    std::vector<Bits> specials = t.specials;
    for (Bits b : {0x7ff6, 0x7ff7, 0x7ff8, 0xfff6, 0xfff7, 0xfff8}) specials.push_back(b);
    const HalfType with_neighbours{t.name, t.format, specials, t.is_f16};
    for (bool relu : {false, true}) {
      check_both(relu ? "fma.rn.oob.relu" : "fma.rn.oob", with_neighbours, 3,
                 [&](const Bits* in) -> Bits {
                   for (int i = 0; i < 2; ++i) {
                     if (in[i] == 0x7ff7 || in[i] == 0xfff7) return 0;
                   }
                   const auto number = [&](Bits b) { return exact::decode(b, t.format); };
                   const Number n = exact::add(exact::multiply(number(in[0]), number(in[1])),
                                               number(in[2]), Direction::kNearestEven);
                   const Bits r = exact::encode(n, t.format, Direction::kNearestEven);
                   return relu ? rectified(r, t.format) : r;
                 });
    }
  }
}

JUDGES(Half, MinimumMaximumAndSigns, "abs.bf16", "abs.f16", "max.bf16", "max.xorsign.abs.bf16",
       "max.f16", "max.xorsign.abs.f16", "min.bf16", "min.xorsign.abs.bf16", "min.f16",
       "min.xorsign.abs.f16", "neg.bf16", "neg.f16");
TEST(Half, MinimumMaximumAndSigns) {
  for (const auto& t : half_types()) {
    const Format f = t.format;
    const Bits sign_bit = f.sign_bit();
    for (int form = 0; form < 16; ++form) {
      const bool ftz = form & 1, nan = form & 2, xorsign = form & 4, smaller = form & 8;
      if (ftz && !t.is_f16) continue;
      check_both(
          std::string(smaller ? "min" : "max") + (ftz ? ".ftz" : "") + (nan ? ".NaN" : "") +
              (xorsign ? ".xorsign.abs" : ""),
          t, 2, [&](const Bits* in) {
            Bits a = ftz ? exact::flush(in[0], f) : in[0], b = ftz ? exact::flush(in[1], f) : in[1];
            const Bits sign = (a ^ b) & sign_bit;
            if (xorsign) a &= ~sign_bit, b &= ~sign_bit;
            const bool nan_a = exact::is_nan_bits(a, f), nan_b = exact::is_nan_bits(b, f);
            if ((nan_a && nan_b) || (nan && (nan_a || nan_b))) return f.canonical_nan;
            auto ordered = [&](Bits v) {
              return v & sign_bit ? -static_cast<long>(v & ~sign_bit) - 1 : static_cast<long>(v);
            };
            const Bits r = nan_a ? b : nan_b ? a : (ordered(a) < ordered(b)) == smaller ? a : b;
            return xorsign ? r | sign : r;
          });
    }
    for (bool ftz : {false, true}) {
      if (ftz && !t.is_f16) continue;
      auto of = [&, ftz](auto change) {
        return [&, ftz, change](const Bits* in) {
          return exact::is_nan_bits(in[0], f) ? f.canonical_nan
                                              : change(ftz ? exact::flush(in[0], f) : in[0]);
        };
      };
      check_both(ftz ? "abs.ftz" : "abs", t, 1, of([=](Bits v) { return v & ~sign_bit; }));
      check_both(ftz ? "neg.ftz" : "neg", t, 1, of([=](Bits v) { return v ^ sign_bit; }));
    }
  }
}

JUDGES(Half, ComparisonsOfEitherHalf, "set.eq.bf16.bf16", "set.eq.u32.bf16x2", "set.eq.u32.f16x2",
       "set.eq.f16.f16", "setp.eq.bf16", "setp.eq.bf16x2", "setp.eq.f16", "setp.eq.f16x2");
TEST(Half, ComparisonsOfEitherHalf) {
  for (const auto& t : half_types()) {
    for (const std::string op : {"eq", "ne", "lt", "le", "gt", "ge", "equ", "neu", "ltu", "leu",
                                 "gtu", "geu", "num", "nan"}) {
      auto holds = [&](Bits a, Bits b) {
        const int order = exact::compare(exact::decode(a, t.format), exact::decode(b, t.format));
        if (op == "num" || op == "nan") return (order == 2) == (op == "nan");
        if (order == 2) return op.size() == 3;
        const std::string o = op.substr(0, 2);
        return o == "eq"   ? order == 0
               : o == "ne" ? order != 0
               : o == "lt" ? order < 0
               : o == "le" ? order <= 0
               : o == "gt" ? order > 0
                           : order >= 0;
      };
      Options few;
      few.random = 500;
      check(
          {"setp." + op + "." + t.name, {0, 2, 2}}, {t.specials, t.specials},
          [&](const Bits* in) { return Bits{holds(in[0], in[1])}; }, few);
      const auto pairs = packed(t.specials);
      Options second = few;
      second.second = [&](const Bits* in) { return Bits{holds(in[0] >> 16, in[1] >> 16)}; };
      check(
          {"setp." + op + "." + t.name + "x2", {0, 4, 4}, true}, {pairs, pairs},
          [&](const Bits* in) { return Bits{holds(in[0] & 0xffff, in[1] & 0xffff)}; }, second);
      check(
          {"set." + op + ".u32." + t.name + "x2", {4, 4, 4}}, {pairs, pairs},
          [&](const Bits* in) {
            return (holds(in[0] >> 16, in[1] >> 16) ? 0xffff0000u : 0u) |
                   (holds(in[0] & 0xffff, in[1] & 0xffff) ? 0xffffu : 0u);
          },
          few);
      const Bits one = t.is_f16 ? 0x3c00 : 0x3f80;
      check(
          {"set." + op + "." + t.name + "." + t.name, {2, 2, 2}}, {t.specials, t.specials},
          [&](const Bits* in) { return holds(in[0], in[1]) ? one : 0; }, few);
    }
  }
}

JUDGES(Half, ConversionsFromF32, "cvt.f32.bf16", "cvt.rm.bf16.s64", "cvt.rm.bf16.f64",
       "cvt.rn.relu.f16.f32", "cvt.rn.f16.f32", "cvt.rn.bf16.f32", "cvt.rm.bf16.f32",
       "cvt.rn.f16x2.f32", "cvt.rm.f16.s64", "cvt.rm.f16.f64", "cvt.rmi.s32.bf16",
       "cvt.rmi.s32.f16", "cvt.f32.f16");
TEST(Half, ConversionsFromF32) {
  for (const auto& t : half_types()) {
    // f32 values around every rounding boundary of the half.
    std::vector<Bits> dense = special_f32();
    for (Bits h : t.specials) {
      const Bits w = exact::encode(exact::decode(h, t.format), exact::kF32, Direction::kZero);
      const Bits half_step = t.is_f16 ? 0x1000 : 0x8000;
      for (Bits d : {Bits{1}, ~Bits{0}, half_step, half_step + 1, half_step - 1})
        dense.push_back(w + d);
    }
    for (const auto& [word, d] : {std::pair<std::string, Direction>{".rn", Direction::kNearestEven},
                                  {".rz", Direction::kZero}}) {
      for (bool relu : {false, true}) {
        for (bool satfinite : {false, true}) {
          auto convert = [&, d = d](Bits b) {
            Bits r = exact::encode(exact::decode(b, exact::kF32), t.format, d);
            if (relu) r = rectified(r, t.format);
            return satfinite ? finite(r, t.format) : r;
          };
          const std::string start =
              "cvt" + word + (relu ? ".relu" : "") + (satfinite ? ".satfinite" : "") + ".";
          if (!t.is_f16 || relu || !satfinite)
            check({start + t.name + ".f32", {2, 4}}, {dense},
                  [&](const Bits* in) { return convert(in[0]); });
          check({start + t.name + "x2.f32", {4, 4, 4}}, {dense, special_f32()},
                [&](const Bits* in) { return convert(in[0]) << 16 | convert(in[1]); });
        }
      }
    }
    check({"cvt.f32." + t.name, {4, 2}}, {t.specials}, [&](const Bits* in) {
      return t.is_f16 ? exact::encode(exact::decode(in[0], t.format), exact::kF32, Direction::kZero)
                      : in[0] << 16;
    });
    for (const auto& [word, d] :
         {std::pair<std::string, Direction>{".rni", Direction::kNearestEven},
          {".rzi", Direction::kZero},
          {".rmi", Direction::kDown},
          {".rpi", Direction::kUp}}) {
      check({"cvt" + word + ".s32." + t.name, {4, 2}}, {t.specials},
            [&, d = d](const Bits* in) -> Bits {
              const Number n = exact::to_integral(exact::decode(in[0], t.format), d);
              if (n.is_nan()) return 0;
              if (n.is_infinite() || n.magnitude.bit_length() + n.exponent > 31)
                return n.negative ? 0x80000000u : 0x7fffffffu;
              const Bits m = n.magnitude.shifted_left(n.exponent).from_bit(0);
              return n.negative ? Bits{0} - m : m;
            });
    }
    for (const auto& [word, d] : {std::pair<std::string, Direction>{".rn", Direction::kNearestEven},
                                  {".rz", Direction::kZero},
                                  {".rm", Direction::kDown},
                                  {".rp", Direction::kUp}}) {
      // Beside the middle of two bf16: what is left of f64's last place decides.
      std::vector<Bits> integers = special_int(8);
      for (int top = 54; top < 63; ++top) {
        const Bits middle = Bits{1} << top | Bits{1} << (top - 8);
        integers.insert(integers.end(), {middle - 1, middle, middle + 1});
      }
      check({"cvt" + word + "." + t.name + ".s64", {2, 8}}, {integers}, [&, d = d](const Bits* in) {
        const bool negative = in[0] >> 63;
        return exact::encode(exact::integer(negative, negative ? Bits{0} - in[0] : in[0]), t.format,
                             d);
      });
      if (!t.is_f16 && (d == Direction::kDown || d == Direction::kUp)) {
        check({"cvt" + word + ".bf16.f32", {2, 4}}, {dense}, [&, d = d](const Bits* in) {
          return exact::encode(exact::decode(in[0], exact::kF32), t.format, d);
        });
      }
      check({"cvt" + word + "." + t.name + ".f64", {2, 8}}, {special_f64()},
            [&, d = d](const Bits* in) {
              const Number n = exact::decode(in[0], exact::kF64);
              if (!n.is_nan()) return exact::encode(n, t.format, d);
              return (in[0] >> 63) << 15 | t.format.infinity() |
                     Bits{1} << (t.format.precision - 2) |
                     (in[0] << 12 >> (64 - (t.format.precision - 1)));
            });
    }
  }
}

// The exact value plus the random fraction of its last place, truncated; a sum past the format's
// range is infinite.
JUDGES(Half, StochasticRoundingAddsTheRandomBits, "cvt.rs.f16x2.f32");
TEST(Half, StochasticRoundingAddsTheRandomBits) {
  for (const auto& t : half_types()) {
    const Format& f = t.format;
    const int dropped = 24 - f.precision, lowest = 1 - f.bias();
    auto convert = [&](Bits b, Bits random) {
      const Number x = exact::decode(b, exact::kF32);
      if (x.is_nan() || x.is_infinite()) return exact::encode(x, f, Direction::kZero);
      const int leading = x.magnitude.is_zero()
                              ? lowest
                              : std::max(lowest, x.exponent + x.magnitude.bit_length() - 1);
      const Number fraction{Number::Class::kFinite, x.negative,
                            exact::Natural(random & ((1u << dropped) - 1)),
                            leading - (f.precision - 1) - dropped};
      const Number sum = exact::add(x, fraction, Direction::kZero);
      if (sum.magnitude.bit_length() + sum.exponent > f.bias() + 1)
        return exact::encode(exact::infinite(x.negative), f, Direction::kZero);
      const Bits r = exact::encode(sum, f, Direction::kZero);
      return (r & ~f.sign_bit()) | (b >> 31) << 15;
    };
    std::vector<Bits> dense = special_f32();
    for (Bits h : t.specials) {
      const Bits w = exact::encode(exact::decode(h, f), exact::kF32, Direction::kZero);
      for (Bits d : {Bits{1}, ~Bits{0}, Bits{0x1000}, Bits{0x8000}})
        dense.push_back((w + d) & 0xffffffff);
    }
    const std::vector<Bits> random = {0,          1,          0x1fff,     0x2000,     0xffff,
                                      0x10000,    0x1fff0000, 0x20000000, 0x1fff1fff, 0xe000e000,
                                      0xffffffff, 0x0fff1000, 0x80008000};
    for (bool relu : {false, true}) {
      for (bool satfinite : {false, true}) {
        auto finish = [&](Bits r) {
          if (relu) r = rectified(r, f);
          return satfinite ? finite(r, f) : r;
        };
        const std::string text = std::string("cvt.rs") + (relu ? ".relu" : "") +
                                 (satfinite ? ".satfinite" : "") + "." + t.name + "x2.f32";
        check({text, {4, 4, 4, 4}}, {dense, special_f32(), random}, [&](const Bits* in) {
          return finish(convert(in[0], in[2] >> 16)) << 16 | finish(convert(in[1], in[2]));
        });
      }
    }
  }
}

// The manual's bounds plus half an ulp: tanh 2^-10.987 absolute (f16) and 2^-8 (bf16); ex2 2^-9.9
// and 2^-7 relative.
JUDGES_WITHIN_BOUND(Half, ApproximationsStayWithinTheirBounds, "ex2.approx.ftz.bf16",
                    "ex2.approx.f16", "tanh.approx.bf16", "tanh.approx.f16");
TEST(Half, ApproximationsStayWithinTheirBounds) {
  for (const auto& t : half_types()) {
    auto value = [&](Bits b) -> double {
      const Number n = exact::decode(b, t.format);
      const double m = std::ldexp(static_cast<double>(n.magnitude.from_bit(0)), n.exponent);
      return n.is_nan()        ? NAN
             : n.is_infinite() ? (n.negative ? -INFINITY : INFINITY)
             : n.negative      ? -m
                               : m;
    };
    auto judge = [&](double exact_value, Bits got, double absolute,
                     double relative) -> std::string {
      const double g = value(got);
      if (std::isnan(exact_value)) return std::isnan(g) ? "" : "not a NaN";
      const double largest = t.is_f16 ? 65504.0 : 3.3895e38,
                   smallest = t.is_f16 ? 0x1p-24 : 0x1p-126;
      if (std::fabs(exact_value) > largest) return std::isinf(g) ? "" : "not infinite";
      return std::fabs(g - exact_value) <= absolute + relative * std::fabs(exact_value) + smallest
                 ? ""
                 : "off: " + std::to_string(g) + " for " + std::to_string(exact_value);
    };
    check_judged({"tanh.approx." + t.name, {2, 2}}, {t.specials}, [&](const Bits* in, Bits got) {
      return judge(std::tanh(value(in[0])), got, std::ldexp(1, t.is_f16 ? -11 : -8), 0);
    });
    check_judged({std::string(t.is_f16 ? "ex2.approx." : "ex2.approx.ftz.") + t.name, {2, 2}},
                 {t.specials}, [&](const Bits* in, Bits got) {
                   return judge(std::exp2(value(in[0])), got, 0, t.is_f16 ? 0x1p-9 * 0.53 : 0x1p-7);
                 });
  }
}

JUDGES(Half, EightBitFloatsGoBothWays, "cvt.rn.satfinite.e4m3x2.f16x2", "cvt.rn.f16x2.e4m3x2");
TEST(Half, EightBitFloatsGoBothWays) {
  // Widening and narrowing a byte returns it, except that NaNs become the canonical NaN and
  // infinities of e5m2 saturate.
  for (const bool e4m3 : {true, false}) {
    const std::string type = e4m3 ? "e4m3x2" : "e5m2x2";
    auto exact_value = [&](Bits b) {
      const int fraction_bits = e4m3 ? 3 : 2, bias = e4m3 ? 7 : 15;
      const int e = static_cast<int>(b & 0x7f) >> fraction_bits;
      const Bits f = b & ((1u << fraction_bits) - 1);
      const Number n{Number::Class::kFinite, (b & 0x80) != 0,
                     exact::Natural(e ? f | 1u << fraction_bits : f),
                     (e ? e : 1) - bias - fraction_bits};
      if (e4m3 ? (b & 0x7f) == 0x7f : (b & 0x7f) > 0x7c) return exact::nan_number();
      if (!e4m3 && (b & 0x7f) == 0x7c) return exact::infinite(b & 0x80);
      return n;
    };
    auto widened = [&](Bits b) {
      return exact::encode(exact_value(b), exact::kF16, Direction::kNearestEven);
    };
    check({"cvt.rn.f16x2." + type, {4, 2}}, {special_int(2)},
          [&](const Bits* in) { return widened(in[0] >> 8) << 16 | widened(in[0] & 0xff); });
    // Narrowing returns the nearer of the two bytes around the half, ties to even. Both bytes are
    // halves themselves, ordered by their bits.
    const Bits largest = e4m3 ? 0x7e : 0x7b;
    std::vector<Bits> ascending;
    for (Bits b = 0; b <= largest; ++b) ascending.push_back(widened(b));
    auto nearest = [&](Bits half) -> Bits {
      const Number x = exact::decode(half & 0x7fff, exact::kF16);
      if (x.is_nan()) return 0x7f;
      const Bits sign = half >> 8 & 0x80;
      const auto above = std::lower_bound(ascending.begin(), ascending.end(), half & 0x7fff);
      if (above == ascending.end()) return sign | largest;
      const Bits high = static_cast<Bits>(above - ascending.begin());
      if (*above == (half & 0x7fff)) return sign | high;
      const auto distance = [&](Bits b) {
        Number d = exact::add(exact_value(b), exact::negate(x), Direction::kNearestEven);
        d.negative = false;
        return d;
      };
      const int order = exact::compare(distance(high - 1), distance(high));
      return sign | (order < 0 || (order == 0 && high % 2 == 1) ? high - 1 : high);
    };
    std::vector<Bits> table(65536);
    for (Bits h = 0; h < 65536; ++h) table[h] = nearest(h);
    std::vector<Bits> every;
    for (Bits h = 0; h < 65536; ++h) every.push_back(h << 16 | (h * 40503 & 0xffff));
    check({"cvt.rn.satfinite." + type + ".f16x2", {2, 4}}, {every},
          [&](const Bits* in) { return table[in[0] >> 16] << 8 | table[in[0] & 0xffff]; });
  }
}

TEST(Half, UnknownFormsAreRefused) {
  AluKey k = key_of({"add.rn.bf16", {2, 2, 2}});
  EXPECT_FALSE(refused(k));
  k.modifiers.ftz = true;
  EXPECT_TRUE(refused(k));
  k = key_of({"add.rn.f16", {2, 2, 2}});
  k.modifiers.rounding = isa::Rounding::kZero;
  EXPECT_TRUE(refused(k));
  k = key_of({"fma.rn.oob.f16", {2, 2, 2, 2}});
  EXPECT_FALSE(refused(k));
  k.modifiers.ftz = true;
  EXPECT_TRUE(refused(k));
  k = key_of({"cvt.rs.f16x2.f32", {4, 4, 4, 4}});
  EXPECT_FALSE(refused(k));
  k.modifiers.ftz = true;
  EXPECT_TRUE(refused(k));
  k = key_of({"tanh.approx.f16", {2, 2}});
  k.modifiers.approx = false;
  EXPECT_TRUE(refused(k));
  k = key_of({"setp.eq.f16x2", {0, 4, 4}, true});
  k.has_second_destination = false;
  EXPECT_TRUE(refused(k));
}

}  // namespace
}  // namespace lockstep::engine::alu_test
