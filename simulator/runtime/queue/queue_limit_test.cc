// How long the queue may get.
#include "simulator/runtime/queue/queue_limit.h"

#include <gtest/gtest.h>

namespace lockstep::runtime {
namespace {

using std::chrono::microseconds;

TEST(QueueLimit, DependsOnTheTimeOfTheLatestOperations) {
  QueueLimit limit;
  const std::size_t most = limit.most();
  for (int i = 0; i < 63; ++i) limit.executed(microseconds(1));
  EXPECT_EQ(limit.most(), most) << "too few to know";
  limit.executed(microseconds(1));
  EXPECT_EQ(limit.most(), 128u);
  for (int i = 0; i < 100; ++i) limit.executed(microseconds(1000));
  EXPECT_EQ(limit.most(), most);
  for (int i = 0; i < 200; ++i) limit.executed(microseconds(1));
  EXPECT_EQ(limit.most(), 128u);
}

}  // namespace
}  // namespace lockstep::runtime
