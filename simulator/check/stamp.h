// A thread at some time, and the question whether that time is ordered before what a thread does
// now. All searches for races ask it here.
#pragma once

#include <cstdint>

#include "simulator/check/block_order.h"
#include "simulator/check/grid_order.h"
#include "simulator/check/scope.h"

namespace lockstep::check {

// A thread of some launch at some time.
struct Stamp {
  std::uint32_t block = 0;  // number in the schedule
  std::uint32_t epoch = 0;
  std::uint16_t clock = 0;
  std::uint8_t warp = 0, lane = 0;
  bool operator==(const Stamp&) const = default;
};

// The side of the present access: the warp that accesses now, and the kind of access.
struct Side {
  BlockOrder* order = nullptr;
  std::uint32_t block = 0, warp = 0, pc = 0;
  bool strong = false, write = false;
  Scope scope = Scope::kGrid;
  bool updates = false;   // an atomic: it writes a value that depends on the value that it read
  bool observes = false;  // the thread uses the value that it read
  bool acquires = false, releases = false;
  std::uint8_t size = 4;  // of a strong access: bytes of an element, at most 16
  bool reads() const { return !write || observes; }
};

enum class Relation : std::uint8_t { kSelf, kOrdered, kUnordered };

// The order between an earlier access and the present access of `lane` of `side`.
inline Relation relate(const Stamp& earlier, std::uint32_t lane, const Side& side) {
  if (earlier.block == side.block) {
    if (earlier.epoch != side.order->epoch()) return Relation::kOrdered;
    if (earlier.warp == side.warp && earlier.lane == lane) return Relation::kSelf;
    return side.order->ordered(earlier.warp * 32u + earlier.lane, earlier.clock,
                               side.warp * 32 + lane)
               ? Relation::kOrdered
               : Relation::kUnordered;
  }
  if (!side.order->is_of_launch(earlier.block) &&
      (side.order->grid().launches().is_before(earlier.block) ||
       side.order->ordered_after_launch(side.warp * 32 + lane, earlier.block)))
    return Relation::kOrdered;
  return side.order->ordered_after_block(side.warp * 32 + lane, earlier.block, earlier.epoch,
                                         earlier.warp, earlier.lane, earlier.clock)
             ? Relation::kOrdered
             : Relation::kUnordered;
}

// The lanes of the earlier access's warp for which relate() at that time is not kUnordered.
inline std::uint32_t lanes_not_unordered(const Stamp& earlier, std::uint32_t lane,
                                         const Side& side) {
  const BlockOrder& order = *side.order;
  const std::uint32_t thread = side.warp * 32 + lane;
  if (earlier.block == side.block) {
    if (earlier.epoch != order.epoch()) return ~0u;
    const std::uint32_t self = earlier.warp == side.warp ? 1u << lane : 0;
    return self | order.ordered_lanes(earlier.warp, earlier.clock, thread);
  }
  if (!order.is_of_launch(earlier.block) && (order.grid().launches().is_before(earlier.block) ||
                                             order.ordered_after_launch(thread, earlier.block)))
    return ~0u;
  return order.lanes_ordered_after_block(thread, earlier.block, earlier.epoch, earlier.warp,
                                         earlier.clock);
}

}  // namespace lockstep::check
