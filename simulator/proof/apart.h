// Which accesses no two threads race by: bytes that one thread writes and no other touches.
#pragma once

#include <vector>

#include "simulator/proof/graph.h"
#include "simulator/proof/place.h"
#include "simulator/proof/values.h"

namespace lockstep::proof {

// Whether no two threads of a block race in its shared memory, by any of its accesses. Each byte of
// each thread is listed, in each interval between barriers.
bool shared_is_apart(const Graph& graph, Values& values, const std::vector<Place>& places,
                     const Memory& memory);

// Sets Access::apart of accesses to global memory: of those whose bytes no thread of the grid
// writes while another touches them, whatever barriers there are. Holds if the kernel accesses
// global memory by `places` alone.
void part_global(const Values& values, const Shape& shape, std::vector<Place>& places);

}  // namespace lockstep::proof
