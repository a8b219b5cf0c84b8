// f32x2 arithmetic, f32 arithmetic with half operands, and minima of three, compared with exact
// integer arithmetic rounded once.
#include <gtest/gtest.h>

#include "simulator/coverage/judged.h"
#include "simulator/engine/ops/alu/alu_test_values.h"

namespace lockstep::engine::alu_test {
namespace {

using exact::Direction;
using exact::Format;
using exact::Number;

using Exactly = std::function<Number(const std::vector<Number>&, Direction)>;
Number sum_of(const std::vector<Number>& n, Direction d) { return exact::add(n[0], n[1], d); }
Number difference_of(const std::vector<Number>& n, Direction d) {
  return exact::add(n[0], n[1].is_nan() ? n[1] : exact::negate(n[1]), d);
}
Number product_of(const std::vector<Number>& n, Direction) { return exact::multiply(n[0], n[1]); }
Number fused_of(const std::vector<Number>& n, Direction d) {
  return exact::add(exact::multiply(n[0], n[1]), n[2], d);
}

// Every third special value: float_test covers f32's operations in full.
std::vector<Bits> some(const std::vector<Bits>& all) {
  std::vector<Bits> v;
  for (std::size_t i = 0; i < all.size(); i += 3) v.push_back(all[i]);
  return v;
}

// Special values in either half of a register.
std::vector<Bits> pairs() {
  const auto one = some(special_f32());
  std::vector<Bits> v;
  for (std::size_t i = 0; i < one.size(); ++i)
    v.push_back(one[i] | one[(i * 7 + 3) % one.size()] << 32);
  return v;
}

void check_packed(const std::string& op, int sources, bool bare, const Exactly& exactly) {
  const auto specials = pairs();
  std::vector<Mode> modes = kRoundings;
  if (bare) modes.push_back({"", Direction::kNearestEven});
  for (const Mode& mode : modes) {
    for (const bool ftz : {false, true}) {
      Options few;
      few.random = 1000;
      const auto half = [&](const Bits* in, int shift) {
        std::vector<Number> numbers;
        for (int i = 0; i < sources; ++i) {
          const Bits b = in[i] >> shift & 0xffffffff;
          numbers.push_back(exact::decode(ftz ? exact::flush(b, exact::kF32) : b, exact::kF32));
        }
        const Number n = exactly(numbers, mode.direction);
        return ftz ? exact::encode_flushed(n, exact::kF32, mode.direction)
                   : exact::encode(n, exact::kF32, mode.direction);
      };
      check(
          {op + mode.word + (ftz ? ".ftz" : "") + ".f32x2", std::vector<int>(sources + 1, 8)},
          std::vector<std::vector<Bits>>(sources, specials),
          [&](const Bits* in) { return half(in, 0) | half(in, 32) << 32; }, few);
    }
  }
}

JUDGES(PackedFloat, EachHalfIsRoundedByItself, "add.f32x2", "fma.rm.f32x2", "mul.f32x2",
       "sub.f32x2");
TEST(PackedFloat, EachHalfIsRoundedByItself) {
  check_packed("add", 2, true, sum_of);
  check_packed("sub", 2, true, difference_of);
  check_packed("mul", 2, true, product_of);
  check_packed("fma", 3, false, fused_of);
}

JUDGES(MixedFloat, HalvesAreWidenedExactly, "add.rm.f32.f16", "fma.rm.f32.f16", "sub.rm.f32.f16");
TEST(MixedFloat, HalvesAreWidenedExactly) {
  struct Half {
    std::string name;
    Format format;
    std::vector<Bits> specials;
  };
  const auto wide_specials = some(special_f32());
  Options few;
  few.random = 1000;
  for (const Half& h : {Half{"f16", exact::kF16, some(special_f16())},
                        Half{"bf16", exact::kBF16, some(special_bf16())}}) {
    for (const Mode& mode : kRoundings) {
      for (const bool sat : {false, true}) {
        const auto finish = [&, sat](const Number& n) {
          const Bits r = exact::encode(n, exact::kF32, mode.direction);
          return sat ? saturated(r, exact::kF32) : r;
        };
        const std::string words = mode.word + (sat ? ".sat" : "") + ".f32." + h.name;
        const auto narrow = [&](Bits b) { return exact::decode(b, h.format); };
        const auto wide = [&](Bits b) { return exact::decode(b, exact::kF32); };
        check(
            {"add" + words, {4, 2, 4}}, {h.specials, wide_specials},
            [&](const Bits* in) {
              return finish(sum_of({narrow(in[0]), wide(in[1])}, mode.direction));
            },
            few);
        check(
            {"sub" + words, {4, 2, 4}}, {h.specials, wide_specials},
            [&](const Bits* in) {
              return finish(difference_of({narrow(in[0]), wide(in[1])}, mode.direction));
            },
            few);
        check(
            {"fma" + words, {4, 2, 2, 4}}, {h.specials, h.specials, wide_specials},
            [&](const Bits* in) {
              return finish(fused_of({narrow(in[0]), narrow(in[1]), wide(in[2])}, mode.direction));
            },
            few);
      }
    }
  }
}

JUDGES(Extremes, OfThree, "max.f32 d, a, b, c", "min.f32 d, a, b, c");
TEST(Extremes, OfThree) {
  const Format f = exact::kF32;
  for (int form = 0; form < 16; ++form) {
    const bool ftz = form & 1, nan = form & 2, abs = form & 4, smaller = form & 8;
    const std::string text = std::string(smaller ? "min" : "max") + (ftz ? ".ftz" : "") +
                             (nan ? ".NaN" : "") + (abs ? ".abs" : "") + ".f32";
    AluKey key = key_of({smaller ? "min.f32" : "max.f32", {4, 4, 4, 4}});
    key.modifiers.ftz = ftz;
    key.modifiers.nan = nan;
    key.modifiers.abs = abs;
    ASSERT_FALSE(refused(key)) << text;
    Options few;
    few.random = 2000;
    const auto specials = some(special_f32());
    check(
        {text, {4, 4, 4, 4}}, {specials, specials, specials},
        [&](const Bits* in) {
          Bits best = 0;
          bool any = false, any_nan = false;
          for (int i = 0; i < 3; ++i) {
            Bits v = ftz ? exact::flush(in[i], f) : in[i];
            if (abs) v &= ~f.sign_bit();
            if (exact::is_nan_bits(v, f)) {
              any_nan = true;
              continue;
            }
            const auto ordered = [&](Bits b) {
              return b & f.sign_bit() ? -static_cast<std::int64_t>(b & ~f.sign_bit()) - 1
                                      : static_cast<std::int64_t>(b);
            };
            if (!any || (ordered(v) < ordered(best)) == smaller) best = v;
            any = true;
          }
          return !any || (nan && any_nan) ? f.canonical_nan : best;
        },
        few);
  }
}

TEST(Extremes, OfTwoHaveNoMagnitudes) {
  AluKey key = key_of({"min.f32", {4, 4, 4}});
  key.modifiers.abs = true;
  EXPECT_TRUE(refused(key));
}

}  // namespace
}  // namespace lockstep::engine::alu_test
