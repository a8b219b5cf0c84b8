// Matrix product on the matrix units: D = A * B + C,
//
//   D[i][j] = C[i][j] + sum over p = 0 ... k-1 of A[i][p] * B[p][j],   0 <= i < m, 0 <= j < n
//
// A, C and D are row-major; B is given by columns, as the units read it: row j of `b` is column j
// of B, so that both factors are contiguous along k.
//
// How an element is summed. The accumulator starts as C[i][j] and adds the products in order of k,
// one instruction of the path after another; the order within an instruction depends on the unit
// (docs/reference/matrix.md) and differs between generations. After the last product, zeros follow
// up to a multiple of the instruction's k: 32 bytes of a row. They change nothing but the sign of a
// zero. Results do not depend on the launch's shape or schedule, nor on strides and alignment.
// Paths agree bit for bit on an element type that they share, except e4m3: wgmma and tcgen05 have a
// separate unit for it. On devices with these units, and on sm_110, mma of e4m3 is two steps of the
// unit of f16. k = 0 copies C, bit for bit.
//
// Any m, n, k, strides and alignment. Rows that begin at multiples of 16 bytes are the fast way:
// cp.async of 16 bytes, or the tensor copies of wgmma and tcgen05. mma falls back to cp.async of 4
// bytes, and all paths to ordinary loads and stores, for each factor separately.
#pragma once

#include <cuda_runtime_api.h>

#include <cstdint>

#include "kernels/launch_status.h"

namespace lockstep::kernels {

// The type of the factors, with the type of C and D in the comment.
enum class MatrixElement : std::uint8_t {
  kF16,   // float
  kBf16,  // float
  kTf32,  // float; factors are floats whose low 13 bits are ignored
  kF64,   // double
  kS8,    // std::int32_t, which wraps
  kE4m3,  // float
};

enum class TensorMatmulPath : std::uint8_t {
  kWmma,  // nvcuda::wmma, 16 x 16 x 16; f16
  // mma.sync with ldmatrix and cp.async, tiles of 64 x 64; every element type. Compute capability
  // 8.0 and later, e4m3: 8.9.
  kMma,
  // wgmma with tensor copies, tiles of 64 x 64; f16, bf16, e4m3. Compute capability 9.0 alone.
  kWgmma,
  kWgmmaCluster,  // as kWgmma, in clusters of two blocks that share their tile of B
  kWgmmaWide,     // as kWgmma, tiles of 128 x 256: the fast one
  // tcgen05 with tensor copies and accumulators in tensor memory, tiles of 128 x 64, one stage
  // after the other; f16, bf16, tf32, e4m3. Compute capability 10.0 and 10.3 alone.
  kTcgen05,
  // As kTcgen05, with a warp for each task, three stages, and blocks that execute the work of
  // blocks that have not begun.
  kTcgen05Ring,
  kTcgen05Pair,  // as kTcgen05Ring, by pairs of blocks, tiles of 256 x 64
};

// A matrix in device memory: element (i, j) is element i * stride + j from `data`; the elements
// between columns and stride are not part of it.
template <class Data>
struct TensorView {
  Data* data = nullptr;
  std::int64_t rows = 0, columns = 0;
  std::int64_t stride = 0;  // elements from one row to the next, at least `columns`
};

// Whether some device has this path for these elements; and from which compute capability (10 *
// major + minor) to which.
struct TensorMatmulSupport {
  bool exists = false;
  int from = 0, to = 0;
};
TensorMatmulSupport tensor_matmul_support(TensorMatmulPath path, MatrixElement element);

// a is m x k, b is n x k, c and d are m x n; any of m, n, k may be 0. With m or n 0 nothing is
// launched; with k = 0 D becomes C. d overlaps none of the others. Data is aligned to its element;
// an empty matrix may be null. Errors: cudaErrorInvalidValue for arguments outside these, and for a
// path that does not exist for the elements; cudaErrorNotSupported, with a sentence, for one that
// the current device lacks; otherwise the error that CUDA returned.
LaunchStatus tensor_matmul(TensorMatmulPath path, MatrixElement element,
                           const TensorView<const void>& a, const TensorView<const void>& b,
                           const TensorView<const void>& c, const TensorView<void>& d,
                           cudaStream_t stream = nullptr);

// Whether tensor_matmul would accept these arguments; launches nothing. For kernels with the same
// contract and another implementation.
LaunchStatus check_tensor_matmul(TensorMatmulPath path, MatrixElement element,
                                 const TensorView<const void>& a, const TensorView<const void>& b,
                                 const TensorView<const void>& c, const TensorView<void>& d);

// The elements of a product with scales, and the elements of its scales.
enum class ScaledElement : std::uint8_t {
  kMxf8,  // e4m3, one per byte; one scale of ue8m0 for 32 bytes
  // e2m1, two per byte, the first in the low bits; one scale of ue4m3, without its sign, for 8
  // bytes.
  kNvf4,
};

// The same product by tcgen05, with one scale for several neighbours of a row: each element is
// multiplied by its scale. Rows of `a` and `b` are counted in bytes, k of them. A row of `a_scales`
// or `b_scales` has one scale for each 32 or 8 bytes of the factor's row, including a last
// incomplete group. Compute capability 10.0 and 10.3 alone; errors as of tensor_matmul.
LaunchStatus tensor_matmul_scaled(ScaledElement element, const TensorView<const std::uint8_t>& a,
                                  const TensorView<const std::uint8_t>& a_scales,
                                  const TensorView<const std::uint8_t>& b,
                                  const TensorView<const std::uint8_t>& b_scales,
                                  const TensorView<const float>& c, const TensorView<float>& d,
                                  cudaStream_t stream = nullptr);

// Whether tensor_matmul_scaled would accept these arguments; launches nothing.
LaunchStatus check_tensor_matmul_scaled(ScaledElement element,
                                        const TensorView<const std::uint8_t>& a,
                                        const TensorView<const std::uint8_t>& a_scales,
                                        const TensorView<const std::uint8_t>& b,
                                        const TensorView<const std::uint8_t>& b_scales,
                                        const TensorView<const float>& c,
                                        const TensorView<float>& d);

}  // namespace lockstep::kernels
