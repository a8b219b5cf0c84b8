// Operations of a warp's lanes with one another, and barriers of a block's warps.
#pragma once

#include "simulator/engine/block.h"

namespace lockstep::engine {

// What a *.sync does; Op::flags.
enum class SyncKind : std::uint8_t {
  kShflUp, kShflDown, kShflBfly, kShflIdx,
  kVoteAll, kVoteAny, kVoteUni, kVoteBallot,
  kMatchAny, kMatchAll,
  kReduxAdd, kReduxMinU, kReduxMinS, kReduxMaxU, kReduxMaxS, kReduxAnd, kReduxOr, kReduxXor, kReduxMinF, kReduxMaxF,
  kElect, kWarpBarrier,
};

// src[0..2]: the operation's own sources; src[3]: the member mask. immediate: of redux on f32, kReduxAbs and kReduxNaN.
inline constexpr std::int64_t kReduxAbs = 1, kReduxNaN = 2;
void run_sync(Warp& w, const Op& op, LaneMask mask);
void run_activemask(Warp& w, const Op& op, LaneMask mask);

// What a bar does; Op::flags, with kBarAligned. src[0]: barrier, src[1]: threads (or kNoSlot), src[2]: predicate of .red.
enum BarFlags : std::uint8_t { kBarSync = 0, kBarArrive = 1, kBarRedAnd = 2, kBarRedOr = 3, kBarRedPopc = 4, kBarKind = 7, kBarAligned = 8 };
void run_bar(Warp& w, const Op& op, LaneMask mask);
void run_fence(Warp& w, const Op& op, LaneMask mask);

// Called by the scheduler. Completes parked *.sync groups of the warp; true when some lanes may run again.
bool complete_syncs(Warp& w);
// Nothing of the warp is runnable: if all its lanes stand at a barrier, the warp arrives there. True when it may go on at once.
bool warp_reaches_barrier(Warp& w);
// A warp has exited: barriers that wait for all warps may be complete.
void recheck_barriers(Block& b);
// Nothing in the block can run: says why.
void report_stuck(Block& b);

inline LaneMask living(const Warp& w) { return w.exists & ~w.control->exited; }

}  // namespace lockstep::engine
