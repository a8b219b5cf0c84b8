// Apartness: which accesses cannot race, because no other thread accesses a byte that a thread
// writes.
#pragma once

#include <vector>

#include "simulator/proof/graph.h"
#include "simulator/proof/place.h"
#include "simulator/proof/values.h"

namespace lockstep::proof {

// Whether no two threads of a block race in its shared memory, by any access. Examines every byte
// of every thread, in each interval between barriers.
bool shared_is_apart(const Graph& graph, Values& values, const std::vector<Place>& places,
                     const Memory& memory);

// Sets Access::apart for accesses to global memory: for those whose bytes no thread of the grid
// writes while another thread accesses them. Ignores barriers. Valid if the kernel accesses global
// memory only by `places`.
void part_global(const Values& values, const Shape& shape, std::vector<Place>& places);

}  // namespace lockstep::proof
