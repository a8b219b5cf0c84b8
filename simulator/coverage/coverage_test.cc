// The page is what the table and the recording make it, and what the table names is executed.
#include "simulator/coverage/coverage.h"

#include <gtest/gtest.h>

#include <fstream>
#include <iterator>
#include <string>
#include <string_view>

#include "simulator/coverage/page.h"

namespace lockstep::coverage {
namespace {

std::string page_path, recording_path;

TEST(Coverage, ThePageIsCurrent) {
  std::ifstream in(page_path, std::ios::binary);
  const std::string page((std::istreambuf_iterator<char>(in)), {});
  const std::string made = coverage_page(recording_path);
  if (page == made) return;
  std::size_t at = 0;
  while (at < page.size() && at < made.size() && page[at] == made[at]) ++at;
  const std::size_t begin = made.rfind('\n', at) + 1;
  FAIL() << "docs/ptx_coverage.md is out of date: bazel run //simulator/coverage:update. First difference, as it should be:\n"
         << made.substr(begin, made.find('\n', at) - begin);
}

TEST(Coverage, EveryFormOfATargetForAllIsExecuted) {
  std::size_t rows = 0;
  for (const RowCoverage& r : measure()) {
    ++rows;
    EXPECT_GT(r.examples, 0u) << r.row->syntax;
    // Stochastic rounding, of sm_100a alone; and the multiplication that ignores what lies outside of a tensor: the manual does not say which NaN
    // marks it. Tensor copies, the only source of that NaN, are not executed either.
    if (r.row->syntax.starts_with("cvt.rs") || r.row->syntax.starts_with("fma.rn.oob")) continue;
    EXPECT_EQ(r.executed, r.examples) << r.row->syntax << ": " << r.first_refusal;
  }
  EXPECT_GT(rows, 300u);
}

// The measure itself must be able to say no.
TEST(Coverage, WhatIsRefusedCountsAsRefused) {
  std::size_t refused = 0;
  for (const RowCoverage& r : measure()) {
    if (!r.row->syntax.starts_with("cvt.rs")) continue;
    refused += r.examples - r.executed;
    EXPECT_NE(r.first_refusal.find("not implemented"), std::string::npos) << r.first_refusal;
  }
  EXPECT_GT(refused, 0u);
}

}  // namespace
}  // namespace lockstep::coverage

int main(int argc, char** argv) {
  ::testing::InitGoogleTest(&argc, argv);
  if (argc != 3) return 2;
  lockstep::coverage::page_path = argv[1];
  lockstep::coverage::recording_path = argv[2];
  return RUN_ALL_TESTS();
}
