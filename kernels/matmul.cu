#include <algorithm>
#include <limits>
#include <string>

#include "kernels/matmul.h"

namespace lockstep::kernels {
namespace {

constexpr const char* kWho = "matmul";
constexpr int kGlobalBlock = 16;  // threads on a side of the global variant's block
constexpr std::int64_t kMaxGridY = 65535;

// Rows lie along y, of which a grid has only 65,535 blocks: blocks stride over what is left.
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
  for (std::int64_t row = std::int64_t{blockIdx.y} * kTile; row < c.rows; row += std::int64_t{gridDim.y} * kTile) {
    const std::int64_t i = row + ty;
    float sum = 0.0f;
    for (std::int64_t p = 0; p < a.columns; p += kTile) {
      // Outside the matrices nothing is loaded and nothing is summed: a padding of zeros would turn -0 into +0.
      if (i < a.rows && p + tx < a.columns) tile_a[ty][tx] = a.data[i * a.stride + p + tx];
      if (p + ty < b.rows && j < b.columns) tile_b[ty][tx] = b.data[(p + ty) * b.stride + j];
      __syncthreads();
      if (i < c.rows && j < c.columns) {
        const int depth = static_cast<int>(a.columns - p < kTile ? a.columns - p : kTile);
        for (int q = 0; q < depth; ++q) sum = __fmaf_rn(tile_a[ty][q], tile_b[q][tx], sum);
      }
      __syncthreads();  // the next tile overwrites what slower threads still read
    }
    if (i < c.rows && j < c.columns) c.data[i * c.stride + j] = sum;
  }
}

template <class T>
std::string objection_to(const char* name, const MatrixView<T>& v) {
  const auto text = [&](const char* what, std::int64_t value) {
    return std::string(name) + " has " + what + " " + std::to_string(value);
  };
  if (v.rows < 0) return text("rows", v.rows) + "; it must be 0 or more";
  if (v.columns < 0) return text("columns", v.columns) + "; it must be 0 or more";
  if (v.stride < v.columns)
    return text("stride", v.stride) + ", less than its " + std::to_string(v.columns) + " columns";
  if (v.rows == 0 || v.columns == 0) return "";
  constexpr std::int64_t kMostElements = std::numeric_limits<std::int64_t>::max() / sizeof(float);
  if (v.stride > kMostElements / v.rows) return std::string(name) + " has more elements than can be addressed";
  if (v.data == nullptr) return std::string(name) + " is null, but not empty";
  if (reinterpret_cast<std::uintptr_t>(v.data) % alignof(float) != 0)
    return std::string(name) + " is not aligned to 4 bytes";
  return "";
}

template <class T>
std::uintptr_t end_of(const MatrixView<T>& v) {
  if (v.rows == 0 || v.columns == 0) return reinterpret_cast<std::uintptr_t>(v.data);
  return reinterpret_cast<std::uintptr_t>(v.data + ((v.rows - 1) * v.stride + v.columns));
}

bool overlap(const MatrixView<const float>& in, const MatrixView<float>& out) {
  return reinterpret_cast<std::uintptr_t>(in.data) < end_of(out) &&
         reinterpret_cast<std::uintptr_t>(out.data) < end_of(in);
}

// Why these arguments are refused; empty when they are not.
std::string objection(MatmulVariant variant, const MatrixView<const float>& a, const MatrixView<const float>& b,
                      const MatrixView<float>& c) {
  if (variant > MatmulVariant::kTiled32) return "variant " + std::to_string(int(variant)) + " does not exist";
  for (const std::string& why : {objection_to("a", a), objection_to("b", b), objection_to("c", c)}) {
    if (!why.empty()) return why;
  }
  const auto shape = [](std::int64_t rows, std::int64_t columns) {
    return std::to_string(rows) + " x " + std::to_string(columns);
  };
  if (a.columns != b.rows || a.rows != c.rows || b.columns != c.columns) {
    return "the shapes do not fit: a is " + shape(a.rows, a.columns) + ", b is " + shape(b.rows, b.columns) +
           ", c is " + shape(c.rows, c.columns);
  }
  if (overlap(a, c) || overlap(b, c)) return "c overlaps a or b; a thread would read what another has already written";
  return "";
}

}  // namespace

LaunchStatus check_matmul(MatmulVariant variant, const MatrixView<const float>& a, const MatrixView<const float>& b,
                          const MatrixView<float>& c) {
  const std::string why = objection(variant, a, b, c);
  return why.empty() ? LaunchStatus{} : refused(kWho, why);
}

LaunchStatus matmul(MatmulVariant variant, const MatrixView<const float>& a, const MatrixView<const float>& b,
                    const MatrixView<float>& c, cudaStream_t stream) {
  if (LaunchStatus status = check_matmul(variant, a, b, c); !status.ok()) return status;
  if (c.rows == 0 || c.columns == 0) return {};

  const int side = variant == MatmulVariant::kTiled8 ? 8 : variant == MatmulVariant::kTiled32 ? 32 : 16;
  const std::int64_t across = (c.columns - 1) / side + 1, down = (c.rows - 1) / side + 1;
  if (across > std::numeric_limits<int>::max()) {
    return refused(kWho, "c has " + std::to_string(c.columns) + " columns, more than a grid of this variant covers");
  }
  const dim3 block(side, side);
  const dim3 grid(static_cast<unsigned>(across), static_cast<unsigned>(std::min(down, kMaxGridY)));
  switch (variant) {
    case MatmulVariant::kGlobal:
      matmul_global<<<grid, block, 0, stream>>>(a, b, c);
      break;
    case MatmulVariant::kTiled8:
      matmul_tiled<8><<<grid, block, 0, stream>>>(a, b, c);
      break;
    case MatmulVariant::kTiled16:
      matmul_tiled<16><<<grid, block, 0, stream>>>(a, b, c);
      break;
    case MatmulVariant::kTiled32:
      matmul_tiled<32><<<grid, block, 0, stream>>>(a, b, c);
      break;
  }
  return status_of(cudaGetLastError(), kWho,
                   "launching " + std::to_string(grid.x) + " x " + std::to_string(grid.y) + " blocks of " +
                       std::to_string(side * side) + " threads");
}

}  // namespace lockstep::kernels
