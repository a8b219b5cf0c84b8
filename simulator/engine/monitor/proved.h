// LOCKSTEP_PROOF=compare: compares what is proved of a kernel's accesses before its launch with
// what its threads do. The process stops with SIGABRT at the first difference: the proof is wrong,
// and so would be a run that relies on it.
#pragma once

#include "simulator/engine/state/block.h"

namespace lockstep::engine {

// Call before `lanes` execute the operation at `pc`. Their threads and addresses must be those of
// the certificate.
void compare_with_proof(Warp& w, std::uint32_t pc, LaneMask lanes);
// Call when the search has found a race between two operations of this launch.
void compare_race_with_proof(const Warp& w, isa::Space space, std::uint32_t mine,
                             std::uint32_t other, int lane);
// Call when the load at `pc` has loaded uninitialised bytes in `lanes`.
void compare_unwritten_with_proof(const Warp& w, std::uint32_t pc, LaneMask lanes);

}  // namespace lockstep::engine
