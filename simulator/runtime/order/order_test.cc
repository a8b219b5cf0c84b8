// The order of operations by the rules of the CUDA documents, one rule per test.
#include "simulator/runtime/order/order.h"

#include <gtest/gtest.h>

namespace lockstep::runtime {
namespace {

bool before(const Operation& a, const Operation& b) { return b.before.covers(a.lane, a.sequence); }

class OrderTest : public testing::Test {
 protected:
  static StreamOrder stream(StreamKind kind, int device = 0) {
    StreamOrder s;
    s.kind = kind;
    s.device = device;
    return s;
  }
  Order order;
  StreamOrder legacy = stream(StreamKind::kLegacy), a = stream(StreamKind::kBlocking),
              b = stream(StreamKind::kBlocking), free = stream(StreamKind::kNonBlocking),
              free2 = stream(StreamKind::kNonBlocking), other = stream(StreamKind::kBlocking, 1);
};

TEST_F(OrderTest, AStreamIsASequence) {
  const Operation first = order.put(a), second = order.put(a);
  EXPECT_TRUE(before(first, second));
  EXPECT_FALSE(before(second, first));
}

TEST_F(OrderTest, TwoStreamsAreUnordered) {
  const Operation first = order.put(a), second = order.put(b);
  EXPECT_FALSE(before(first, second));
  EXPECT_FALSE(before(second, first));
  EXPECT_FALSE(before(first, order.put(other)));
}

TEST_F(OrderTest, TheLegacyStreamStandsBetweenBlockingOnes) {
  const Operation first = order.put(a), middle = order.put(legacy), last = order.put(b);
  EXPECT_TRUE(before(first, middle));
  EXPECT_TRUE(before(middle, last));
  EXPECT_TRUE(before(first, last));
  const Operation apart = order.put(free);
  EXPECT_FALSE(before(last, apart));
  EXPECT_FALSE(before(apart, order.put(legacy)));
  EXPECT_FALSE(before(middle, order.put(other))) << "another device has its own";
}

TEST_F(OrderTest, AnEventStandsForWhatTheStreamHadThen) {
  const Operation first = order.put(a);
  const Clock event = order.recorded(a);
  const Operation late = order.put(a);
  order.wait(free, event);
  const Operation waiting = order.put(free);
  EXPECT_TRUE(before(first, waiting));
  EXPECT_FALSE(before(late, waiting));
}

TEST_F(OrderTest, AnEventIsPassedOnByTheLegacyStream) {
  const Operation first = order.put(free);
  const Clock event = order.recorded(free);
  order.wait(legacy, event);
  EXPECT_TRUE(before(first, order.put(a))) << "the wait is an operation of the legacy stream";
  const Operation second = order.put(free);
  order.wait(a, order.recorded(free));
  EXPECT_TRUE(before(second, order.put(legacy))) << "and one of a blocking stream comes before it";
}

TEST_F(OrderTest, TheHostPassesOnWhatItHasWaitedFor) {
  const Operation first = order.put(a), unrelated = order.put(free);
  order.host_waits_for(order.waited_for(a));
  const Operation second = order.put(free2);
  EXPECT_TRUE(before(first, second));
  EXPECT_FALSE(before(unrelated, second));
  order.host_waits_for(order.all_of(0));
  EXPECT_TRUE(before(unrelated, order.put(b)));
}

TEST_F(OrderTest, AWaitForTheLegacyStreamIsOneForBlockingStreams) {
  const Operation first = order.put(a), apart = order.put(free);
  order.host_waits_for(order.waited_for(legacy));
  const Operation second = order.put(free2);
  EXPECT_TRUE(before(first, second));
  EXPECT_FALSE(before(apart, second));
}

TEST_F(OrderTest, ADeviceIsWaitedForAlone) {
  const Operation here = order.put(free), there = order.put(other);
  order.host_waits_for(order.all_of(1));
  const Operation next = order.put(free2);
  EXPECT_TRUE(before(there, next));
  EXPECT_FALSE(before(here, next));
  order.host_waits_for(order.all());
  EXPECT_TRUE(before(here, order.put(a)));
}

TEST_F(OrderTest, ACopyBetweenDevicesStandsBetweenAllWorkOfBoth) {
  const Operation here = order.put(free), there = order.put(other);
  const Operation copy = order.put_between_devices(legacy, 1);
  EXPECT_TRUE(before(here, copy));
  EXPECT_TRUE(before(there, copy));
  EXPECT_TRUE(before(copy, order.put(free2)));
  EXPECT_TRUE(before(copy, order.put(other)));
}

TEST_F(OrderTest, BranchesOfAGraphAreUnordered) {
  const Operation first = order.put(a);
  const Clock start = order.begin_graph(a);
  std::optional<Lane> left, right;
  const Operation l = order.step(left, start, {}), r = order.step(right, start, {});
  EXPECT_TRUE(before(first, l));
  EXPECT_FALSE(before(l, r));
  EXPECT_FALSE(before(r, l));
  Clock joined = l.before;
  joined.join(r.before);
  order.end_graph(a, joined);
  const Operation after = order.put(a);
  EXPECT_TRUE(before(l, after));
  EXPECT_TRUE(before(r, after));
  EXPECT_FALSE(before(l, order.put(b)));
}

TEST_F(OrderTest, LanesAreUsedAgainOnceTheHostHasWaited) {
  const Operation first = order.put(free);
  const Lane lane = *free.lane;
  order.drop(free);
  const Operation second = order.put(free2);
  EXPECT_NE(second.lane, lane) << "the first operation may run still";
  EXPECT_FALSE(before(first, second));
  order.host_waits_for(order.all());
  EXPECT_EQ(order.put(a).lane, lane);
}

TEST_F(OrderTest, AnAccessOfTheHostIsBeforeWhatIsPutLater) {
  const Operation first = order.put(a);
  const Operation access = order.host_access();
  EXPECT_FALSE(before(first, access));
  EXPECT_FALSE(before(access, first));
  EXPECT_TRUE(before(access, order.put(free)));
  const Operation second = order.host_access();
  EXPECT_TRUE(before(access, second));
  order.host_waits_for(order.all());
  EXPECT_TRUE(before(first, order.host_access()));
}

TEST_F(OrderTest, LanesOfADestroyedGraphAreUsedAgain) {
  const auto launch = [&] {
    std::optional<Lane> branch;
    const Operation step = order.step(branch, order.begin_graph(a), {});
    order.end_graph(a, step.before);
    order.host_waits_for(order.all());
    order.drop_lane(*branch);
    return *branch;
  };
  const Lane first = launch();
  for (int i = 0; i < 100; ++i) EXPECT_EQ(launch(), first);
}

}  // namespace
}  // namespace lockstep::runtime
