// What the parts that resolve addresses share: the words of a finding about an access, and the checks of alignment and races.
#pragma once

#include "simulator/engine/block.h"
#include "simulator/engine/memory_ops.h"

namespace lockstep::engine {

// A finding about the access of the lowest of `lanes`; the others are counted.
check::Finding access_finding(const Warp& w, const Request& r, ptx::Space space, LaneMask lanes, check::Kind kind);

// The report for lanes whose address is no multiple of the access's size. Always false, for `return`.
bool report_misaligned(Warp& w, const Request& r, ptx::Space space, LaneMask lanes);

bool resolve_global(Warp& w, Request& r, LaneMask lanes);
bool resolve_shared(Warp& w, Request& r, LaneMask lanes);
bool resolve_local(Warp& w, Request& r, LaneMask lanes);

// Whether `size` bytes from `low` lie in one local variable of a frame that the running fragment has on its stack.
bool in_local_variable(const Warp& w, int lane, std::uint64_t low, std::uint32_t size);

// What a fence does, as part of an access with .acquire or .release.
void order(Warp& w);

}  // namespace lockstep::engine
