// Checks a kernel's accesses against copies, fills, allocations and frees that are unordered with
// it. Such operations have been executed before the kernel starts. Accesses of the kernel that
// conflict with them are findings.
#pragma once

#include "simulator/engine/state/block.h"
#include "simulator/engine/state/launch_state.h"
#include "simulator/engine/state/request.h"

namespace lockstep::engine {

// Whether grids or other operations that are unordered with the warp's grid may access some of
// `size` bytes at `address`. If so, each lane's access must be checked.
inline bool may_overlap(const Warp& w, std::uint64_t address, std::uint64_t size) {
  if (__builtin_expect(w.overlapped == 0, 1)) return false;
  const Launch& launch = *w.block->launch;
  return !launch.config->running_grids.empty() || launch.concurrent_memory.holds_any(address, size);
}

// Reports those of `lanes` whose accesses conflict with LaunchConfig::concurrent. Addresses must be
// as resolve_global() leaves them. Returns false if a finding ends the launch.
bool check_concurrent_access(Warp& w, const Request& r, LaneMask lanes);

}  // namespace lockstep::engine
