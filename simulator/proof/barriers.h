// The barriers that divide the execution of a block's threads into intervals.
#pragma once

#include <vector>

#include "simulator/proof/graph.h"
#include "simulator/proof/values.h"

namespace lockstep::proof {

// For each block of the graph, whether it ends with an unpredicated barrier 0 of all threads. All
// false if threads of a block may execute different barriers.
std::vector<bool> common_barriers(const Graph& graph, Values& values);

}  // namespace lockstep::proof
