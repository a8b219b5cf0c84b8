// Which grids that descend from one launch of the host are ordered (CUDA C++ Programming Guide,
// "CUDA Dynamic Parallelism"). They are a tree: a grid is the parent of those that its threads
// launch, and has ended when all below it have. Of two children of one grid,
//
// - the later one in a stream comes after the earlier one and all below it;
// - so does one whose stream waits for an event that was recorded behind the earlier one;
// - one of cudaStreamTailLaunch comes after the parent itself, after all its other children, and
//   after its earlier tail launches;
// - nothing but that comes after one of cudaStreamFireAndForget.
//
// What the launching thread knew is the child's besides (Knowledge): that is no order of grids.
#pragma once

#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

namespace lockstep::check {

struct Descent {
  static constexpr std::uint32_t kNoLane = ~0u;  // of cudaStreamFireAndForget, and of tail launches

  std::shared_ptr<const Descent> parent;       // nullptr: the launch of the host
  std::uint32_t depth = 1;                     // of the parent, and 1
  bool tail = false;                           // cudaStreamTailLaunch
  bool after_all = false;                      // it and all above it are tail launches
  std::uint32_t lane = kNoLane, sequence = 0;  // its stream among the parent's
  std::vector<std::pair<std::uint32_t, std::uint32_t>> waited;  // lanes, and how far, by events
  std::uint64_t executed = 0;  // counts the grids of the family as they are executed

  // Whether `a`, and all below it, come before `b`. Null: the launch of the host. One of them has
  // been executed before the other, which `executed` says.
  static bool is_before(const Descent* a, const Descent* b);

 private:
  static bool is_sibling_before(const Descent& a, const Descent& b);
};

inline bool Descent::is_sibling_before(const Descent& a, const Descent& b) {
  if (b.tail) return !a.tail || a.executed < b.executed;
  if (a.tail || a.lane == kNoLane) return false;
  // Grids of several blocks may be in one stream in whatever order they were executed.
  if (a.lane == b.lane) return a.executed < b.executed;
  for (const auto& [lane, sequence] : b.waited) {
    if (lane == a.lane && a.sequence <= sequence) return true;
  }
  return false;
}

inline bool Descent::is_before(const Descent* a, const Descent* b) {
  if (b == nullptr || a == b) return false;
  if (b->after_all) return a == nullptr || a->executed < b->executed;
  const std::uint32_t depth = a == nullptr ? 0 : a->depth;
  // What lies above both on the way to b is a's sibling, or a's child.
  while (b->depth > depth + 1) b = b->parent.get();
  if (b->depth == depth + 1) {
    if (b->parent.get() == a) return b->tail;
    b = b->parent.get();
  }
  while (a->depth > b->depth) a = a->parent.get();
  if (a == b) return false;  // b is above a
  while (a->parent != b->parent) {
    a = a->parent.get();
    b = b->parent.get();
  }
  return is_sibling_before(*a, *b);
}

}  // namespace lockstep::check
