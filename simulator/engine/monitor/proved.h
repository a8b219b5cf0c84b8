// LOCKSTEP_PROOF=compare: what is proved of a kernel's accesses before its launch is held against
// what its threads do. The process stops at the first difference, with SIGABRT: the proof was
// wrong, and so would be a run that trusts it.
#pragma once

#include "simulator/engine/state/block.h"

namespace lockstep::engine {

// `lanes` are about to execute the operation at `pc`: their threads, and their addresses, must be
// those of the certificate.
void compare_with_proof(Warp& w, std::uint32_t pc, LaneMask lanes);
// The search has found a race between two operations of this launch.
void compare_race_with_proof(const Warp& w, isa::Space space, std::uint32_t mine,
                             std::uint32_t other, int lane);
// The load at `pc` has brought `lanes` what nobody has written.
void compare_unwritten_with_proof(const Warp& w, std::uint32_t pc, LaneMask lanes);

}  // namespace lockstep::engine
