// Records what warps poll while a launch makes no progress (run/livelock.h).
#pragma once

#include <cstdint>

#include "simulator/engine/state/request.h"
#include "simulator/memory/device_memory.h"

namespace lockstep::engine {

// The warp accesses `address` in `a` while Worker::watch is set, that is, while nothing in the
// launch changes.
void note_look(Warp& w, const Request& r, const memory::Allocation& a, std::uint64_t address);

}  // namespace lockstep::engine
