// Runs the proofs about a launch before its first block starts.
#pragma once

#include "simulator/engine/run/module.h"
#include "simulator/engine/state/launch_state.h"

namespace lockstep::engine {

// Sets Launch::certificate and, with LaunchConfig::Proof::kOn, turns off the checks that it makes
// unnecessary. The memory of the launch must be laid out.
void certify(Launch& l, const LoadedKernel& loaded);

}  // namespace lockstep::engine
