#include "simulator/runtime/queue/queue.h"

#include <gtest/gtest.h>

#include <set>
#include <string>

namespace lockstep::runtime {
namespace {

// Streams by their number; operations by letters in the order of the calls.
struct Program {
  Order order;
  Queue queue{order};
  std::map<int, StreamOrder> streams;
  std::vector<std::shared_ptr<Entry>> entries;

  StreamOrder& stream(int number) {
    StreamOrder& s = streams[number];
    s.kind = number == 0 ? StreamKind::kLegacy : StreamKind::kBlocking;
    return s;
  }
  Entry& put(int number, bool for_host = false) {
    auto entry = std::make_shared<Entry>();
    entry->for_host = for_host;
    entry->at = order.put(stream(number));
    queue.add(entry);
    entries.push_back(entry);
    return *entry;
  }
  char letter(const Entry* entry) const {
    for (std::size_t i = 0; i < entries.size(); ++i)
      if (entries[i].get() == entry) return static_cast<char>('a' + i);
    return '-';
  }
  // Executes all executable operations. Returns their letters in the order of execution.
  std::string run(const Queue::Choice& choice) {
    std::string done;
    while (const auto entry = queue.next(choice)) {
      done += letter(entry.get());
      queue.remove(*entry);
    }
    return done;
  }
};

TEST(Queue, GivesOperationsInTheOrderInWhichTheyWerePut) {
  Program p;
  for (const int s : {1, 2, 1, 0, 2, 1}) p.put(s);
  EXPECT_EQ(p.run({}), "abcdef");
  EXPECT_TRUE(p.queue.empty());
  for (const auto& entry : p.entries) EXPECT_TRUE(entry->done);
}

TEST(Queue, GivesWhatAWaitNeedsAndNoMore) {
  Program p;
  p.put(1), p.put(2), p.put(1), p.put(2);
  const Clock first = p.order.waited_for(p.stream(1));
  EXPECT_TRUE(p.queue.has(first));
  EXPECT_EQ(p.run({&first}), "ac");
  EXPECT_FALSE(p.queue.has(first));
  EXPECT_EQ(p.run({}), "bd");
}

TEST(Queue, LeavesOutWhatWaitsAndAllThatComesAfterIt) {
  Program p;
  Entry& a = p.put(1);
  p.put(2), p.put(1), p.put(2);
  p.queue.waits(a);
  EXPECT_EQ(p.queue.next({})->at.lane, p.entries[1]->at.lane);
  p.queue.remove(*p.queue.next({}));
  p.queue.waits(a);
  p.queue.remove(*p.queue.next({}));
  p.queue.waits(a);
  EXPECT_EQ(p.queue.next({}), nullptr);
  p.queue.changed();
  EXPECT_EQ(p.run({}), "ac");
}

// However much the others change.
TEST(Queue, AnInterruptedOperationHasItsNextTurnInTheNextRound) {
  Program p;
  Entry& a = p.put(1);
  p.put(2), p.put(1), p.put(2);
  p.queue.interrupted(a);
  EXPECT_EQ(p.run({}), "bd");
  p.queue.changed();
  EXPECT_EQ(p.queue.next({}), nullptr);
  p.queue.begin_round();
  EXPECT_EQ(p.run({}), "ac");
}

TEST(Queue, ACallOfTheHostBeginsARound) {
  Program p;
  p.queue.interrupted(p.put(1));
  EXPECT_EQ(p.queue.next({}), nullptr);
  p.queue.called();
  EXPECT_EQ(p.run({}), "a");
}

TEST(Queue, LeavesOutHostFunctionsWhereTheyMayNotRun) {
  Program p;
  p.put(1), p.put(1, true);
  p.put(2), p.put(1);
  EXPECT_EQ(p.run({nullptr, true}), "ac");
  EXPECT_EQ(p.run({}), "bd");
}

TEST(Queue, HasHostFunctionsUntilTheLastOfThemIsExecuted) {
  Program p;
  EXPECT_FALSE(p.queue.has_host_functions());
  p.put(1), p.put(1, true), p.put(2, true), p.put(1);
  EXPECT_TRUE(p.queue.has_host_functions()) << "although the last operation is none";
  p.run({nullptr, true, nullptr});
  EXPECT_TRUE(p.queue.has_host_functions());
  p.run({});
  EXPECT_FALSE(p.queue.has_host_functions());
}

TEST(Queue, AnotherThreadsOperationIsNotGivenTwice) {
  Program p;
  p.put(1).running = true;
  p.put(1);
  EXPECT_EQ(p.queue.next({}), nullptr);
}

// Two streams of two operations can be interleaved in six ways; the seed selects one.
TEST(Queue, ASeedChoosesAnyOrderThatTheApiAllows) {
  std::set<std::string> orders;
  for (std::uint64_t seed = 1; seed <= 100; ++seed) {
    std::mt19937_64 random(seed), again(seed);
    Program p, q;
    for (const int s : {1, 2, 1, 2}) p.put(s), q.put(s);
    const std::string order = p.run({nullptr, false, &random});
    EXPECT_EQ(q.run({nullptr, false, &again}), order);
    orders.insert(order);
  }
  EXPECT_EQ(orders, (std::set<std::string>{"abcd", "abdc", "acbd", "bacd", "badc", "bdac"}));
}

TEST(Queue, WhatTheHostWaitsForIsNotSettledForEarlierOperations) {
  Program p;
  p.put(1), p.put(2);
  const Clock first = p.order.waited_for(p.stream(1));
  p.run({&first});
  p.order.host_waits_for(first);
  const Operation& a = p.entries[0]->at;
  EXPECT_TRUE(p.order.host().covers(a.lane, a.sequence));
  // The pending operation of the second stream is not ordered after it.
  EXPECT_FALSE(p.order.settled().covers(a.lane, a.sequence));
  p.run({});
  EXPECT_TRUE(p.order.settled().covers(a.lane, a.sequence));
}

TEST(Queue, OperationsLearnOfWhatWasExecuted) {
  Program p;
  Entry& a = p.put(1);
  Entry& b = p.put(2);
  EXPECT_FALSE(b.at.before.covers(a.at.lane, a.at.sequence));
  const Clock executed = a.at.before;
  p.queue.remove(a);
  p.queue.learn(executed);
  EXPECT_TRUE(b.at.before.covers(a.at.lane, a.at.sequence));
}

// The operations, by letters, with which all others are ordered.
std::string ordered_with_all(const Program& p) {
  std::string all;
  for (const auto& entry : p.entries)
    if (p.queue.orders_all_with(entry->at)) all += p.letter(entry.get());
  return all;
}

TEST(Queue, OneStreamOrdersEachOperationWithAll) {
  Program p;
  p.put(1), p.put(1), p.put(1);
  EXPECT_EQ(ordered_with_all(p), "abc");
  p.queue.remove(*p.entries[0]);
  EXPECT_TRUE(p.queue.orders_all_with(p.entries[1]->at));
}

TEST(Queue, APendingOperationOfAnotherStreamIsUnordered) {
  Program p;
  p.put(1), p.put(2), p.put(1);
  EXPECT_EQ(ordered_with_all(p), "");
}

TEST(Queue, AnExecutedOperationOfAnotherStreamStaysUnordered) {
  Program p;
  p.put(1), p.put(2);
  const Clock second = p.order.waited_for(p.stream(2));
  p.run({&second});
  EXPECT_FALSE(p.queue.orders_all_with(p.entries[0]->at));
  p.order.host_waits_for(second);
  EXPECT_FALSE(p.queue.orders_all_with(p.entries[0]->at)) << "it was put before the wait";
  p.put(1), p.put(1);
  EXPECT_TRUE(p.queue.orders_all_with(p.entries[2]->at)) << "this one was put after it";
}

TEST(Queue, TheLegacyStreamIsOrderedWithAllBlockingStreams) {
  Program p;
  p.put(1), p.put(2), p.put(0), p.put(2), p.put(1);
  EXPECT_EQ(ordered_with_all(p), "c");
}

TEST(Queue, AStreamThatWaitsForAnEventIsOrderedWithIt) {
  Program p;
  p.put(1);
  p.order.wait(p.stream(2), p.order.recorded(p.stream(1)));
  p.put(2), p.put(2);
  EXPECT_EQ(ordered_with_all(p), "abc");
  p.put(1);
  EXPECT_EQ(ordered_with_all(p), "a") << "nothing orders the last one with the second stream";
}

TEST(Queue, ReservedNumbersCountAsUnordered) {
  Program p;
  p.put(1);
  std::optional<Lane> lane;
  p.order.reserve(lane, 3);
  EXPECT_EQ(ordered_with_all(p), "");
}

TEST(Queue, AnAccessOfTheHostInBetweenIsUnordered) {
  Program p;
  p.put(1);
  p.order.host_access();
  p.put(1);
  EXPECT_EQ(ordered_with_all(p), "b");
}

TEST(QueueDeathTest, AnOperationMustComeAfterAllThatAreExpectedBeforeIt) {
  Program p;
  p.order.expect_all_after(p.put(1).at);
  p.put(1), p.put(0);
  EXPECT_TRUE(p.put(2).at.before.covers(p.entries[0]->at.lane, 1)) << "behind the legacy stream";
  EXPECT_DEATH(
      {
        p.stream(3).kind = StreamKind::kNonBlocking;
        p.order.put(p.streams[3]);
      },
      "counted as ordered with every operation");
}

}  // namespace
}  // namespace lockstep::runtime
