// Reads return what was written, also beyond 4 GiB, and accesses past the end fail.
#include "harness/device/sparse_array.h"

#include <gtest/gtest.h>

#include <stdexcept>

#include "harness/property/case.h"

namespace lockstep {
namespace {

TEST(SparseArray, KeepsStretchesThatLieFarApart) {
  const CaseOutcome outcome = run_case([] {
    constexpr std::size_t kFar = (std::size_t{4} << 30) + 512;
    SparseArray array("array", kFar + 16);
    array.write(0, {1, 2, 3});
    array.write_elements<std::uint32_t>(kFar, {7, 8});
    array.fill(kFar + 8, 8);
    EXPECT_EQ(array.read(1, 2), (std::vector<unsigned char>{2, 3}));
    EXPECT_EQ(array.read_elements<std::uint32_t>(kFar, 3),
              (std::vector<std::uint32_t>{7, 8, 0xa5a5a5a5}));
  });
  EXPECT_TRUE(outcome.held()) << outcome.failure.message << outcome.not_run.value_or("");
}

TEST(SparseArray, KnowsItsEnd) {
  const CaseOutcome outcome = run_case([] {
    SparseArray array("array", 16);
    EXPECT_THROW(array.fill(9, 8), std::logic_error);
    EXPECT_THROW(array.read(17, 0), std::logic_error);
    EXPECT_THROW(array.write(16, {1}), std::logic_error);
    array.fill(8, 8);
  });
  EXPECT_TRUE(outcome.held()) << outcome.failure.message;
}

TEST(SparseArray, IsNotRunWhereThereIsNoRoom) {
  const CaseOutcome outcome = run_case([] { SparseArray array("array", std::size_t{1} << 42); });
  ASSERT_TRUE(outcome.not_run);
  EXPECT_NE(outcome.not_run->find("'array'"), std::string::npos) << *outcome.not_run;
}

}  // namespace
}  // namespace lockstep
