// Global memory that a copy, a fill, an allocation or a free accesses while a grid may run, because
// nothing orders the two. Such operations have been executed before a kernel begins; those accesses
// of the kernel that conflict with them are findings.
#pragma once

#include "simulator/engine/state/block.h"
#include "simulator/engine/state/request.h"

namespace lockstep::engine {

// Reports those of `lanes` whose accesses conflict with LaunchConfig::concurrent. Addresses are as
// resolve_global() leaves them. False: a finding ends the launch.
bool check_concurrent_access(Warp& w, const Request& r, LaneMask lanes);

}  // namespace lockstep::engine
