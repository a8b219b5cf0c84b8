#include <algorithm>
#include <limits>
#include <string>

#include "kernels/argument_check.h"
#include "kernels/staging.h"

namespace lockstep::kernels {
namespace {

constexpr int kMaxBlock = 1024;
constexpr int kTile = 32;              // of the transpose
constexpr int kBlockRows = 2 * kTile;  // rows of x that a block transposes at a time: two tiles
constexpr int kTileRows = 8;           // rows that its threads cover
constexpr std::int64_t kMaxGridX = 0x7fffffff, kMaxGridY = 65535;

__global__ void __launch_bounds__(kMaxBlock)
    map_each(const std::uint32_t* __restrict__ x, std::int64_t n, std::uint32_t* __restrict__ y,
             std::uint32_t a, std::uint32_t b) {
  const int block = blockDim.x, batch = kStagingItems * block;
  for (std::int64_t first = std::int64_t{blockIdx.x} * batch + threadIdx.x; first < n;
       first += std::int64_t{gridDim.x} * batch) {
    std::uint32_t value[kStagingItems];
#pragma unroll
    for (int k = 0; k < kStagingItems; ++k)
      value[k] = first + k * block < n ? x[first + k * block] : 0;
#pragma unroll
    for (int k = 0; k < kStagingItems; ++k) {
      if (first + k * block < n) y[first + k * block] = a * value[k] + b;
    }
  }
}

__device__ std::uint32_t combine(TileMap map, const std::uint32_t* tile, int j, int length) {
  switch (map) {
    case TileMap::kReverse: return tile[length - 1 - j];
    case TileMap::kRotate: return tile[j + 1 < length ? j + 1 : 0];
    case TileMap::kAdjacentDifference: return j == 0 ? tile[0] : tile[j] - tile[j - 1];
  }
  return 0;
}

// Dynamic shared memory: kStagingItems tiles.
__global__ void __launch_bounds__(kMaxBlock)
    map_tiles(TileMap map, const std::uint32_t* __restrict__ x, std::int64_t n,
              std::uint32_t* __restrict__ y) {
  extern __shared__ std::uint32_t words[];
  const int block = blockDim.x, j = threadIdx.x, batch = kStagingItems * block;
  for (std::int64_t first = std::int64_t{blockIdx.x} * batch; first < n;
       first += std::int64_t{gridDim.x} * batch) {
    const int count = static_cast<int>(n - first < batch ? n - first : batch);
    std::uint32_t value[kStagingItems];
#pragma unroll
    for (int k = 0; k < kStagingItems; ++k)
      value[k] = k * block + j < count ? x[first + k * block + j] : 0;
#pragma unroll
    for (int k = 0; k < kStagingItems; ++k) {
      if (k * block + j < count) words[k * block + j] = value[k];
    }
    __syncthreads();
#pragma unroll
    for (int k = 0; k < kStagingItems; ++k) {
      const int length = count - k * block < block
                             ? count - k * block
                             : block;  // elements of this tile; 0 or less: no tile
      if (j < length) y[first + k * block + j] = combine(map, words + k * block, j, length);
    }
    __syncthreads();  // the next tiles overwrite data that slower threads still read
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
    const auto inside = [&](int k) {
      return row + ty + k * kTileRows < rows && column + tx < columns;
    };
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
        if (column + ty + k < columns && row + tx + r < rows)
          to[k * rows + r] = words[tx + r][ty + k];
      }
    }
    __syncthreads();  // the next tiles overwrite data that slower threads still read
  }
}

constexpr std::int64_t kMostWords =
    std::numeric_limits<std::int64_t>::max() / sizeof(std::uint32_t);

void check_words(ArgumentCheck& check, const std::uint32_t* x, const std::uint32_t* y,
                 std::int64_t count) {
  if (count == 0) return;
  check.array("x", x, alignof(std::uint32_t));
  check.array("y", y, alignof(std::uint32_t));
  check.apart("x", x, count * sizeof *x, "y", y, count * sizeof *y);
}

