// Runs the blocks of a cluster by turns.
#pragma once

#include "simulator/engine/run/scheduler.h"
#include "simulator/engine/state/cluster.h"

namespace lockstep::engine {

// Runs the blocks in turns until all have ended, one has failed, or all that can run only wait for
// somebody outside.
Progress run_cluster(Cluster& c);

}  // namespace lockstep::engine
