// Where warps look while a launch stands still (run/livelock.h).
#pragma once

#include <cstdint>

#include "simulator/engine/state/request.h"
#include "simulator/memory/device_memory.h"

namespace lockstep::engine {

// The warp accesses `address` in `a` while Worker::watch says that all stand still.
void note_look(Warp& w, const Request& r, const memory::Allocation& a, std::uint64_t address);

}  // namespace lockstep::engine
