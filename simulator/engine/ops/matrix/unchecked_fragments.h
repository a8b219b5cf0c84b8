// wmma.load and wmma.store of a matrix in global memory, if only its bounds and unwritten bytes
// need a check: all elements are moved at once.
#pragma once

#include <cstdint>

#include "simulator/engine/state/block.h"

namespace lockstep::engine {

// The start of a matrix and the distance of its rows (or columns).
struct Lattice {
  std::uint64_t base = 0;
  std::uint64_t stride = 0;  // elements
};

// False, with nothing done: the accesses of each lane must be looked at.
bool load_unchecked(Warp& w, const Op& op, const Lattice& at, LaneMask mask);
bool store_unchecked(Warp& w, const Op& op, const Lattice& at, LaneMask mask);

}  // namespace lockstep::engine
