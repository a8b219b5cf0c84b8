// Atomics between the files that make them up.
#pragma once

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
// False, with nothing done: each lane must be looked at.
bool add_in_shared_memory(Warp& w, const Op& op, LaneMask mask);

}  // namespace lockstep::engine
