#include <algorithm>
#include <limits>
#include <string>

#include "kernels/staging.h"

namespace lockstep::kernels {
namespace {

constexpr int kMaxBlock = 1024;
constexpr int kTile = 32;     // of the transpose
constexpr int kTileRows = 8;  // rows of a tile that a block moves at a time
constexpr std::int64_t kMaxGridX = 0x7fffffff, kMaxGridY = 65535;

__global__ void __launch_bounds__(kMaxBlock) map_each(const std::uint32_t* __restrict__ x, std::int64_t n,
                                                      std::uint32_t* __restrict__ y, std::uint32_t a, std::uint32_t b) {
  const std::int64_t stride = std::int64_t{gridDim.x} * blockDim.x;
  for (std::int64_t i = std::int64_t{blockIdx.x} * blockDim.x + threadIdx.x; i < n; i += stride) {
    const std::uint32_t value = x[i];
    y[i] = a * value + b;
  }
}

__device__ std::uint32_t combine(TileMap map, const std::uint32_t* tile, int j, int length) {
  switch (map) {
    case TileMap::kReverse:
      return tile[length - 1 - j];
    case TileMap::kRotate:
      return tile[j + 1 < length ? j + 1 : 0];
    case TileMap::kAdjacentDifference:
      return j == 0 ? tile[0] : tile[j] - tile[j - 1];
  }
  return 0;
}

// Dynamic shared memory: blockDim.x words.
__global__ void __launch_bounds__(kMaxBlock)
    map_tiles(TileMap map, const std::uint32_t* __restrict__ x, std::int64_t n, std::uint32_t* __restrict__ y) {
  extern __shared__ std::uint32_t words[];
  const std::int64_t block = blockDim.x;
  const int j = threadIdx.x;
  for (std::int64_t first = blockIdx.x * block; first < n; first += gridDim.x * block) {
    const int length = static_cast<int>(n - first < block ? n - first : block);
    if (j < length) words[j] = x[first + j];
    __syncthreads();
    if (j < length) y[first + j] = combine(map, words, j, length);
    __syncthreads();  // the next tile overwrites what slower threads still read
  }
}

template <int kRowWords>
__global__ void __launch_bounds__(kTile* kTileRows)
    transpose_tiles(const std::uint32_t* __restrict__ x, std::int64_t rows, std::int64_t columns,
                    std::uint32_t* __restrict__ y) {
  __shared__ std::uint32_t words[kTile][kRowWords];
  const int tx = threadIdx.x;
  for (std::int64_t row = std::int64_t{blockIdx.y} * kTile; row < rows; row += std::int64_t{gridDim.y} * kTile) {
    const std::int64_t column = std::int64_t{blockIdx.x} * kTile;
    for (int ty = threadIdx.y; ty < kTile; ty += kTileRows) {
      if (row + ty < rows && column + tx < columns) words[ty][tx] = x[(row + ty) * columns + column + tx];
    }
    __syncthreads();
    for (int ty = threadIdx.y; ty < kTile; ty += kTileRows) {
      if (column + ty < columns && row + tx < rows) y[(column + ty) * rows + row + tx] = words[tx][ty];
    }
    __syncthreads();
  }
}

// What is wrong with two arrays of `count` words; empty when nothing is.
std::string objection_to_arrays(const std::uint32_t* x, const std::uint32_t* y, std::int64_t count) {
  if (count == 0) return "";
  if (x == nullptr || y == nullptr) return std::string(x == nullptr ? "x" : "y") + " is null, but there are elements";
  const auto from = reinterpret_cast<std::uintptr_t>(x), to = reinterpret_cast<std::uintptr_t>(y);
  if (from % alignof(std::uint32_t) != 0) return "x is not aligned to 4 bytes";
  if (to % alignof(std::uint32_t) != 0) return "y is not aligned to 4 bytes";
  const std::uintptr_t bytes = count * sizeof(std::uint32_t);
  if (from < to + bytes && to < from + bytes)
    return "x and y overlap; a thread would read what another has already written";
  return "";
}

std::string objection_to_line(const std::uint32_t* x, std::int64_t n, const std::uint32_t* y,
                              const StagingShape& shape) {
  constexpr std::int64_t kMost = std::numeric_limits<std::int64_t>::max() / sizeof(std::uint32_t);
  if (n < 0 || n > kMost) return "n is " + std::to_string(n) + "; it must be 0 ... " + std::to_string(kMost);
  if (shape.block < 1 || shape.block > kMaxBlock) {
    return "the block is " + std::to_string(shape.block) + " threads; it must be 1 ... " + std::to_string(kMaxBlock);
  }
  if (shape.max_blocks < 1) return "max_blocks is " + std::to_string(shape.max_blocks) + "; it must be 1 or more";
  return objection_to_arrays(x, y, n);
}

unsigned blocks_for(std::int64_t n, const StagingShape& shape) {
  return static_cast<unsigned>(std::min<std::int64_t>((n - 1) / shape.block + 1, shape.max_blocks));
}

std::string describe(unsigned blocks, int block) {
  return "launching " + std::to_string(blocks) + " blocks of " + std::to_string(block) + " threads";
}

}  // namespace

LaunchStatus thread_map(const std::uint32_t* x, std::int64_t n, std::uint32_t* y, std::uint32_t a, std::uint32_t b,
                        const StagingShape& shape, cudaStream_t stream) {
  constexpr const char* kWho = "thread_map";
  if (const std::string why = objection_to_line(x, n, y, shape); !why.empty()) return refused(kWho, why);
  if (n == 0) return {};
  const unsigned blocks = blocks_for(n, shape);
  map_each<<<blocks, shape.block, 0, stream>>>(x, n, y, a, b);
  return status_of(cudaGetLastError(), kWho, describe(blocks, shape.block));
}

LaunchStatus check_tile_map(TileMap map, const std::uint32_t* x, std::int64_t n, const std::uint32_t* y,
                            const StagingShape& shape) {
  if (map > TileMap::kAdjacentDifference)
    return refused("tile_map", "map " + std::to_string(int(map)) + " does not exist");
  const std::string why = objection_to_line(x, n, y, shape);
  return why.empty() ? LaunchStatus{} : refused("tile_map", why);
}

LaunchStatus tile_map(TileMap map, const std::uint32_t* x, std::int64_t n, std::uint32_t* y, const StagingShape& shape,
                      cudaStream_t stream) {
  if (LaunchStatus status = check_tile_map(map, x, n, y, shape); !status.ok()) return status;
  if (n == 0) return {};
  const unsigned blocks = blocks_for(n, shape);
  map_tiles<<<blocks, shape.block, shape.block * sizeof(std::uint32_t), stream>>>(map, x, n, y);
  return status_of(cudaGetLastError(), "tile_map", describe(blocks, shape.block));
}

LaunchStatus check_transpose(TransposeVariant variant, const std::uint32_t* x, std::int64_t rows, std::int64_t columns,
                             const std::uint32_t* y) {
  constexpr const char* kWho = "transpose";
  constexpr std::int64_t kMost = std::numeric_limits<std::int64_t>::max() / sizeof(std::uint32_t);
  const std::string shape = std::to_string(rows) + " x " + std::to_string(columns);
  if (variant > TransposeVariant::kUnpadded) {
    return refused(kWho, "variant " + std::to_string(int(variant)) + " does not exist");
  }
  if (rows < 0 || columns < 0) return refused(kWho, "the shape is " + shape + "; neither side may be negative");
  if (rows == 0 || columns == 0) return {};
  if (columns > kMost / rows || (columns - 1) / kTile + 1 > kMaxGridX) {
    return refused(kWho, "the shape is " + shape + ", more than a grid covers");
  }
  const std::string why = objection_to_arrays(x, y, rows * columns);
  return why.empty() ? LaunchStatus{} : refused(kWho, why);
}

LaunchStatus transpose(TransposeVariant variant, const std::uint32_t* x, std::int64_t rows, std::int64_t columns,
                       std::uint32_t* y, cudaStream_t stream) {
  if (LaunchStatus status = check_transpose(variant, x, rows, columns, y); !status.ok()) return status;
  if (rows == 0 || columns == 0) return {};
  const dim3 grid(static_cast<unsigned>((columns - 1) / kTile + 1),
                  static_cast<unsigned>(std::min((rows - 1) / kTile + 1, kMaxGridY)));
  const dim3 block(kTile, kTileRows);
  if (variant == TransposeVariant::kPadded) {
    transpose_tiles<kTile + 1><<<grid, block, 0, stream>>>(x, rows, columns, y);
  } else {
    transpose_tiles<kTile><<<grid, block, 0, stream>>>(x, rows, columns, y);
  }
  return status_of(cudaGetLastError(), "transpose",
                   "launching " + std::to_string(grid.x) + " x " + std::to_string(grid.y) + " blocks");
}

}  // namespace lockstep::kernels
