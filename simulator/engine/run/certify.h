// What is proved of a launch before its first block begins.
#pragma once

#include "simulator/engine/run/module.h"
#include "simulator/engine/state/launch_state.h"

namespace lockstep::engine {

// Sets Launch::certificate, and with LaunchConfig::Proof::kOn what need not be searched for. The
// memory of the launch is laid out.
void certify(Launch& l, const LoadedKernel& loaded);

}  // namespace lockstep::engine
