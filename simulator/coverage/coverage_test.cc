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

TEST(Coverage, EveryFormIsExecuted) {
  std::size_t rows = 0;
  for (const RowCoverage& r : measure()) {
    ++rows;
    EXPECT_GT(r.examples, 0u) << r.row->syntax;
    EXPECT_EQ(r.executed, r.examples) << r.row->syntax << ": " << r.first_refusal;
  }
  EXPECT_GT(rows, 300u);
}

// The measure itself must be able to say no.
TEST(Coverage, WhatIsRefusedCountsAsRefused) {
  std::vector<isa::Example> examples = isa::pairwise_examples();
  examples.resize(3);
  examples[1].text = "tex.cube.v4.f32.f32 {r0, r1, r2, r3}, [d0, {r4, r5, r6, r7}];";
  const RowCoverage r = measure(examples).front();
  EXPECT_EQ(r.examples, 3u);
  EXPECT_EQ(r.executed, 2u);
  EXPECT_NE(r.first_refusal.find("tex.cube"), std::string::npos) << r.first_refusal;
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
