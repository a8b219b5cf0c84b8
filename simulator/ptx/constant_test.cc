#include "simulator/ptx/constant.h"

#include <gtest/gtest.h>

#include <string>

namespace lockstep::ptx {
namespace constant_test {

// Evaluates an expression that must be the whole text.
std::optional<Constant> evaluate(std::string_view text) {
  Lexer lexer(text);
  Token current = lexer.next();
  const auto c = parse_constant_expression(current, [&] { return lexer.next(); });
  return current.kind == Token::Kind::kEnd ? c : std::nullopt;
}

std::int64_t integer(std::string_view text) {
  const auto c = evaluate(text);
  EXPECT_TRUE(c && c->kind != Constant::Kind::kFloat) << text;
  return c ? static_cast<std::int64_t>(c->bits) : 0;
}

double floating(std::string_view text) {
  const auto c = evaluate(text);
  EXPECT_TRUE(c && c->kind == Constant::Kind::kFloat) << text;
  return c ? c->as_double() : 0;
}

TEST(Constants, IntegersInEveryBase) {
  EXPECT_EQ(integer("0"), 0);
  EXPECT_EQ(integer("42"), 42);
  EXPECT_EQ(integer("0x2A"), 42);
  EXPECT_EQ(integer("052"), 42);
  EXPECT_EQ(integer("0b101010"), 42);
  EXPECT_EQ(integer("42U"), 42);
  EXPECT_EQ(integer("0xFFFFFFFFFFFFFFFF"), -1);
  EXPECT_EQ(evaluate("0xFFFFFFFFFFFFFFFF")->kind, Constant::Kind::kUnsigned);
  EXPECT_EQ(evaluate("5")->kind, Constant::Kind::kSigned);
  EXPECT_EQ(evaluate("5U")->kind, Constant::Kind::kUnsigned);
  EXPECT_EQ(integer("WARP_SZ"), 32);
}

TEST(Constants, FloatsAsPatternsAndDecimals) {
  EXPECT_EQ(floating("0f3F800000"), 1.0);
  EXPECT_EQ(floating("0fBF000000"), -0.5);
  EXPECT_EQ(floating("0d3FF8000000000000"), 1.5);
  EXPECT_EQ(floating("2.5"), 2.5);
  EXPECT_EQ(floating("1.5e3"), 1500.0);
  EXPECT_EQ(floating("1e-3"), 1e-3);
  EXPECT_EQ(floating("-2.0"), -2.0);
}

TEST(Constants, NansKeepTheirBits) {
  EXPECT_EQ(bits_as(*evaluate("0f7F812345"), Type::kF32), 0x7f812345u);
  EXPECT_EQ(bits_as(*evaluate("0fFFC00001"), Type::kF32), 0xffc00001u);
  EXPECT_EQ(bits_as(*evaluate("0d7FF0000000000001"), Type::kF64), 0x7ff0000000000001ull);
}

TEST(Constants, BitsFollowTheType) {
  EXPECT_EQ(bits_as(*evaluate("-1"), Type::kS32), 0xffffffffu);
  EXPECT_EQ(bits_as(*evaluate("-1"), Type::kB16), 0xffffu);
  EXPECT_EQ(bits_as(*evaluate("-1"), Type::kS64), ~0ull);
  EXPECT_EQ(bits_as(*evaluate("7"), Type::kPred), 1u);
  EXPECT_EQ(bits_as(*evaluate("1.0"), Type::kF32), 0x3f800000u);
  EXPECT_EQ(bits_as(*evaluate("0f3F800000"), Type::kF64), 0x3ff0000000000000ull);
  EXPECT_EQ(bits_as(*evaluate("0d3FB999999999999A"), Type::kF32),
            0x3dcccccdu);  // 0.1, rounded to nearest
  EXPECT_EQ(bits_as(*evaluate("1"), Type::kF32), std::nullopt);
  EXPECT_EQ(bits_as(*evaluate("1.0"), Type::kS32), std::nullopt);
}

TEST(Constants, OperatorsBindAsInC) {
  EXPECT_EQ(integer("1 + 2 * 3"), 7);
  EXPECT_EQ(integer("(1 + 2) * 3"), 9);
  EXPECT_EQ(integer("10 - 4 - 3"), 3);
  EXPECT_EQ(integer("1 << 4 | 3"), 19);
  EXPECT_EQ(integer("7 & 3 ^ 1"), 2);
  EXPECT_EQ(integer("~0"), -1);
  EXPECT_EQ(integer("!5"), 0);
  EXPECT_EQ(integer("-7 / 2"), -3);
  EXPECT_EQ(integer("-7 % 2"), -1);
  EXPECT_EQ(integer("-8 >> 1"), -4);
  EXPECT_EQ(integer("0xFFFFFFFFFFFFFFF8 >> 1"), 0x7ffffffffffffffc);
  EXPECT_EQ(integer("1 < 2 && 3 >= 3"), 1);
  EXPECT_EQ(integer("0 || 1 == 2"), 0);
  EXPECT_EQ(integer("-1 < 1U"), 0);  // unsigned comparison
  EXPECT_EQ(integer("(.s64)-1 < 1"), 1);
  EXPECT_EQ(integer("2 > 1 ? 10 : 20"), 10);
  EXPECT_EQ(integer("0 ? 10 : 1 ? 20 : 30"), 20);
  EXPECT_EQ(integer("(-9223372036854775807 - 1) / -1"), INT64_MIN);  // must not trap
  EXPECT_EQ(integer("1 << 64"), 0);
}

TEST(Constants, WhatIsNoConstantIsRefused) {
  for (const char* text :
       {"", "x", "1 +", "(1", "1 2", "0x", "0xG", "08", "0b12", "0f3F80", "0f3F8000000", "0d3FF0",
        "1.5 + 1", "5 / 0", "5 % 0", "~1.0", "1 ? 2", "1e", "12abc"})
    EXPECT_FALSE(evaluate(text)) << text;
}

TEST(Lexer, WordsKeepTheirDotsAndDirectivesEndAtTheNext) {
  Lexer lexer("ld.shared::cta.u32 .reg.pred %tid.x L: a::b // end");
  EXPECT_EQ(lexer.next().text, "ld.shared::cta.u32");
  EXPECT_EQ(lexer.next().text, ".reg");
  EXPECT_EQ(lexer.next().text, ".pred");
  EXPECT_EQ(lexer.next().text, "%tid.x");
  EXPECT_EQ(lexer.next().text, "L");
  EXPECT_TRUE(lexer.next().is(':'));
  EXPECT_EQ(lexer.next().text, "a::b");
  EXPECT_EQ(lexer.next().kind, Token::Kind::kEnd);
}

TEST(Lexer, CountsLinesThroughComments) {
  Lexer lexer("a /* one\n two */ b\n// three\nc");
  EXPECT_EQ(lexer.next().line, 1);
  EXPECT_EQ(lexer.next().line, 2);
  EXPECT_EQ(lexer.next().line, 4);
}

TEST(Lexer, WhatIsNoTokenIsSaidToBe) {
  for (const char* text : {"`", "\"open", "/* open", "\\"}) {
    Lexer lexer(text);
    EXPECT_EQ(lexer.next().kind, Token::Kind::kBad) << text;
  }
}

}  // namespace constant_test
}  // namespace lockstep::ptx
