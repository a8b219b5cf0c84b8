// The order between grids that descend from one launch of the host (CUDA C++ Programming Guide,
// "CUDA Dynamic Parallelism"). The grids form a tree: a grid is the parent of the grids that its
// threads launch. A grid has ended when all its descendants have. Two children of one grid are
// ordered as follows:
//
// - In one stream, the later child is ordered after the earlier one and its descendants.
// - A child whose stream waits for an event is ordered after the grids before the event's record.
// - A child in cudaStreamTailLaunch is ordered after its parent, after its parent's other children,
//   and after earlier tail launches.
// - Only tail launches are ordered after a child in cudaStreamFireAndForget.
//
// A child also knows what its launching thread knew (Knowledge). That orders accesses, not grids.
#pragma once

#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

namespace lockstep::check {

struct Descent {
  static constexpr std::uint32_t kNoLane = ~0u;  // cudaStreamFireAndForget and tail launches

  std::shared_ptr<const Descent> parent;  // nullptr: the host's launch
  std::uint32_t depth = 1;                // the parent's depth plus 1
  bool tail = false;                      // cudaStreamTailLaunch
  bool after_all = false;                 // this grid and all its ancestors are tail launches
  std::uint32_t lane = kNoLane,
                sequence = 0;  // its stream and place in it, among the parent's streams
  std::vector<std::pair<std::uint32_t, std::uint32_t>>
      waited;                  // by events: lanes, and the last sequence waited for
  std::uint64_t executed = 0;  // position in the order in which the family's grids were executed

  // Whether `a` and all its descendants are ordered before `b`. nullptr: the host's launch. The
  // grids must have been executed; `executed` holds their order.
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
  // The ancestor of b at this depth is a sibling of a, or a child of a.
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
