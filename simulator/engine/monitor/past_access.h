// Accesses of launches before the present one, as messages name them.
#pragma once

#include "simulator/check/global_races.h"
#include "simulator/engine/launch/history.h"
#include "simulator/engine/state/race_history.h"

namespace lockstep::engine {

// The access, which is of `launch`.
PastAccess past_access(const PastLaunch& launch, const check::LaneAccess& access);

}  // namespace lockstep::engine
