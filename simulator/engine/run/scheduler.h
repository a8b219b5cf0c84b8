// Runs the warps of a block in turns.
#pragma once

#include <cstdint>

#include "simulator/engine/state/block.h"
#include "simulator/engine/state/launch_state.h"

namespace lockstep::engine {

// Why a warp, block or cluster stopped running.
enum class Progress : std::uint8_t {
  kDone,
  kYielded,
  kDeferred,  // it could continue, but others run first
  kWaiting,   // a warp: for other warps; a block: for other blocks, at the cluster's barrier
  kAborted,   // a warp: a finding ends the launch
};
Progress run_block(Block& block);
}  // namespace lockstep::engine
