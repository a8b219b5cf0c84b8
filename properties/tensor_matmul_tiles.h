// Laws of tensor_matmul about many tiles.
#pragma once

#include <cstdint>

#include "properties/tensor_matmul_case.h"

namespace lockstep::properties {

// Rows that a tile of the path has, in all blocks of a cluster.
std::int64_t rows_of_tile(TensorMatmulPath path);

// One column of tiles, more than there are blocks.
void covers_more_tiles_than_blocks(const TensorMatmul& matmul, const TensorMatmulCase& c);

// One column of more tiles than 16 bits count. The simulated GPU runs the first and the last block,
// or cluster: each takes every so manieth tile, to the last one, and no other.
void covers_tiles_past_16_bits_by(const TensorMatmul& matmul, TensorMatmulPath path,
                                  MatrixElement element);

}  // namespace lockstep::properties
