// Accesses to allocations whose stores are only listed (state/deferred_stores.h).
#pragma once

#include "simulator/engine/state/block.h"
#include "simulator/engine/state/request.h"
#include "simulator/engine/state/worker.h"

namespace lockstep::engine {

// Whether the weak load at `pc` from such an allocation need not be recorded: it is proved apart
// from all stores. Otherwise all listed stores are recorded now.
bool is_deferred_load(Warp& w, std::uint32_t pc);
// Whether the weak stores of `op`, the one before w.pc, are listed now and need not be recorded:
// lane i of `lanes` stores `size` bytes at first + i * size. Otherwise as above.
bool is_deferred_store(Warp& w, const Op& op, std::uint64_t first, LaneMask lanes,
                       std::uint32_t size);
// The same of any access.
bool is_deferred(Warp& w, const Request& r, LaneMask lanes);
// Records all listed stores: from now on everything is recorded.
void end_deferral(Worker& worker);

}  // namespace lockstep::engine
