// Tracks uninitialised values through matrix operations: an element of the result is invalid if an
// element that it is computed from is.
#pragma once

#include "simulator/engine/state/warp_state.h"
#include "simulator/program/matrix.h"

namespace lockstep::engine {

// Marks the elements of D = A * B + C that depend on an invalid element. `columns`: the columns of
// a sparse A's elements, or nullptr.
void follow_multiplication(Warp& w, const program::Matrix& m, const std::uint8_t* columns);

// Marks the elements of movmatrix's result.
void follow_transposition(Warp& w, const Op& op);

}  // namespace lockstep::engine
