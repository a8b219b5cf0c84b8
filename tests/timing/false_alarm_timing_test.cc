// Compares a kernel with itself, a thousand times: the rate of false alarms of timing verdicts on
// this GPU.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cstdlib>

#include "kernels/memory_access.h"
#include "tests/timing/timing.h"

namespace lockstep::timing {
namespace {

class FalseAlarmTiming : public Timing {};

TEST_F(FalseAlarmTiming, IsAtMostOnceInAThousand) {
  constexpr int kRuns = 1000, kMaxAlarms = 1;
  constexpr std::int64_t kElements = 1 << 22;
  DeviceMemory x(4 * kElements), y(4 * kElements);
  x.write(ordinary_floats(kElements).data(), x.bytes());
  const Work copy = [&](cudaStream_t stream) {
    return text(kernels::gather(kernels::LoadPath::kDefault, {}, 4, x.as<void>(), kElements,
                                y.as<void>(), kElements, {}, stream));
  };
  const StopwatchRules quick = {.pairs = 24, .warm_up = 1, .sample_us = 200};
  int alarms = 0, unconfirmed = 0, same = 0, inconclusive = 0;
  for (int run = 0; run < kRuns; ++run) {
    const MeasuredSpeed m = measure_speed(copy, copy, {}, quick);
    ASSERT_EQ(m.error, "");
    const SpeedComparison& c = m.comparison;
    alarms += c.speed == Speed::kFaster || c.speed == Speed::kSlower;
    unconfirmed += c.why.starts_with("it was");
    same += c.speed == Speed::kSame;
    inconclusive += c.speed == Speed::kInconclusive;
    if (c.speed != Speed::kSame && !c.why.starts_with("the interval"))
      fmt::print("run {}: {}\n", run, to_text(c));
  }
  fmt::print(
      "A/A: {} runs: {} false alarms, {} SAME, {} INCONCLUSIVE, of them {} not found again\n",
      kRuns, alarms, same, inconclusive, unconfirmed);
  ::testing::Test::RecordProperty("false_alarms", alarms);
  EXPECT_LE(alarms, kMaxAlarms);
}

}  // namespace
}  // namespace lockstep::timing
