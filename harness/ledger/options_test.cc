// Each flag has its documented effect, and an unknown flag ends the program.
#include "harness/ledger/options.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace lockstep {
namespace options_test {

using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

TEST(Options, ReadsEveryFlag) {
  const ParsedOptions p =
      parse_options({"--seed=18446744073709551615", "--cases=5000",
                     "--case=Stencil.Matches: n=33 block=32", "--out=somewhere/else",
                     "--ledger=l.json", "--waivers=w.json", "--fail-fast", "--list", "--help"});
  EXPECT_THAT(p.errors, IsEmpty());
  EXPECT_EQ(p.options.seed, 18446744073709551615u);
  EXPECT_EQ(p.options.cases, 5000);
  ASSERT_TRUE(p.options.replay);
  EXPECT_EQ(p.options.replay->property, "Stencil.Matches");
  EXPECT_EQ(p.options.replay->text, "n=33 block=32");
  EXPECT_EQ(p.options.out, "somewhere/else");
  EXPECT_EQ(p.options.ledger, "l.json");
  EXPECT_EQ(p.options.waivers, "w.json");
  EXPECT_TRUE(p.options.fail_fast);
  EXPECT_TRUE(p.options.list);
  EXPECT_TRUE(p.options.help);
}

TEST(Options, DefaultToWhatThePropertiesSay) {
  const ParsedOptions p = parse_options({});
  EXPECT_THAT(p.errors, IsEmpty());
  EXPECT_EQ(p.options.seed, 0u);
  EXPECT_EQ(p.options.cases, 0);
  EXPECT_FALSE(p.options.replay);
  EXPECT_FALSE(p.options.fail_fast);
  EXPECT_FALSE(p.options.list);
}

TEST(Options, LeaveGoogleTestItsFlags) {
  const ParsedOptions p = parse_options({"--gtest_filter=A.*", "--cases=1", "--gtest_shuffle"});
  EXPECT_THAT(p.errors, IsEmpty());
  EXPECT_THAT(p.rest, ElementsAre("--gtest_filter=A.*", "--gtest_shuffle"));
}

TEST(Options, RefuseWhatTheyDoNotUnderstand) {
  const struct {
    const char* argument;
    const char* says;
  } cases[] = {
      {"--case", "does not name a case"},
      {"--case=Stencil", "does not name a case"},
      {"--cases=0", "not an integer from 1"},
      {"--cases=1e6", "not an integer"},
      {"--cases=", "not an integer"},
      {"--cases=-5", "not an integer"},
      {"--cases=2000000000", "not an integer from 1 to 1000000000"},
      {"--seed=0", "not an integer from 1"},
      {"--seed=18446744073709551616", "not an integer"},
      {"--seed=12 ", "not an integer"},
      {"--out=", "needs a path"},
      {"--ledger", "needs a path"},
      {"--list=yes", "takes no value"},
      {"--fail-fast=1", "takes no value"},
      {"--csaes=10", "is not a flag"},
      {"-h", "is not a flag"},
      {"stencil", "is not a flag"},
      {"", "is not a flag"},
      {"--gtest_repeat=2", "more than once"},
  };
  for (const auto& c : cases)
    EXPECT_THAT(parse_options({c.argument}).errors, Contains(HasSubstr(c.says))) << c.argument;
  EXPECT_THAT(parse_options({"--seed=1", "--seed=2"}).errors, ElementsAre("--seed is given twice"));
}

TEST(Options, NumbersAreWholeAndInRange) {
  EXPECT_EQ(parse_number("0x10", 0, 100), 16u);
  EXPECT_EQ(parse_number("100", 0, 100), 100u);
  EXPECT_EQ(parse_number("101", 0, 100), std::nullopt);
  EXPECT_EQ(parse_number("0x", 0, 100), std::nullopt);
  EXPECT_EQ(parse_number("7f", 0, 100), std::nullopt);
}

TEST(Options, HelpNamesEveryFlag) {
  for (const char* flag : {"--case=", "--cases=", "--seed=", "--fail-fast", "--list",
                           "--ledger=", "--out=", "--waivers=", "--help"}) {
    EXPECT_THAT(help_text("stencil_test"), HasSubstr(flag));
  }
}

}  // namespace options_test
}  // namespace lockstep
