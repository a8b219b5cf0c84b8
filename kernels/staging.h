// The two standard shapes of a kernel.
//
// Thread-local: coalesced load -> registers -> coalesced store. Each element by itself.
// Block-local: coalesced load -> shared memory -> barrier -> neighbours' values -> store. The input
// is cut into tiles of one block each, and an element is computed from the others of its tile.
//
// All work on 32-bit unsigned integers, modulo 2^32, so that every result is exact.
#pragma once

#include <cuda_runtime_api.h>

#include <cstdint>

#include "kernels/launch_status.h"

namespace lockstep::kernels {

// A thread handles so many elements at a time, one of each of so many tiles: so many loads are
// under way before it waits for the first, which is what it takes to use all of a GPU's bandwidth
// (docs/journal/timing.md).
inline constexpr int kStagingItems = 4;

struct StagingShape {
  int block = 256;              // threads, 1 ... 1024; also the length of a tile
  int max_blocks = 0x7fffffff;  // at least 1; the grid is what kStagingItems tiles a block need,
                                // but at most this, and strides over the tiles
};

// y[i] = a * x[i] + b, modulo 2^32. Shapes, alignments, errors: as tile_map.
LaunchStatus thread_map(const std::uint32_t* x, std::int64_t n, std::uint32_t* y, std::uint32_t a,
                        std::uint32_t b, const StagingShape& shape = {},
                        cudaStream_t stream = nullptr);

// With tiles of length L = shape.block, the last of which may be shorter (length l), j the position
// in the tile:
enum class TileMap : std::uint8_t {
  kReverse,             // y[j] = x[l - 1 - j]
  kRotate,              // y[j] = x[(j + 1) mod l]
  kAdjacentDifference,  // y[j] = x[j] - x[j - 1], y[0] = x[0]: differences do not cross tiles
};

// x and y: n elements of device memory, aligned to 4 bytes, that do not overlap. n >= 0; n = 0
// launches nothing. Errors: cudaErrorInvalidValue for arguments outside these, else what CUDA
// returned.
LaunchStatus tile_map(TileMap map, const std::uint32_t* x, std::int64_t n, std::uint32_t* y,
                      const StagingShape& shape = {}, cudaStream_t stream = nullptr);

enum class TransposeVariant : std::uint8_t {
  kPadded,    // tile rows of 33 words: the column reads of a warp fall into 32 banks
  kUnpadded,  // tile rows of 32 words: the column reads of a warp fall into one bank, 31 extra
              // passes each
};

// y[j * rows + i] = x[i * columns + j], 0 <= i < rows, 0 <= j < columns: through 32 x 32 tiles in
// shared memory, two below each other a block, so that loads and stores are coalesced both ways.
// rows, columns >= 0; either 0 launches nothing. Alignments, errors: as tile_map.
LaunchStatus transpose(TransposeVariant variant, const std::uint32_t* x, std::int64_t rows,
                       std::int64_t columns, std::uint32_t* y, cudaStream_t stream = nullptr);

// Whether tile_map would take these arguments; launches nothing. For kernels that keep its contract
// in another way.
LaunchStatus check_tile_map(TileMap map, const std::uint32_t* x, std::int64_t n,
                            const std::uint32_t* y, const StagingShape& shape);
// The same for transpose.
LaunchStatus check_transpose(TransposeVariant variant, const std::uint32_t* x, std::int64_t rows,
                             std::int64_t columns, const std::uint32_t* y);

// The family as one value, so that another kernel can stand in the place of any of them.
struct StagingLaunchers {
  decltype(kernels::thread_map)* thread_map = kernels::thread_map;
  decltype(kernels::tile_map)* tile_map = kernels::tile_map;
  decltype(kernels::transpose)* transpose = kernels::transpose;
};

}  // namespace lockstep::kernels
