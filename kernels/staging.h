// The two standard structures of a kernel.
//
// Thread-local: coalesced load -> registers -> coalesced store. Each element is independent.
// Block-local: coalesced load -> shared memory -> barrier -> neighbours' values -> store. The input
// is cut into tiles of one block each, and an element is computed from other elements of its tile.
//
// All work on 32-bit unsigned integers, modulo 2^32, so that every result is exact.
#pragma once

#include <cuda_runtime_api.h>

#include <cstdint>

#include "kernels/launch_status.h"

namespace lockstep::kernels {

// The number of elements that a thread processes at a time, one in each of as many tiles: all their
// loads are in flight before it waits for the first, which a GPU needs to use all of its bandwidth
// (docs/journal/timing.md).
inline constexpr int kStagingItems = 4;

struct StagingShape {
  int block = 256;  // threads, 1 ... 1024; also the length of a tile
  // At least 1; the grid has one block for kStagingItems tiles, but at most this many blocks, and
  // strides over the tiles.
  int max_blocks = 0x7fffffff;
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
// launches nothing. Errors: cudaErrorInvalidValue for arguments outside these, otherwise the error
// that CUDA returned.
LaunchStatus tile_map(TileMap map, const std::uint32_t* x, std::int64_t n, std::uint32_t* y,
                      const StagingShape& shape = {}, cudaStream_t stream = nullptr);

enum class TransposeVariant : std::uint8_t {
  kPadded,  // tile rows of 33 words: the column reads of a warp fall into 32 banks
  // Tile rows of 32 words: the column reads of a warp fall into one bank, 31 extra passes each.
  kUnpadded,
};

// y[j * rows + i] = x[i * columns + j], 0 <= i < rows, 0 <= j < columns: through 32 x 32 tiles in
// shared memory, two vertically adjacent ones per block, so that loads and stores are coalesced.
// rows, columns >= 0; if either is 0 nothing is launched. Alignments, errors: as tile_map.
LaunchStatus transpose(TransposeVariant variant, const std::uint32_t* x, std::int64_t rows,
                       std::int64_t columns, std::uint32_t* y, cudaStream_t stream = nullptr);

// Whether tile_map would accept these arguments; launches nothing. For kernels with the same
// contract and another implementation.
LaunchStatus check_tile_map(TileMap map, const std::uint32_t* x, std::int64_t n,
                            const std::uint32_t* y, const StagingShape& shape);
// The same for transpose.
LaunchStatus check_transpose(TransposeVariant variant, const std::uint32_t* x, std::int64_t rows,
                             std::int64_t columns, const std::uint32_t* y);

// The launchers of the family as one value, so that another kernel can replace any of them.
struct StagingLaunchers {
  decltype(kernels::thread_map)* thread_map = kernels::thread_map;
  decltype(kernels::tile_map)* tile_map = kernels::tile_map;
  decltype(kernels::transpose)* transpose = kernels::transpose;
};

}  // namespace lockstep::kernels
