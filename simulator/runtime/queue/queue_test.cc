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
  Entry& put(int number) {
    auto entry = std::make_shared<Entry>();
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

TEST(Queue, LeavesOutHostFunctionsWhereTheyMayNotRun) {
  Program p;
  p.put(1), p.put(1).for_host = true;
  p.put(2), p.put(1);
  EXPECT_EQ(p.run({nullptr, true}), "ac");
  EXPECT_EQ(p.run({}), "bd");
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

}  // namespace
}  // namespace lockstep::runtime
