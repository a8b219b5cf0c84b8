#include <algorithm>
#include <limits>
#include <string>

#include "kernels/staging.h"

namespace lockstep::kernels {
namespace {

constexpr int kMaxBlock = 1024;
constexpr int kTile = 32;              // of the transpose
constexpr int kBlockRows = 2 * kTile;  // rows of x that a block transposes at a time: two tiles
constexpr int kTileRows = 8;           // rows that its threads cover
constexpr std::int64_t kMaxGridX = 0x7fffffff, kMaxGridY = 65535;

__global__ void __launch_bounds__(kMaxBlock) map_each(const std::uint32_t* __restrict__ x, std::int64_t n,
                                                      std::uint32_t* __restrict__ y, std::uint32_t a, std::uint32_t b) {
  const int block = blockDim.x, batch = kStagingItems * block;
  for (std::int64_t first = std::int64_t{blockIdx.x} * batch + threadIdx.x; first < n;
       first += std::int64_t{gridDim.x} * batch) {
    std::uint32_t value[kStagingItems];
#pragma unroll
    for (int k = 0; k < kStagingItems; ++k) value[k] = first + k * block < n ? x[first + k * block] : 0;
#pragma unroll
    for (int k = 0; k < kStagingItems; ++k) {
      if (first + k * block < n) y[first + k * block] = a * value[k] + b;
    }
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

// Dynamic shared memory: kStagingItems tiles.
__global__ void __launch_bounds__(kMaxBlock)
    map_tiles(TileMap map, const std::uint32_t* __restrict__ x, std::int64_t n, std::uint32_t* __restrict__ y) {
  extern __shared__ std::uint32_t words[];
  const int block = blockDim.x, j = threadIdx.x, batch = kStagingItems * block;
  for (std::int64_t first = std::int64_t{blockIdx.x} * batch; first < n; first += std::int64_t{gridDim.x} * batch) {
    const int count = static_cast<int>(n - first < batch ? n - first : batch);
    std::uint32_t value[kStagingItems];
#pragma unroll
    for (int k = 0; k < kStagingItems; ++k) value[k] = k * block + j < count ? x[first + k * block + j] : 0;
#pragma unroll
    for (int k = 0; k < kStagingItems; ++k) {
      if (k * block + j < count) words[k * block + j] = value[k];
    }
    __syncthreads();
#pragma unroll
    for (int k = 0; k < kStagingItems; ++k) {
      const int length =
          count - k * block < block ? count - k * block : block;  // of this tile; 0 or less: there is none
      if (j < length) y[first + k * block + j] = combine(map, words + k * block, j, length);
    }
    __syncthreads();  // the next tiles overwrite what slower threads still read
  }
}

template <int kRowWords>
__global__ void __launch_bounds__(kTile* kTileRows)
    transpose_tiles(const std::uint32_t* __restrict__ x, std::int64_t rows, std::int64_t columns,
                    std::uint32_t* __restrict__ y) {
  __shared__ std::uint32_t words[kBlockRows][kRowWords];
  constexpr int kLoads = kBlockRows / kTileRows;
  const int tx = threadIdx.x, ty = threadIdx.y;
  const std::int64_t column = std::int64_t{blockIdx.x} * kTile;
  for (std::int64_t row = std::int64_t{blockIdx.y} * kBlockRows; row < rows;
       row += std::int64_t{gridDim.y} * kBlockRows) {
    const auto inside = [&](int k) { return row + ty + k * kTileRows < rows && column + tx < columns; };
    const std::uint32_t* from = x + (row + ty) * columns + column + tx;
    std::uint32_t value[kLoads];
#pragma unroll
    for (int k = 0; k < kLoads; ++k) value[k] = inside(k) ? from[k * kTileRows * columns] : 0;
#pragma unroll
    for (int k = 0; k < kLoads; ++k) {
      if (inside(k)) words[ty + k * kTileRows][tx] = value[k];
    }
    __syncthreads();
    std::uint32_t* to = y + (column + ty) * rows + row + tx;
#pragma unroll
    for (int k = 0; k < kTile; k += kTileRows) {
#pragma unroll
      for (int r = 0; r < kBlockRows; r += kTile) {
        if (column + ty + k < columns && row + tx + r < rows) to[k * rows + r] = words[tx + r][ty + k];
      }
    }
    __syncthreads();  // the next tiles overwrite what slower threads still read
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
  const int batch = kStagingItems * shape.block;
  return static_cast<unsigned>(std::min<std::int64_t>((n - 1) / batch + 1, shape.max_blocks));
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
  map_tiles<<<blocks, shape.block, kStagingItems * shape.block * sizeof(std::uint32_t), stream>>>(map, x, n, y);
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
                  static_cast<unsigned>(std::min((rows - 1) / kBlockRows + 1, kMaxGridY)));
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
