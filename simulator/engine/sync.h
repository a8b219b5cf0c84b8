// Operations of a warp's lanes with one another: shuffles, votes, matches, reductions, bar.warp.sync (PTX ISA 9.7.9, 9.7.13).
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

// Called by the scheduler. Completes parked *.sync groups of the warp; true when some lanes may run again.
bool complete_syncs(Warp& w);

}  // namespace lockstep::engine
