// Copies matrices between the registers of a warp and arrays.
#pragma once

#include "simulator/engine/state/warp.h"
#include "simulator/program/matrix.h"

namespace lockstep::engine {

// Reads the rows * columns elements of a matrix from the registers of all lanes.
void gather(const Warp& w, const program::MatrixRegisters& m, std::uint64_t* out);
// Writes the elements to the registers of `mask`.
void scatter(Warp& w, const program::MatrixRegisters& m, const std::uint64_t* in, LaneMask mask);
// For each stored element of a sparse A, its column in the whole matrix.
void columns_of(const Warp& w, const program::Matrix& m, std::uint8_t* columns);

}  // namespace lockstep::engine
