#include "simulator/exec/mutate/statement.h"

#include <gtest/gtest.h>

namespace lockstep::exec {
namespace {

const std::vector<std::string> kSource = {
    "for (int i = 0;",                  // 1
    "     i < n; ++i) {  // each one",  // 2
    "",                                 // 3
    "  f(i);",                          // 4
    "  print(\"a // b\");",             // 5
    "}  // of the loop",                // 6
    "f(i);",                            // 7
};

std::vector<std::size_t> lines_with(std::string_view statement) {
  std::vector<std::size_t> found;
  for (std::size_t line = 0; line <= kSource.size() + 1; ++line)
    if (stands_at(statement, kSource, line)) found.push_back(line);
  return found;
}

TEST(Statement, StandsOnAllLinesThatItCovers) {
  EXPECT_EQ(lines_with("for (int i = 0; i < n; ++i) {"), (std::vector<std::size_t>{1, 2}));
  EXPECT_EQ(lines_with("++i) {   f(i);"), std::vector<std::size_t>{}) << "it begins within a line";
  EXPECT_EQ(lines_with("i < n; ++i) { f(i);"), (std::vector<std::size_t>{2, 3, 4}));
}

TEST(Statement, StandsWhereverItsTokensDo) {
  EXPECT_EQ(lines_with("f( i );"), (std::vector<std::size_t>{4, 7}));
  EXPECT_EQ(lines_with("f(i); // again"), (std::vector<std::size_t>{4, 7}));
  EXPECT_EQ(lines_with("}"), std::vector<std::size_t>{6});
}

TEST(Statement, KeepsStringsThatLookLikeComments) {
  EXPECT_EQ(lines_with("print(\"a // b\");"), std::vector<std::size_t>{5});
  EXPECT_EQ(lines_with("print(\"a // c\");"), std::vector<std::size_t>{});
}

TEST(Statement, StandsNowhereIfItIsAPartOrEmpty) {
  EXPECT_EQ(lines_with("f(i)"), std::vector<std::size_t>{});
  EXPECT_EQ(lines_with(""), std::vector<std::size_t>{});
  EXPECT_EQ(lines_with("// each one"), std::vector<std::size_t>{});
  EXPECT_EQ(lines_with("f(i); and more"), std::vector<std::size_t>{});
}

}  // namespace
}  // namespace lockstep::exec
