#include <mma.h>

#include <algorithm>
#include <limits>
#include <string>

#include "kernels/tensor_matmul.h"
#include "kernels/tensor_matmul_paths.h"
#include "kernels/tensor_view_check.h"

namespace lockstep::kernels {
namespace {

constexpr const char* kWho = "tensor_matmul";

// ---- By wmma: four warps with 16 x 16 elements of D each; their tiles of A, B and C are in shared
// memory.

constexpr int kSide = 32, kUnit = 16;
constexpr int kWmmaThreads = 128;
constexpr int kMostWmmaBlocks = 1024;
constexpr int kHalves = kSide + 8,
              kFloats =
                  kSide +
                  4;  // floats of a row with padding against bank conflicts; a multiple of 16 bytes

__global__ void __launch_bounds__(kWmmaThreads) by_wmma(TensorMatmulArguments p) {
  using namespace nvcuda;
  __shared__ alignas(32) __half tile_a[kSide][kHalves], tile_b[kSide][kHalves];
  __shared__ alignas(32) float tile_d[kSide][kFloats];
  const auto* const a = reinterpret_cast<const __half*>(p.a);
  const auto* const b = reinterpret_cast<const __half*>(p.b);
  const auto* const c = static_cast<const float*>(p.c);
  auto* const d = static_cast<float*>(p.d);
  const std::int64_t across = (p.n - 1) / kSide + 1, tiles = ((p.m - 1) / kSide + 1) * across;
  const int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
  const int top = warp / 2 * kUnit, left = warp % 2 * kUnit;
  for (std::int64_t tile = blockIdx.x; tile < tiles; tile += gridDim.x) {
    const std::int64_t row = tile / across * kSide, column = tile % across * kSide;
    for (int i = warp; i < kSide; i += kWmmaThreads / 32) {
      const bool inside = row + i < p.m && column + lane < p.n;
      tile_d[i][lane] = inside ? c[(row + i) * p.c_stride + column + lane] : 0.0f;
    }
    __syncthreads();
    wmma::fragment<wmma::accumulator, kUnit, kUnit, kUnit, float> sum;
    wmma::load_matrix_sync(sum, &tile_d[top][left], kFloats, wmma::mem_row_major);
    for (std::int64_t k = 0; k < p.k; k += kSide) {
      for (int i = warp; i < kSide; i += kWmmaThreads / 32) {
        const bool inside = k + lane < p.k;
        tile_a[i][lane] =
            inside && row + i < p.m ? a[(row + i) * p.a_stride + k + lane] : __half(0.0f);
        tile_b[i][lane] =
            inside && column + i < p.n ? b[(column + i) * p.b_stride + k + lane] : __half(0.0f);
      }
      __syncthreads();
      for (int q = 0; q < kSide && k + q < p.k; q += kUnit) {
        wmma::fragment<wmma::matrix_a, kUnit, kUnit, kUnit, __half, wmma::row_major> fa;
        wmma::fragment<wmma::matrix_b, kUnit, kUnit, kUnit, __half, wmma::col_major> fb;
        wmma::load_matrix_sync(fa, &tile_a[top][q], kHalves);
        wmma::load_matrix_sync(fb, &tile_b[left][q], kHalves);
        wmma::mma_sync(sum, fa, fb, sum);
      }
      __syncthreads();  // the next tiles overwrite data that slower warps still read
    }
    wmma::store_matrix_sync(&tile_d[top][left], sum, kFloats, wmma::mem_row_major);
    __syncthreads();
    for (int i = warp; i < kSide; i += kWmmaThreads / 32) {
      if (row + i < p.m && column + lane < p.n)
        d[(row + i) * p.d_stride + column + lane] = tile_d[i][lane];
    }
    __syncthreads();  // the next tile's C is stored to the same place
  }
}

// ---- The argument checks.

const char* name_of(TensorMatmulPath path) {
  switch (path) {
    case TensorMatmulPath::kWmma: return "wmma";
    case TensorMatmulPath::kMma: return "mma";
    case TensorMatmulPath::kWgmma:
    case TensorMatmulPath::kWgmmaCluster:
    case TensorMatmulPath::kWgmmaWide: return "wgmma";
    case TensorMatmulPath::kTcgen05:
    case TensorMatmulPath::kTcgen05Ring:
    case TensorMatmulPath::kTcgen05Pair: break;
  }
  return "tcgen05";
}

}  // namespace

cudaError_t launch_wmma(const TensorMatmulArguments& p, cudaStream_t stream) {
  const auto blocks =
      static_cast<unsigned>(std::min<std::int64_t>(tiles_of(p, kSide, kSide), kMostWmmaBlocks));
  by_wmma<<<blocks, kWmmaThreads, 0, stream>>>(p);
  return cudaGetLastError();
}

TensorMatmulSupport tensor_matmul_support(TensorMatmulPath path, MatrixElement element) {
  constexpr int kLast = std::numeric_limits<int>::max();
  switch (path) {
    case TensorMatmulPath::kWmma: return {element == MatrixElement::kF16, 75, kLast};
    case TensorMatmulPath::kMma: return {true, element == MatrixElement::kE4m3 ? 89 : 80, kLast};
    case TensorMatmulPath::kWgmma:
    case TensorMatmulPath::kWgmmaCluster:
    case TensorMatmulPath::kWgmmaWide:
      return {element == MatrixElement::kF16 || element == MatrixElement::kBf16 ||
                  element == MatrixElement::kE4m3,
              90, 90};
    case TensorMatmulPath::kTcgen05:
    case TensorMatmulPath::kTcgen05Ring:
    case TensorMatmulPath::kTcgen05Pair: break;
  }
  return {element != MatrixElement::kF64 && element != MatrixElement::kS8, 100, 103};
}

LaunchStatus check_tensor_matmul(TensorMatmulPath path, MatrixElement element,
                                 const TensorView<const void>& a, const TensorView<const void>& b,
                                 const TensorView<const void>& c, const TensorView<void>& d) {
  ArgumentCheck check(kWho);
  check.enumerator("path", path, TensorMatmulPath::kTcgen05Pair);
  check.enumerator("element", element, MatrixElement::kE4m3);
  if (!check.ok()) return check.status();
  check.require(tensor_matmul_support(path, element).exists, [&] {
    return std::string("there is no path by ") + name_of(path) + " for element " +
           std::to_string(static_cast<int>(element));
  });
  const int factor = bytes_of(element), result = result_bytes_of(element);
  check_matrix(check, "a", a, factor);
  check_matrix(check, "b", b, factor);
  check_matrix(check, "c", c, result);
  check_matrix(check, "d", d, result);
  check.require(a.columns == b.columns && a.rows == c.rows && b.rows == c.columns &&
                    c.rows == d.rows && c.columns == d.columns,
                [&] {
                  return "the shapes do not fit: a is " + shape(a) + ", b is " + shape(b) +
                         " by columns, c is " + shape(c) + ", d is " + shape(d);
                });
  if (!check.ok() || is_empty(d)) return check.status();
  const std::uint64_t bytes = extent_of(d, result);
  check.apart("c", c.data, extent_of(c, result), "d", d.data, bytes);
  if (is_empty(a)) return check.status();
  check.apart("a", a.data, extent_of(a, factor), "d", d.data, bytes);
  check.apart("b", b.data, extent_of(b, factor), "d", d.data, bytes);
  return check.status();
}

LaunchStatus tensor_matmul(TensorMatmulPath path, MatrixElement element,
                           const TensorView<const void>& a, const TensorView<const void>& b,
                           const TensorView<const void>& c, const TensorView<void>& d,
                           cudaStream_t stream) {
  if (LaunchStatus status = check_tensor_matmul(path, element, a, b, c, d); !status.ok())
    return status;
  if (is_empty(d)) return {};

  int device = 0, major = 0, minor = 0;
  for (const cudaError_t e :
       {cudaGetDevice(&device),
        cudaDeviceGetAttribute(&major, cudaDevAttrComputeCapabilityMajor, device),
        cudaDeviceGetAttribute(&minor, cudaDevAttrComputeCapabilityMinor, device)}) {
    if (e != cudaSuccess) return status_of(e, kWho, "asking for the device's compute capability");
  }
  const TensorMatmulSupport support = tensor_matmul_support(path, element);
  if (const int capability = 10 * major + minor;
      capability < support.from || capability > support.to) {
    return {cudaErrorNotSupported, std::string(kWho) + ": a device of compute capability " +
                                       std::to_string(major) + "." + std::to_string(minor) +
                                       " has no path by " + name_of(path) + " for element " +
                                       std::to_string(static_cast<int>(element))};
  }

  const TensorMatmulArguments p = arguments_of(a, b, c, d);
  const auto launch = [&] {
    switch (path) {
      case TensorMatmulPath::kWmma: return launch_wmma(p, stream);
      case TensorMatmulPath::kMma: return launch_mma(element, p, stream);
      case TensorMatmulPath::kWgmma:
      case TensorMatmulPath::kWgmmaCluster:
      case TensorMatmulPath::kWgmmaWide: return launch_wgmma(path, element, p, stream);
      case TensorMatmulPath::kTcgen05:
      case TensorMatmulPath::kTcgen05Ring:
      case TensorMatmulPath::kTcgen05Pair: break;
    }
    return launch_tcgen05(path, element, p, stream);
  };
  return status_of(launch(), kWho,
                   std::string("launching the path by ") + name_of(path) + " for D of " + shape(d));
}

}  // namespace lockstep::kernels
