// Global memory that a copy, a fill, an allocation or a free accesses while a grid may run, because
// nothing orders the two. Such operations have been executed before a kernel begins; those accesses
// of the kernel that conflict with them are findings.
#pragma once

#include "simulator/engine/state/block.h"
#include "simulator/engine/state/launch_state.h"
#include "simulator/engine/state/request.h"

namespace lockstep::engine {

// Whether grids or other operations may access some of `size` bytes at `address` while the warp's
// grid runs: then each lane's access must be looked at.
inline bool may_overlap(const Warp& w, std::uint64_t address, std::uint64_t size) {
  if (__builtin_expect(w.overlapped == 0, 1)) return false;
  const Launch& launch = *w.block->launch;
  return !launch.config->running_grids.empty() || launch.concurrent_memory.holds_any(address, size);
}

// Reports those of `lanes` whose accesses conflict with LaunchConfig::concurrent. Addresses are as
// resolve_global() leaves them. False: a finding ends the launch.
bool check_concurrent_access(Warp& w, const Request& r, LaneMask lanes);

}  // namespace lockstep::engine
