// The paths of tensor_matmul, one source file per path, and their common parts. For the launcher
// and for known-bad kernels, which replace one step of a path. All other code includes
// tensor_matmul.h.
#pragma once

#include <cuda_runtime_api.h>

#include <cstddef>
#include <cstdint>

#include "kernels/tensor_matmul.h"

namespace lockstep::kernels {

// A kernel's arguments. Factors are untyped bytes; sizes and strides count elements.
struct TensorMatmulArguments {
  const std::byte* a;
  const std::byte* b;
  const void* c;
  void* d;
  std::int64_t m, n, k;
  std::int64_t a_stride, b_stride, c_stride, d_stride;
};

inline TensorMatmulArguments arguments_of(const TensorView<const void>& a,
                                          const TensorView<const void>& b,
                                          const TensorView<const void>& c,
                                          const TensorView<void>& d) {
  return {static_cast<const std::byte*>(a.data),
          static_cast<const std::byte*>(b.data),
          c.data,
          d.data,
          c.rows,
          c.columns,
          a.columns,
          a.stride,
          b.stride,
          c.stride,
          d.stride};
}

constexpr int bytes_of(MatrixElement e) {
  switch (e) {
    case MatrixElement::kF16:
    case MatrixElement::kBf16: return 2;
    case MatrixElement::kTf32: return 4;
    case MatrixElement::kF64: return 8;
    case MatrixElement::kS8:
    case MatrixElement::kE4m3: break;
  }
  return 1;
}

// Usable in device code.
template <MatrixElement kElement>
constexpr int kBytesOf = bytes_of(kElement);

// The bytes of an element of C and D.
constexpr int result_bytes_of(MatrixElement e) { return e == MatrixElement::kF64 ? 8 : 4; }

// Whether every row begins at a multiple of `bytes`.
inline bool rows_are_aligned(const std::byte* data, std::int64_t stride, int element_bytes,
                             int bytes) {
  return reinterpret_cast<std::uintptr_t>(data) % bytes == 0 && stride * element_bytes % bytes == 0;
}

// The number of tiles of D. Block b of a bounded grid processes the tiles b, b + gridDim.x, ...
inline std::int64_t tiles_of(const TensorMatmulArguments& p, int rows, int columns) {
  return ((p.m - 1) / rows + 1) * ((p.n - 1) / columns + 1);
}

// Precondition: m and n are not 0, and the device supports the path. Each returns the result of the
// launch.
cudaError_t launch_wmma(const TensorMatmulArguments& p, cudaStream_t stream);
cudaError_t launch_mma(MatrixElement element, const TensorMatmulArguments& p, cudaStream_t stream);
cudaError_t launch_wgmma(TensorMatmulPath path, MatrixElement element,
                         const TensorMatmulArguments& p, cudaStream_t stream);
cudaError_t launch_tcgen05(TensorMatmulPath path, MatrixElement element,
                           const TensorMatmulArguments& p, cudaStream_t stream);

}  // namespace lockstep::kernels
