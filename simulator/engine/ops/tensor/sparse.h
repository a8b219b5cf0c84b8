// Elements that tcgen05.mma omits: half of the columns of a sparse A, columns of B that count as
// zero, and the first row of a shifted A.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "simulator/engine/ops/tensor/descriptors.h"
#include "simulator/engine/state/tensor_memory.h"
#include "simulator/matrix/tensor_layout.h"

namespace lockstep::engine {

// The number of tensor memory columns that hold the metadata of one product.
std::uint32_t columns_of_metadata(const TensorProduct& p);
// For each stored element of A in the rows of a part, its column in the whole matrix.
std::vector<std::uint8_t> columns_kept(const TensorMemory& t, std::uint32_t address,
                                       const TensorProduct& p, const matrix::AccumulatorPart& part);

// Checks a mask of columns of B (PTX ISA 9.7.16.4.3). Returns why it is invalid; empty if it is
// valid. `farthest`: the largest shift that the instruction descriptor allows.
std::string understand_zero_columns(std::uint64_t mask, int m, int farthest);
// The column of B that counts as its first.
inline int first_column(std::uint64_t mask) { return static_cast<int>(mask >> 56 & 63); }
// Removes the columns of B before its first one, and sets the columns that the mask names to zero.
void take_columns(std::vector<std::uint64_t>& b, std::uint64_t mask, const isa::Shape& shape);

// The row that replaces `row` when rows are shifted down by one: the next of its 32 lanes, or the
// row itself if it is the last of them.
inline int row_below(int row) { return row % 32 == 31 ? row : row + 1; }

}  // namespace lockstep::engine
