// Matrices in the registers of a warp, and apart from them.
#pragma once

#include "simulator/engine/state/warp.h"
#include "simulator/program/matrix.h"

namespace lockstep::engine {

// The elements of a matrix, out of the registers of all lanes: rows * columns of them.
void gather(const Warp& w, const program::MatrixRegisters& m, std::uint64_t* out);
// Back into the registers of `mask`.
void scatter(Warp& w, const program::MatrixRegisters& m, const std::uint64_t* in, LaneMask mask);
// For every element that a sparse A has, its column in the whole matrix.
void columns_of(const Warp& w, const program::Matrix& m, std::uint8_t* columns);

}  // namespace lockstep::engine
