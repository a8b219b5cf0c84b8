// Accesses of wmma.load and wmma.store to global memory: every lane accesses its own elements of
// the matrix, one by one.
#pragma once

#include <cstdint>
#include <vector>

#include "simulator/proof/place.h"
#include "simulator/proof/values.h"

namespace lockstep::proof {

// Whether the operation is a wmma.load or wmma.store of global memory.
bool is_global_fragment(const program::Op& op);

// A place for each element of a lane. The places have the pc of the operation, whose other facts
// are in `common`. Their addresses are unknown if the matrix's address or its stride is.
std::vector<Place> places_of_fragment(const program::Program& program, const program::Op& op,
                                      const Access& common, Values& values);

// Makes of the access of one element that of several: `more` has the same pc.
void include(Access& access, const Access& more);

}  // namespace lockstep::proof
