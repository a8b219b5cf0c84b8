#include "simulator/runtime/order/touched_memory.h"

#include <gtest/gtest.h>

namespace lockstep::runtime {
namespace {

Touched touched(Lane lane, std::uint32_t sequence, memory::Address begin, std::uint64_t bytes,
                bool writes) {
  return {memory::Box::line(begin, bytes),
          writes ? Touch::kWrites : Touch::kReads,
          "cudaMemcpyAsync",
          nullptr,
          {},
          lane,
          sequence};
}

TEST(TouchedMemory, ConflictsNeedAWriteAndACommonByte) {
  TouchedMemory memory;
  memory.add(touched(0, 1, 100, 10, false));
  memory.add(touched(0, 2, 200, 10, true));
  const Clock nothing;
  EXPECT_EQ(memory.find(nothing, memory::Box::line(100, 4), false), nullptr) << "two reads";
  EXPECT_NE(memory.find(nothing, memory::Box::line(100, 4), true), nullptr);
  EXPECT_NE(memory.find(nothing, memory::Box::line(209, 1), false), nullptr);
  EXPECT_EQ(memory.find(nothing, memory::Box::line(210, 1), true), nullptr);
}

TEST(TouchedMemory, WhatIsOrderedDoesNotConflict) {
  TouchedMemory memory;
  memory.add(touched(3, 5, 100, 10, true));
  Clock before;
  before.raise(3, 4);
  EXPECT_NE(memory.find(before, memory::Box::line(100, 4), false), nullptr);
  before.raise(3, 5);
  EXPECT_EQ(memory.find(before, memory::Box::line(100, 4), false), nullptr);
  EXPECT_TRUE(memory.unordered(before).empty());
  memory.settle(before);
  EXPECT_TRUE(memory.empty());
}

TEST(TouchedMemory, ALaterOperationStandsForAnEarlierOneOfItsLane) {
  TouchedMemory memory;
  for (std::uint32_t i = 1; i <= 100'000; ++i) memory.add(touched(0, i, 100, 10, true));
  EXPECT_EQ(memory.unordered({}).size(), 1u);
  memory.add(touched(0, 100'001, 102, 2, false));
  EXPECT_EQ(memory.unordered({}).size(), 2u) << "a read does not stand for a write";
  memory.add(touched(0, 100'002, 90, 30, true));
  EXPECT_EQ(memory.unordered({}).size(), 1u);
  memory.add(touched(1, 1, 90, 30, true));
  EXPECT_EQ(memory.unordered({}).size(), 2u) << "nor one of another lane";
}

TEST(TouchedMemory, TheOldestAreForgotten) {
  TouchedMemory memory;
  for (std::uint32_t i = 1; i <= 2 * TouchedMemory::kMost; ++i)
    memory.add(touched(0, i, 100 * i, 10, true));
  EXPECT_EQ(memory.unordered({}).size(), TouchedMemory::kMost);
  EXPECT_EQ(memory.find({}, memory::Box::line(100, 1), true), nullptr);
  EXPECT_NE(memory.find({}, memory::Box::line(100 * 2 * TouchedMemory::kMost, 1), true), nullptr);
}

}  // namespace
}  // namespace lockstep::runtime
