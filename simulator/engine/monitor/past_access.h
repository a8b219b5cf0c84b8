// Accesses of earlier launches, in the form that messages use.
#pragma once

#include "simulator/check/global_races.h"
#include "simulator/engine/launch/history.h"
#include "simulator/engine/state/race_history.h"

namespace lockstep::engine {

// `access` must belong to `launch`.
PastAccess past_access(const PastLaunch& launch, const check::LaneAccess& access);

}  // namespace lockstep::engine
