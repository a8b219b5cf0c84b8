#include <algorithm>
#include <limits>
#include <string>

#include "kernels/argument_check.h"
#include "kernels/matmul.h"

namespace lockstep::kernels {
namespace {

constexpr const char* kWho = "matmul";
constexpr int kGlobalBlock = 16;  // threads on a side of the global variant's block
constexpr std::int64_t kMaxGridY = 65535;

// Rows are along y. A grid has at most 65,535 blocks there, so blocks stride over further rows.
__global__ void __launch_bounds__(kGlobalBlock* kGlobalBlock)
    matmul_global(MatrixView<const float> a, MatrixView<const float> b, MatrixView<float> c) {
  const std::int64_t j = std::int64_t{blockIdx.x} * blockDim.x + threadIdx.x;
  if (j >= c.columns) return;
  for (std::int64_t i = std::int64_t{blockIdx.y} * blockDim.y + threadIdx.y; i < c.rows;
       i += std::int64_t{gridDim.y} * blockDim.y) {
    float sum = 0.0f;
    for (std::int64_t p = 0; p < a.columns; ++p) {
      sum = __fmaf_rn(a.data[i * a.stride + p], b.data[p * b.stride + j], sum);
    }
    c.data[i * c.stride + j] = sum;
  }
}

template <int kTile>
__global__ void __launch_bounds__(kTile* kTile)
    matmul_tiled(MatrixView<const float> a, MatrixView<const float> b, MatrixView<float> c) {
  __shared__ float tile_a[kTile][kTile], tile_b[kTile][kTile];
  const int tx = threadIdx.x, ty = threadIdx.y;
  const std::int64_t j = std::int64_t{blockIdx.x} * kTile + tx;
  for (std::int64_t row = std::int64_t{blockIdx.y} * kTile; row < c.rows;
       row += std::int64_t{gridDim.y} * kTile) {
    const std::int64_t i = row + ty;
    float sum = 0.0f;
    for (std::int64_t p = 0; p < a.columns; p += kTile) {
      // Elements outside the matrices are neither loaded nor summed: adding zeros would turn -0
      // into +0.
      if (i < a.rows && p + tx < a.columns) tile_a[ty][tx] = a.data[i * a.stride + p + tx];
      if (p + ty < b.rows && j < b.columns) tile_b[ty][tx] = b.data[(p + ty) * b.stride + j];
      __syncthreads();
      if (i < c.rows && j < c.columns) {
        const int depth = static_cast<int>(a.columns - p < kTile ? a.columns - p : kTile);
        for (int q = 0; q < depth; ++q) sum = __fmaf_rn(tile_a[ty][q], tile_b[q][tx], sum);
      }
      __syncthreads();  // the next tile overwrites data that slower threads still read
    }
    if (i < c.rows && j < c.columns) c.data[i * c.stride + j] = sum;
  }
}

template <class T>
bool is_empty(const MatrixView<T>& v) {
  return v.rows == 0 || v.columns == 0;
}

template <class T>
void check_matrix(ArgumentCheck& check, const std::string& name, const MatrixView<T>& v) {
  constexpr std::int64_t kMost = std::numeric_limits<std::int64_t>::max();
  check.number((name + ".rows").c_str(), v.rows, 0, kMost);
  check.number((name + ".columns").c_str(), v.columns, 0, kMost);
  check.require(v.stride >= v.columns, [&] {
    return name + " has stride " + std::to_string(v.stride) + ", less than its " +
           std::to_string(v.columns) + " columns";
  });
  if (!check.ok() || is_empty(v)) return;
  check.require(v.stride <= kMost / static_cast<std::int64_t>(sizeof(float)) / v.rows,
                [&] { return name + " has more elements than can be addressed"; });
  check.array(name, v.data, alignof(float));
}

// The bytes from the first element to the last; v is not empty.
template <class T>
std::uint64_t bytes_of(const MatrixView<T>& v) {
  return ((v.rows - 1) * v.stride + v.columns) * sizeof(T);
}

std::string shape(std::int64_t rows, std::int64_t columns) {
  return std::to_string(rows) + " x " + std::to_string(columns);
}

// The side of a block in threads, and of a tile in elements.
int side_of(MatmulVariant variant) {
  return variant == MatmulVariant::kTiled8 ? 8 : variant == MatmulVariant::kTiled32 ? 32 : 16;
}

}  // namespace

LaunchStatus check_matmul(MatmulVariant variant, const MatrixView<const float>& a,
                          const MatrixView<const float>& b, const MatrixView<float>& c) {
  ArgumentCheck check(kWho);
  check.enumerator("variant", variant, MatmulVariant::kTiled32);
  check_matrix(check, "a", a);
  check_matrix(check, "b", b);
  check_matrix(check, "c", c);
  check.require(a.columns == b.rows && a.rows == c.rows && b.columns == c.columns, [&] {
    return "the shapes do not fit: a is " + shape(a.rows, a.columns) + ", b is " +
           shape(b.rows, b.columns) + ", c is " + shape(c.rows, c.columns);
  });
  check.require(is_empty(c) || (c.columns - 1) / side_of(variant) < std::numeric_limits<int>::max(),
                [&] {
                  return "c has " + std::to_string(c.columns) +
                         " columns, more than a grid of this variant covers";
                });
  if (!check.ok() || is_empty(c) || is_empty(a)) return check.status();
  check.apart("a", a.data, bytes_of(a), "c", c.data, bytes_of(c));
  check.apart("b", b.data, bytes_of(b), "c", c.data, bytes_of(c));
  return check.status();
}

LaunchStatus matmul(MatmulVariant variant, const MatrixView<const float>& a,
                    const MatrixView<const float>& b, const MatrixView<float>& c,
                    cudaStream_t stream) {
  if (LaunchStatus status = check_matmul(variant, a, b, c); !status.ok()) return status;
  if (c.rows == 0 || c.columns == 0) return {};

  const int side = side_of(variant);
  const std::int64_t across = (c.columns - 1) / side + 1, down = (c.rows - 1) / side + 1;
  const dim3 block(side, side);
  const dim3 grid(static_cast<unsigned>(across), static_cast<unsigned>(std::min(down, kMaxGridY)));
  switch (variant) {
    case MatmulVariant::kGlobal: matmul_global<<<grid, block, 0, stream>>>(a, b, c); break;
    case MatmulVariant::kTiled8: matmul_tiled<8><<<grid, block, 0, stream>>>(a, b, c); break;
    case MatmulVariant::kTiled16: matmul_tiled<16><<<grid, block, 0, stream>>>(a, b, c); break;
    case MatmulVariant::kTiled32: matmul_tiled<32><<<grid, block, 0, stream>>>(a, b, c); break;
  }
  return status_of(cudaGetLastError(), kWho,
                   "launching " + std::to_string(grid.x) + " x " + std::to_string(grid.y) +
                       " blocks of " + std::to_string(side * side) + " threads");
}

}  // namespace lockstep::kernels
