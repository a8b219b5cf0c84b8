// fence.proxy (PTX ISA 9.7.13.4, membar and fence).
#pragma once

#include "simulator/engine/state/warp.h"

namespace lockstep::engine {

// fence.proxy.async for shared memory.
void run_proxy_fence(Warp& w, const Op& op, LaneMask mask);
// fence.proxy.tensormap::generic.acquire of the map at src[0] + immediate.
void run_tensor_map_fence(Warp& w, const Op& op, LaneMask mask);

}  // namespace lockstep::engine
