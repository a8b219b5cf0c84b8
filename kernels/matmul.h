// Matrix product C = A * B, row-major, in float:
//
//   C[i][j] = sum over p = 0 ... k-1 of A[i][p] * B[p][j],   0 <= i < m, 0 <= j < n
//
// Rounding chain, the same in every variant, so that they agree bit for bit: sum = +0; for p = 0,
// 1, ..., k - 1: sum = fma(A[i][p], B[p][j], sum), each fma rounded once to float, subnormals kept.
// Results do not depend on the launch's shape or schedule.
#pragma once

#include <cuda_runtime_api.h>

#include <cstdint>

#include "kernels/launch_status.h"

namespace lockstep::kernels {

enum class MatmulVariant : std::uint8_t {
  kGlobal,  // one thread per element, operands directly from global memory
  kTiled8,  // blocks of 8 x 8 threads that stage square tiles of A and B in shared memory
  kTiled16,
  kTiled32,
};

// A row-major matrix in device memory: element (i, j) is data[i * stride + j]; the elements between
// columns and stride are not part of it.
template <class T>
struct MatrixView {
  T* data = nullptr;
  std::int64_t rows = 0, columns = 0;
  std::int64_t stride = 0;  // elements from one row to the next, at least `columns`
};

// a is m x k, b is k x n, c is m x n; any of the three may be 0. With m or n 0 nothing is launched;
// with k = 0 every element of c becomes +0. c is at most 2^31 - 1 tiles wide, of 16 columns for
// kGlobal. c overlaps neither a nor b. Data is aligned to float; an empty matrix may be null.
// Errors: cudaErrorInvalidValue for arguments outside these, otherwise the error that CUDA
// returned.
LaunchStatus matmul(MatmulVariant variant, const MatrixView<const float>& a,
                    const MatrixView<const float>& b, const MatrixView<float>& c,
                    cudaStream_t stream = nullptr);

// Whether matmul would accept these arguments; launches nothing. For kernels with the same contract
// and another implementation.
LaunchStatus check_matmul(MatmulVariant variant, const MatrixView<const float>& a,
                          const MatrixView<const float>& b, const MatrixView<float>& c);

}  // namespace lockstep::kernels
