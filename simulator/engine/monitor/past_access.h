// Accesses of launches before the present one, as messages name them.
#pragma once

#include "simulator/check/global_races.h"
#include "simulator/engine/launch/history.h"
#include "simulator/engine/state/race_history.h"

namespace lockstep::engine {

// How two operations in different streams can be ordered.
inline constexpr const char* kOrderBetweenStreams =
    "cudaStreamWaitEvent for an event recorded behind the first would order the two; so would one "
    "stream for both, or cudaStreamSynchronize in between.";

// The access, which is of `launch`.
PastAccess past_access(const PastLaunch& launch, const check::LaneAccess& access);

}  // namespace lockstep::engine
