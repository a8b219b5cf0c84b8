// The search must find inputs on which chains differ, report if there are none, and name the
// neighbour that a result equals.
#include "harness/property/rounding_search.h"

#include <gtest/gtest.h>

#include "harness/property/rounded.h"

namespace lockstep {
namespace {

using Pair = std::array<float, 2>;
using Search = RoundingSearch<Pair, float>;

float sum(const Pair& p) { return rounded_add(p[0], p[1]); }
float sum_to_zero(const Pair& p) { return rounded_add(p[0], p[1], Rounding::kZero); }
float sum_in_double(const Pair& p) {
  return static_cast<float>(double{p[0]} + p[1]);
}  // float rounds it to the same value
Pair any_pair(Bits& bits) {
  const auto any = [&] { return static_cast<float>(bits.below(1 << 24)) * 0x1p-20f; };
  return {any(), any()};
}

TEST(RoundingSearch, FindsAnInputForEachNeighbour) {
  const Search search(
      sum, {{"to zero", sum_to_zero},
            {"up", [](const Pair& p) { return rounded_add(p[0], p[1], Rounding::kUp); }}});
  Bits bits(1);
  const auto found = search.find(bits, any_pair);
  ASSERT_EQ(found.size(), 2u);
  EXPECT_EQ(search.name_of(found[0]), "to zero");
  EXPECT_NE(sum(found[0].input), sum_to_zero(found[0].input));
  EXPECT_EQ(search.name_of(found[1]), "up");
}

TEST(RoundingSearch, ThrowsWhenTwoChainsAgree) {
  const Search search(sum, {{"in double", sum_in_double}});
  Bits bits(1);
  EXPECT_THROW(search.find(bits, any_pair, 1000), std::logic_error);
}

TEST(RoundingSearch, AcceptsTheStatedChainAndNamesWhatAnotherResembles) {
  const Search search(sum, {{"to zero", sum_to_zero}});
  Bits bits(2);
  const auto found = search.find(bits, any_pair);
  const auto outcome_of = [&](float actual) {
    return run_case([&] { search.require(found, {actual}); });
  };
  EXPECT_TRUE(outcome_of(sum(found[0].input)).held());
  const CaseOutcome rejected = outcome_of(sum_to_zero(found[0].input));
  EXPECT_EQ(rejected.failure.label(), "mismatch");
  EXPECT_NE(rejected.failure.message.find("the same as with 'to zero'"), std::string::npos)
      << rejected.failure.message;
  EXPECT_NE(outcome_of(-1).failure.message.find("no neighbour"), std::string::npos);
}

TEST(RoundingSearch, NaNIsNaNAndZeroHasASign) {
  EXPECT_TRUE(same_result(std::bit_cast<float>(0x7fc00000u), std::bit_cast<float>(0xffc12345u)));
  EXPECT_FALSE(same_result(0.0f, -0.0f));
  EXPECT_FALSE(same_result(0.0f, std::bit_cast<float>(0x7fc00000u)));
  EXPECT_TRUE(same_result(0x12345678u, 0x12345678u));
}

}  // namespace
}  // namespace lockstep
