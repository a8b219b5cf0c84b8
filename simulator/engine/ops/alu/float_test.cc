// f32 and f64 arithmetic that IEEE 754 defines, against exact integer arithmetic rounded once.
#include <gtest/gtest.h>

#include "simulator/coverage/judged.h"
#include "simulator/engine/ops/alu/alu_test_values.h"

namespace lockstep::engine::alu_test {
namespace {

using exact::Direction;
using exact::Format;
using exact::Number;

struct FloatType {
  std::string name;
  int bytes;
  Format format;
  const std::vector<Bits>& specials;
};
FloatType f32() { return {"f32", 4, exact::kF32, special_f32()}; }
FloatType f64() { return {"f64", 8, exact::kF64, special_f64()}; }

// Every modifier combination of an operation; `exactly` computes on decoded operands.
void check_operation(const std::string& op, int sources, const FloatType& t, bool bare,
                     bool saturates, Number (*exactly)(const Number* operands, Direction)) {
  std::vector<Mode> modes = kRoundings;
  if (bare) modes.push_back({"", Direction::kNearestEven});
  for (const Mode& mode : modes) {
    for (bool ftz : {false, true}) {
      if (ftz && t.bytes == 8) continue;
      for (bool sat : {false, true}) {
        if (sat && (!saturates || t.bytes == 8)) continue;
        const Form form{op + mode.word + (ftz ? ".ftz" : "") + (sat ? ".sat" : "") + "." + t.name,
                        std::vector<int>(sources + 1, t.bytes)};
        check(form, std::vector<std::vector<Bits>>(sources, t.specials), [&](const Bits* in) {
          Number numbers[3];
          for (int i = 0; i < sources; ++i)
            numbers[i] = exact::decode(ftz ? exact::flush(in[i], t.format) : in[i], t.format);
          const Number n = exactly(numbers, mode.direction);
          if (t.bytes == 8 && n.is_nan()) return exact::f64_nan(in, sources);
          const Bits r = ftz ? exact::encode_flushed(n, t.format, mode.direction)
                             : exact::encode(n, t.format, mode.direction);
          return sat ? saturated(r, t.format) : r;
        });
      }
    }
  }
}

Number sum(const Number* n, Direction d) { return exact::add(n[0], n[1], d); }
Number difference(const Number* n, Direction d) {
  return exact::add(n[0], n[1].is_nan() ? n[1] : exact::negate(n[1]), d);
}
Number product(const Number* n, Direction) { return exact::multiply(n[0], n[1]); }
Number quotient(const Number* n, Direction) { return exact::divide(n[0], n[1]); }
Number fused(const Number* n, Direction d) {
  return exact::add(exact::multiply(n[0], n[1]), n[2], d);
}
Number root(const Number* n, Direction) { return exact::square_root(n[0]); }
Number reciprocal(const Number* n, Direction) {
  return exact::divide(exact::integer(false, 1), n[0]);
}

JUDGES(Float, SumsAreRoundedOnce, "add.f64", "add.f32", "sub.f64", "sub.f32");
TEST(Float, SumsAreRoundedOnce) {
  check_operation("add", 2, f32(), true, true, sum);
  check_operation("sub", 2, f32(), true, true, difference);
  check_operation("add", 2, f64(), true, true, sum);
  check_operation("sub", 2, f64(), true, true, difference);
}
JUDGES(Float, ProductsAreRoundedOnce, "mul.f64", "mul.f32");
TEST(Float, ProductsAreRoundedOnce) {
  check_operation("mul", 2, f32(), true, true, product);
  check_operation("mul", 2, f64(), true, true, product);
}
JUDGES(Float, FusedMultiplyAddIsRoundedOnce, "fma.rm.f32", "mad.rm.f32");
TEST(Float, FusedMultiplyAddIsRoundedOnce) {
  check_operation("fma", 3, f32(), false, true, fused);
  check_operation("mad", 3, f32(), false, true, fused);
}
JUDGES(Float, FusedMultiplyAddOfDoubles, "fma.rm.f64", "mad.rm.f64");
TEST(Float, FusedMultiplyAddOfDoubles) {
  check_operation("fma", 3, f64(), false, true, fused);
  check_operation("mad", 3, f64(), false, true, fused);
}
JUDGES(Float, QuotientsAndRootsAreCorrectlyRounded, "div.rm.f64", "div.rm.f32", "rcp.rm.f64",
       "rcp.rm.f32", "sqrt.rm.f64", "sqrt.rm.f32");
TEST(Float, QuotientsAndRootsAreCorrectlyRounded) {
  for (const auto& t : {f32(), f64()}) {
    check_operation("div", 2, t, false, false, quotient);
    check_operation("rcp", 1, t, false, false, reciprocal);
    check_operation("sqrt", 1, t, false, false, root);
  }
}

// A NaN loses against a number unless .NaN is set, and -0 is below +0. .xorsign.abs orders
// magnitudes and sets the sign of the product.
JUDGES(Float, MinimumAndMaximum, "max.f64", "max.NaN.f32 d, a, b", "max.NaN.xorsign.abs.f32",
       "max.f32 d, a, b", "max.xorsign.abs.f32", "min.f64", "min.NaN.f32 d, a, b",
       "min.NaN.xorsign.abs.f32", "min.f32 d, a, b", "min.xorsign.abs.f32");
TEST(Float, MinimumAndMaximum) {
  for (const auto& t : {f32(), f64()}) {
    const Format f = t.format;
    for (bool smaller : {true, false}) {
      for (int form = 0; form < (t.bytes == 4 ? 8 : 1); ++form) {
        const bool ftz = form & 1, nan = form & 2, xorsign = form & 4;
        const std::string text = std::string(smaller ? "min" : "max") + (ftz ? ".ftz" : "") +
                                 (nan ? ".NaN" : "") + (xorsign ? ".xorsign.abs" : "") + "." +
                                 t.name;
        check({text, {t.bytes, t.bytes, t.bytes}}, {t.specials, t.specials}, [&](const Bits* in) {
          Bits a = ftz ? exact::flush(in[0], f) : in[0], b = ftz ? exact::flush(in[1], f) : in[1];
          const Bits sign = (a ^ b) & f.sign_bit();
          if (xorsign) a &= ~f.sign_bit(), b &= ~f.sign_bit();
          const bool nan_a = exact::is_nan_bits(a, f), nan_b = exact::is_nan_bits(b, f);
          if (t.bytes == 8 && nan_a && nan_b) return exact::f64_nan(in + 1, 1);
          if ((nan_a && nan_b) || (nan && (nan_a || nan_b))) return f.canonical_nan;
          Bits r;
          if (nan_a || nan_b)
            r = nan_a ? b : a;
          else {
            // Sign-magnitude order is integer order once negatives are mirrored; it puts -0 below
            // +0 by itself.
            auto ordered = [&](Bits v) {
              return v & f.sign_bit() ? -static_cast<__int128>(v & ~f.sign_bit()) - 1
                                      : static_cast<__int128>(v);
            };
            r = (ordered(a) < ordered(b)) == smaller ? a : b;
          }
          return xorsign ? r | sign : r;
        });
      }
    }
  }
}

// Of NaNs, f32's become canonical and f64's are quieted, as on silicon.
JUDGES(Float, SignOperationsTouchTheSignAlone, "abs.f64", "abs.f32", "copysign.f32", "neg.f64",
       "neg.f32");
TEST(Float, SignOperationsTouchTheSignAlone) {
  for (const auto& t : {f32(), f64()}) {
    const Bits sign = t.format.sign_bit();
    for (bool ftz : {false, true}) {
      if (ftz && t.bytes == 8) continue;
      const std::string end = std::string(ftz ? ".ftz." : ".") + t.name;
      auto signed_by = [&](auto change) {
        return [&, change](const Bits* in) {
          if (exact::is_nan_bits(in[0], t.format))
            return t.bytes == 8 ? exact::f64_nan(in, 1) : t.format.canonical_nan;
          return change(ftz ? exact::flush(in[0], t.format) : in[0]);
        };
      };
      check({"abs" + end, {t.bytes, t.bytes}}, {t.specials},
            signed_by([&](Bits v) { return v & ~sign; }));
      check({"neg" + end, {t.bytes, t.bytes}}, {t.specials},
            signed_by([&](Bits v) { return v ^ sign; }));
    }
    check({"copysign." + t.name, {t.bytes, t.bytes, t.bytes}}, {t.specials, t.specials},
          [&](const Bits* in) { return (in[0] & sign) | (in[1] & ~sign); });
  }
}

TEST(Float, ThereAreEnoughSpecialValues) {
  EXPECT_GE(special_f32().size(), 98u);
  EXPECT_GE(special_f64().size(), 98u);
}

TEST(Float, UnknownFormsAreRefused) {
  const AluKey add = key_of({"add.rn.f32", {4, 4, 4}});
  auto with = [](AluKey k, auto change) {
    change(k);
    return refused(k);
  };
  EXPECT_FALSE(refused(add));
  EXPECT_TRUE(with(add, [](AluKey& k) { k.modifiers.rounding = isa::Rounding::kNearestAway; }));
  EXPECT_TRUE(with(add, [](AluKey& k) { k.modifiers.rounding = isa::Rounding::kIntZero; }));
  EXPECT_TRUE(with(add, [](AluKey& k) { k.modifiers.relu = true; }));
  EXPECT_TRUE(with(add, [](AluKey& k) { k.register_bytes[2] = 8; }));
  EXPECT_TRUE(with(add, [](AluKey& k) { k.modifiers.type = isa::Type::kTF32; }));
  const AluKey add64 = key_of({"add.rn.f64", {8, 8, 8}});
  EXPECT_TRUE(with(add64, [](AluKey& k) { k.modifiers.ftz = true; }));
  EXPECT_TRUE(with(add64, [](AluKey& k) { k.modifiers.sat = true; }));
  const AluKey fma = key_of({"fma.rn.f32", {4, 4, 4, 4}});
  EXPECT_TRUE(with(fma, [](AluKey& k) { k.modifiers.rounding = isa::Rounding::kNone; }));
  const AluKey div = key_of({"div.rn.f32", {4, 4, 4}});
  EXPECT_TRUE(with(div, [](AluKey& k) { k.modifiers.sat = true; }));
  EXPECT_TRUE(with(div, [](AluKey& k) { k.modifiers.approx = true; }));  // approx and a direction
}

}  // namespace
}  // namespace lockstep::engine::alu_test
