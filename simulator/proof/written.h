// Loads that read only written memory, in every order of threads.
#pragma once

#include <vector>

#include "simulator/program/program.h"
#include "simulator/proof/graph.h"
#include "simulator/proof/place.h"
#include "simulator/proof/values.h"

namespace lockstep::proof {

// Sets Access::stored_before for loads of shared memory: each byte was stored to by the thread
// itself, or by a thread of the block before a barrier of all threads.
void find_stores_before(const Graph& graph, Values& values, const Memory& memory,
                        std::vector<Place>& places);

// Whether every register that the kernel reads was written before on every path.
bool registers_are_written(Graph& graph, const program::Function& kernel);

}  // namespace lockstep::proof
