#include "simulator/check/suppressions.h"

#include <gtest/gtest.h>

namespace lockstep::check {
namespace suppressions_test {

Suppressions read(std::string_view text) {
  auto parsed = Suppressions::parse(text);
  const auto* error = std::get_if<std::string>(&parsed);
  EXPECT_EQ(error, nullptr) << (error ? *error : "");
  return error ? Suppressions{} : std::get<Suppressions>(parsed);
}

std::string complaint(std::string_view text) {
  auto parsed = Suppressions::parse(text);
  const auto* error = std::get_if<std::string>(&parsed);
  return error ? *error : "";
}

std::uint32_t bit(Kind kind) { return 1u << static_cast<int>(kind); }

TEST(Suppressions, AreByKindAndKernel) {
  const Suppressions s = read(
      "# known\nrace  void histogram<int>(int*)  # same-value flag\n\nuninitialised\tmy::*\r\n");
  EXPECT_EQ(s.kinds_in("void histogram<int>(int*)"), bit(Kind::kRace));
  EXPECT_EQ(s.kinds_in("my::kernel(int)"), bit(Kind::kUninitialised));
  EXPECT_EQ(s.kinds_in("void histogram<long>(int*)"), 0u);
  EXPECT_EQ(s.kinds_in("oh my::kernel(int)"), 0u) << "a pattern is about the whole name";
}

TEST(Suppressions, OfWhatTheHostDoesAreByTheCall) {
  const Suppressions s = read("api-error cudaMalloc\nrefused *\nleak *\n");
  Finding f;
  f.kind = Kind::kApiError;
  f.call = "cudaMalloc";
  EXPECT_TRUE(s.cover(f));
  f.call = "cudaFree";
  EXPECT_FALSE(s.cover(f));
  f.kind = Kind::kRefused;
  f.call = "cudaLaunchKernel";
  f.kernel = "k(int)";
  EXPECT_TRUE(s.cover(f));
  f = Finding{};
  f.kind = Kind::kLeak;
  EXPECT_TRUE(s.cover(f)) << "no kernel and no call";
}

TEST(Suppressions, AddUp) {
  const Suppressions s = read("race a*\nmisaligned *b\n* abc?\n");
  EXPECT_EQ(s.kinds_in("ab"), bit(Kind::kRace) | bit(Kind::kMisaligned));
  EXPECT_TRUE(contains(s.kinds_in("abcd"), Kind::kDeadlock));
  EXPECT_FALSE(contains(s.kinds_in("abc"), Kind::kDeadlock));
}

TEST(Suppressions, StarsTakeWhatTheyMust) {
  const Suppressions s = read("race *a*ab\n");
  EXPECT_NE(s.kinds_in("aab"), 0u);
  EXPECT_NE(s.kinds_in("xaxaxab"), 0u);
  EXPECT_EQ(s.kinds_in("ab"), 0u);
  EXPECT_EQ(s.kinds_in("aabx"), 0u);
}

TEST(Suppressions, MistakesAreNamedWithTheirLine) {
  EXPECT_NE(complaint("race *\nraces *\n").find("line 2: 'races'"), std::string::npos);
  EXPECT_NE(complaint("races *\n").find("out-of-bounds, misaligned"), std::string::npos);
  EXPECT_NE(complaint("\nrace\n").find("line 2: a kernel's name"), std::string::npos);
  EXPECT_NE(complaint("unknown *\n"), "");
  EXPECT_EQ(complaint(std::string("\x7f"
                                  "ELF\0\0",
                                  6)),
            "line 1: this file is no text");
}

}  // namespace suppressions_test
}  // namespace lockstep::check
