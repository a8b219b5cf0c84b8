// Atomics between the files that make them up.
#pragma once

#include <bit>

#include "simulator/engine/state/request.h"
#include "simulator/isa/opcode.h"

namespace lockstep::engine {

// Whether the atomic adds 32-bit integers in shared memory, one a lane, orders nothing, and has
// addresses of 32 bits: add_in_shared_memory() may do it.
inline bool adds_in_shared_memory(const Op& op) {
  const auto fields = op.as<MemoryFields>();
  return static_cast<isa::Space>(op.space) == isa::Space::kShared && op.width == 4 &&
         op.elements == 1 && op.as<AtomicFields>().what() == isa::AtomOp::kAdd &&
         fields.has(kNarrowAddress) &&
         !fields.has_any(kFloatResult | kHalfElements | kFrameAddress | kAcquire | kRelease);
}
// The same of integers of 32 or 64 bits in global memory, with addresses of 64 bits.
inline bool adds_in_global_memory(const Op& op) {
  const auto fields = op.as<MemoryFields>();
  return static_cast<isa::Space>(op.space) == isa::Space::kGlobal &&
         (op.width == 4 || op.width == 8) && op.elements == 1 &&
         op.as<AtomicFields>().what() == isa::AtomOp::kAdd &&
         !fields.has_any(kNarrowAddress | kFloatResult | kHalfElements | kFrameAddress | kAcquire |
                         kRelease);
}
// False, with nothing done: each lane must be looked at.
bool add_in_shared_memory(Warp& w, const Op& op, LaneMask mask);
bool add_in_global_memory(Warp& w, const Op& op, LaneMask mask);

// Adds integers in global memory: lane i to *place(i). `results`: what was there before, or
// nullptr. `together`: all lanes go to one place. They are one after another there, with nobody
// between.
template <class U, class Place>
inline void add_lanes(LaneMask mask, const U* values, U* results, bool together, Place place) {
  const auto add = [&](int i) { return __atomic_fetch_add(place(i), values[i], __ATOMIC_SEQ_CST); };
  if (together) {
    U sum = 0;
    each(mask, [&](int i) { sum = static_cast<U>(sum + values[i]); });
    U old = __atomic_fetch_add(place(std::countr_zero(mask)), sum, __ATOMIC_SEQ_CST);
    if (results == nullptr) return;
    each(mask, [&](int i) {
      const U mine = values[i];  // which may be in the same register
      results[i] = old;
      old = static_cast<U>(old + mine);
    });
  } else if (results != nullptr) {
    each(mask, [&](int i) { results[i] = add(i); });
  } else if (mask == kAllLanes) {
    for (int i = 0; i < kWarpSize; ++i) add(i);
  } else {
    each(mask, add);
  }
}

}  // namespace lockstep::engine
