// Runs the warps of a block by turns, and what handlers ask of the scheduler.
#pragma once

#include <cstdint>

#include "simulator/engine/state/block.h"
#include "simulator/engine/state/launch_state.h"

namespace lockstep::engine {

enum class Progress : std::uint8_t {
  kDone,
  kYielded,
  kDeferred,  // it could go on, and others come first
  kWaiting,   // at the cluster's barrier, for other blocks
};
Progress run_block(Block& block);
}  // namespace lockstep::engine