void check_line(ArgumentCheck& check, const std::uint32_t* x, std::int64_t n,
                const std::uint32_t* y, const StagingShape& shape) {
  check.number("n", n, 0, kMostWords);
  check.block(shape.block);
  check.number("max_blocks", shape.max_blocks, 1, std::numeric_limits<int>::max());
  check_words(check, x, y, n);
}

unsigned blocks_for(std::int64_t n, const StagingShape& shape) {
  const int batch = kStagingItems * shape.block;
  return static_cast<unsigned>(std::min<std::int64_t>((n - 1) / batch + 1, shape.max_blocks));
}

}  // namespace

LaunchStatus thread_map(const std::uint32_t* x, std::int64_t n, std::uint32_t* y, std::uint32_t a,
                        std::uint32_t b, const StagingShape& shape, cudaStream_t stream) {
  constexpr const char* kWho = "thread_map";
  ArgumentCheck check(kWho);
  check_line(check, x, n, y, shape);
  if (!check.ok() || n == 0) return check.status();
  const unsigned blocks = blocks_for(n, shape);
  map_each<<<blocks, shape.block, 0, stream>>>(x, n, y, a, b);
  return launched(kWho, blocks, shape.block);
}

LaunchStatus check_tile_map(TileMap map, const std::uint32_t* x, std::int64_t n,
                            const std::uint32_t* y, const StagingShape& shape) {
  ArgumentCheck check("tile_map");
  check.enumerator("map", map, TileMap::kAdjacentDifference);
  check_line(check, x, n, y, shape);
  return check.status();
}

LaunchStatus tile_map(TileMap map, const std::uint32_t* x, std::int64_t n, std::uint32_t* y,
                      const StagingShape& shape, cudaStream_t stream) {
  if (LaunchStatus status = check_tile_map(map, x, n, y, shape); !status.ok()) return status;
  if (n == 0) return {};
  const unsigned blocks = blocks_for(n, shape);
  map_tiles<<<blocks, shape.block, kStagingItems * shape.block * sizeof(std::uint32_t), stream>>>(
      map, x, n, y);
  return launched("tile_map", blocks, shape.block);
}

LaunchStatus check_transpose(TransposeVariant variant, const std::uint32_t* x, std::int64_t rows,
                             std::int64_t columns, const std::uint32_t* y) {
  ArgumentCheck check("transpose");
  check.enumerator("variant", variant, TransposeVariant::kUnpadded);
  check.number("rows", rows, 0, std::numeric_limits<std::int64_t>::max());
  check.number("columns", columns, 0, std::numeric_limits<std::int64_t>::max());
  if (!check.ok() || rows == 0 || columns == 0) return check.status();
  check.require(columns <= kMostWords / rows && (columns - 1) / kTile + 1 <= kMaxGridX,
                "the shape is " + std::to_string(rows) + " x " + std::to_string(columns) +
                    ", more than a grid covers");
  if (check.ok()) check_words(check, x, y, rows * columns);
  return check.status();
}

LaunchStatus transpose(TransposeVariant variant, const std::uint32_t* x, std::int64_t rows,
                       std::int64_t columns, std::uint32_t* y, cudaStream_t stream) {
  if (LaunchStatus status = check_transpose(variant, x, rows, columns, y); !status.ok())
    return status;
  if (rows == 0 || columns == 0) return {};
  const dim3 grid(static_cast<unsigned>((columns - 1) / kTile + 1),
                  static_cast<unsigned>(std::min((rows - 1) / kBlockRows + 1, kMaxGridY)));
  const dim3 block(kTile, kTileRows);
  if (variant == TransposeVariant::kPadded) {
    transpose_tiles<kTile + 1><<<grid, block, 0, stream>>>(x, rows, columns, y);
  } else {
    transpose_tiles<kTile><<<grid, block, 0, stream>>>(x, rows, columns, y);
  }
  return status_of(
      cudaGetLastError(), "transpose",
      "launching " + std::to_string(grid.x) + " x " + std::to_string(grid.y) + " blocks");
}

}  // namespace lockstep::kernels
