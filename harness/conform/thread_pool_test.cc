#include "harness/conform/thread_pool.h"

#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <mutex>
#include <set>
#include <thread>
#include <vector>

namespace lockstep {
namespace thread_pool_test {

TEST(RunTasks, OneWorkerRunsThemInOrder) {
  std::vector<std::size_t> order;
  EXPECT_EQ(run_tasks(1, 5, [&](std::size_t i) { return order.push_back(i), true; }), 5u);
  EXPECT_EQ(order, (std::vector<std::size_t>{0, 1, 2, 3, 4}));
}

TEST(RunTasks, EveryTaskRunsOnceWhateverTheNumberOfWorkers) {
  for (int workers : {-1, 0, 1, 2, 7, 64}) {
    std::mutex mutex;
    std::multiset<std::size_t> ran;
    EXPECT_EQ(run_tasks(workers, 20,
                        [&](std::size_t i) {
                          const std::lock_guard lock(mutex);
                          ran.insert(i);
                          return true;
                        }),
              20u);
    EXPECT_EQ(ran.size(), 20u);
    EXPECT_EQ(std::set<std::size_t>(ran.begin(), ran.end()).size(), 20u);
  }
}

TEST(RunTasks, WorkersRunAtTheSameTime) {
  // Each of the three waits until all have begun. Run one after the other, they would wait in vain.
  std::atomic<int> there = 0, met = 0;
  run_tasks(3, 3, [&](std::size_t) {
    ++there;
    const auto until = std::chrono::steady_clock::now() + std::chrono::seconds(20);
    while (there < 3 && std::chrono::steady_clock::now() < until) std::this_thread::yield();
    met += there == 3;
    return true;
  });
  EXPECT_EQ(met, 3);
}

TEST(RunTasks, NoneBeginsAfterOneSaidStop) {
  std::vector<std::size_t> order;
  EXPECT_EQ(run_tasks(1, 10, [&](std::size_t i) { return order.push_back(i), i != 3; }), 4u);
  EXPECT_EQ(order.size(), 4u);
  EXPECT_LE(run_tasks(4, 1'000'000, [](std::size_t) { return false; }), 4u)
      << "at most one a worker";
}

TEST(RunTasks, NothingToDo) {
  EXPECT_EQ(run_tasks(4, 0, [](std::size_t) -> bool { throw 1; }), 0u);
}

}  // namespace thread_pool_test
}  // namespace lockstep
