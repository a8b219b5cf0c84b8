// Runs the warps of a block by turns, and what handlers ask of the scheduler.
#pragma once

#include <cstdint>

#include "simulator/engine/state/block.h"
#include "simulator/engine/state/launch_state.h"

namespace lockstep::engine {

// How far a warp, a block or a cluster has come when it no longer runs.
enum class Progress : std::uint8_t {
  kDone,
  kYielded,
  kDeferred,  // it could go on, and others come first
  kWaiting,   // a warp for others; a block at the cluster's barrier, for other blocks
  kAborted,   // a warp: a finding ends the launch
};
Progress run_block(Block& block);
}  // namespace lockstep::engine
