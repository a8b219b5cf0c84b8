// Proves which accesses cannot race: no other thread accesses the bytes that a thread writes.
#pragma once

#include <vector>

#include "simulator/proof/graph.h"
#include "simulator/proof/place.h"
#include "simulator/proof/values.h"

namespace lockstep::proof {

// Whether no two threads of a block race in its shared memory. Examines every byte of every thread,
// in each interval between barriers.
bool shared_is_apart(const Graph& graph, Values& values, const std::vector<Place>& places,
                     const Memory& memory);

// Sets Access::apart of accesses to global memory whose bytes no thread of the grid writes while
// another accesses them, whatever barriers there are. Valid only if the kernel accesses global
// memory by `places` only.
void part_global(const Values& values, const Shape& shape, std::vector<Place>& places);

}  // namespace lockstep::proof
