// The barriers that part what a block's threads do into intervals.
#pragma once

#include <vector>

#include "simulator/proof/graph.h"
#include "simulator/proof/values.h"

namespace lockstep::proof {

// By block of the graph: whether it ends with a barrier 0 of all threads, without a predicate. All
// false where the threads of a block may execute different barriers.
std::vector<bool> common_barriers(const Graph& graph, Values& values);

}  // namespace lockstep::proof
