// Laws of tensor_matmul for many tiles.
#pragma once

#include <cstdint>

#include "properties/tensor_matmul_case.h"

namespace lockstep::properties {

// The rows of a tile of the path, over all blocks of a cluster.
std::int64_t rows_of_tile(TensorMatmulPath path);

// One column of more tiles than there are blocks.
void covers_more_tiles_than_blocks(const TensorMatmul& matmul, const TensorMatmulCase& c);

// One column of more tiles than 16 bits count. The simulated GPU executes the first and the last
// block, or cluster. Each must process its tiles at the stride of the grid, up to the last one, and
// no other tile.
void covers_tiles_past_16_bits_by(const TensorMatmul& matmul, TensorMatmulPath path,
                                  MatrixElement element);

}  // namespace lockstep::properties
