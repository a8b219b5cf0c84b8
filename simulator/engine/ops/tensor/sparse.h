// What tcgen05.mma leaves out: half of the columns of a sparse A, columns of B that count as zero,
// and the first row of an A that is shifted.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "simulator/engine/ops/tensor/descriptors.h"
#include "simulator/engine/state/tensor_memory.h"
#include "simulator/matrix/tensor_layout.h"

namespace lockstep::engine {

// Columns of tensor memory that have the metadata of one product.
std::uint32_t columns_of_metadata(const TensorProduct& p);
// For each of A's elements in the rows of a part, the column of the whole matrix that it is from.
std::vector<std::uint8_t> columns_kept(const TensorMemory& t, std::uint32_t address,
                                       const TensorProduct& p, const matrix::AccumulatorPart& part);

// A mask of columns of B (PTX ISA 9.7.16.4.3): why it is none; empty when it is. farthest: the
// largest shift that the instruction descriptor allows.
std::string understand_zero_columns(std::uint64_t mask, int m, int farthest);
// The column of B that counts as its first.
inline int first_column(std::uint64_t mask) { return static_cast<int>(mask >> 56 & 63); }
// The columns of B from the first on, those that the mask names as zeros.
void take_columns(std::vector<std::uint64_t>& b, std::uint64_t mask, const isa::Shape& shape);

// The row that takes the place of `row` when rows are shifted down by one: the next of its 32
// lanes, and itself for the last of them.
inline int row_below(int row) { return row % 32 == 31 ? row : row + 1; }

}  // namespace lockstep::engine
