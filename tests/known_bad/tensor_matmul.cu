// Mutants of the product by mma.sync: the real kernel with one step replaced by a typical
// mistake. The negative control at the end is correct in another way and must be
// accepted.
#include <cuda_fp16.h>

#include "kernels/tensor_matmul_mma.cuh"
#include "tests/known_bad/tensor_matmul.h"

namespace lockstep::known_bad {
namespace {

using kernels::LaunchStatus;
using kernels::MatrixElement;
using kernels::TensorMatmulArguments;
using kernels::TensorMatmulPath;
using kernels::TensorView;
using kernels::by_mma::Copy;
using kernels::by_mma::kStages;
using kernels::by_mma::kStepBytes;
using kernels::by_mma::kThreads;
using kernels::by_mma::kTile;
using kernels::by_mma::Mma;
using In = TensorView<const void>;
using Out = TensorView<void>;

constexpr const char* kWho = "known-bad tensor_matmul";

// kLaunch handles f16 by mma; the real kernel handles everything else.
template <auto kLaunch>
LaunchStatus instead(TensorMatmulPath path, MatrixElement element, const In& a, const In& b,
                     const In& c, const Out& d, cudaStream_t stream) {
  if (path != TensorMatmulPath::kMma || element != MatrixElement::kF16)
    return kernels::tensor_matmul(path, element, a, b, c, d, stream);
  if (LaunchStatus status = kernels::check_tensor_matmul(path, element, a, b, c, d);
      !status.ok() || d.rows == 0 || d.columns == 0)
    return status;
  return kernels::status_of(kLaunch(kernels::arguments_of(a, b, c, d), stream), kWho, "launching");
}

template <class Step>
constexpr auto* kWith = instead<kernels::by_mma::launch<Step, MatrixElement::kF16>>;

// ---- Mistakes in waiting.

struct NoWait : Mma {
  __device__ static void wait_for_stage() {}
};

struct WaitsForOneLess : Mma {
  __device__ static void wait_for_stage() {
    asm volatile("cp.async.wait_group %0;" ::"n"(kStages - 1) : "memory");
  }
};

struct NothingCommitted : Mma {
  __device__ static void commit() {}
};

struct NoBarrier : Mma {
  __device__ static void wait_for_block() {}
};

struct RefillsBeforeTheBarrier : Mma {
  __device__ static constexpr bool refills_before_the_barrier() { return true; }
};

struct NoBarrierBetweenTiles : Mma {
  __device__ static void wait_for_tile() {}
};

// ---- Mistakes in fragments.

struct Transposed : Mma {
  __device__ static void load_matrices(unsigned (&r)[4], unsigned from) {
    asm volatile("ldmatrix.sync.aligned.m8n8.x4.trans.shared.b16 {%0, %1, %2, %3}, [%4];"
                 : "=r"(r[0]), "=r"(r[1]), "=r"(r[2]), "=r"(r[3])
                 : "r"(from)
                 : "memory");
  }
};

struct FragmentsOfASwapped : Mma {
  __device__ static int row_of_a(int lane) { return lane / 16 * 8 + lane % 8; }
  __device__ static int chunk_of_a(int lane) { return lane / 8 % 2; }
};

struct FragmentsOfBSwapped : Mma {
  __device__ static int row_of_b(int lane) { return lane % 16; }
  __device__ static int chunk_of_b(int lane) { return lane / 16; }
};

struct RowsOfDSwapped : Mma {
  __device__ static int row_of_d(int lane, int r) { return lane / 4 + (1 - r / 2) * 8; }
};

struct ColumnsOfDApart : Mma {
  __device__ static int column_of_d(int lane, int r) { return lane % 4 + r % 2 * 4; }
};

// ---- Mistakes in the tail.

struct TailNotZeroed : Mma {
  __device__ static int valid(std::int64_t bytes, std::int64_t at, int most) {
    return bytes > at ? most : 0;
  }
};

struct TailForgotten : Mma {
  __device__ static int steps(std::int64_t bytes_left) {
    return bytes_left < kStepBytes ? 0 : Mma::steps(bytes_left);
  }
};

struct OneStepOnly : Mma {
  __device__ static int steps(std::int64_t) { return 1; }
};

// ---- Mistakes in alignment.

struct EightBytesTakenForSixteen : Mma {
  static Copy copy_of(const std::byte* data, std::int64_t stride, int bytes) {
    return kernels::rows_are_aligned(data, stride, bytes, 8) ? Copy::kAsync16
                                                             : Mma::copy_of(data, stride, bytes);
  }
};

struct StrideNotLookedAt : Mma {
  static Copy copy_of(const std::byte* data, std::int64_t stride, int bytes) {
    return reinterpret_cast<std::uintptr_t>(data) % 16 == 0 ? Copy::kAsync16
                                                            : Mma::copy_of(data, stride, bytes);
  }
};

// ---- Mistakes in summing.

struct WithoutC : Mma {
  template <class Result>
  __device__ static Result first(Result) {
    return {};
  }
};

struct AddsStepsToTheNearest : Mma {
  template <class U, class Result>
  __device__ static void multiply(Result (&d)[4], const unsigned (&a)[4], const unsigned (&b)[2]) {
    Result part[4] = {};
    U::multiply(part, a, b);
    for (int i = 0; i < 4; ++i) d[i] += part[i];
  }
};

struct HalfAccumulator : Mma {
  template <class U, class Result>
  __device__ static void multiply(Result (&d)[4], const unsigned (&a)[4], const unsigned (&b)[2]) {
    U::multiply(d, a, b);
    for (int i = 0; i < 4; ++i) d[i] = __half2float(__float2half_rn(d[i]));
  }
};

struct TakenForBf16 : Mma {
  template <class U, class Result>
  __device__ static void multiply(Result (&d)[4], const unsigned (&a)[4], const unsigned (&b)[2]) {
    kernels::by_mma::Unit<MatrixElement::kBf16>::multiply(d, a, b);
  }
};

struct FlushesSubnormals : Mma {
  template <class U, class Result>
  __device__ static void multiply(Result (&d)[4], const unsigned (&a)[4], const unsigned (&b)[2]) {
    U::multiply(d, a, b);
    for (int i = 0; i < 4; ++i) {
      if (fabsf(d[i]) < 0x1p-126f) d[i] = 0;
    }
  }
};

// ---- Mistakes in the launch.

cudaError_t nothing_for_no_products(const TensorMatmulArguments& p, cudaStream_t stream) {
  return p.k == 0 ? cudaSuccess : kernels::by_mma::launch<Mma, MatrixElement::kF16>(p, stream);
}

cudaError_t stride_of_c_for_d(const TensorMatmulArguments& p, cudaStream_t stream) {
  TensorMatmulArguments q = p;
  q.d_stride = p.c_stride;
  return kernels::by_mma::launch<Mma, MatrixElement::kF16>(q, stream);
}

cudaError_t grid_of_whole_tiles(const TensorMatmulArguments& p, cudaStream_t stream) {
  TensorMatmulArguments q = p;
  if (p.m > kTile) q.m = p.m / kTile * kTile;
  return kernels::by_mma::launch<Mma, MatrixElement::kF16>(q, stream);
}

// ---- A negative control: each warp computes 16 x 8 elements of D, with fragments loaded directly
// from global memory.

__device__ unsigned pair_of(const __half* row, bool there, std::int64_t k, std::int64_t at) {
  const auto half = [&](std::int64_t p) {
    return there && p < k ? unsigned{__half_as_ushort(row[p])} : 0u;
  };
  return half(at) | half(at + 1) << 16;
}

__global__ void warp_a_tile(TensorMatmulArguments p) {
  const int lane = threadIdx.x, g = lane / 4, t = lane % 4;
  const std::int64_t across = (p.n - 1) / 8 + 1, tiles = ((p.m - 1) / 16 + 1) * across;
  const auto *const a = reinterpret_cast<const __half*>(p.a), *const b =
                                                                  reinterpret_cast<const __half*>(
                                                                      p.b);
  for (std::int64_t tile = blockIdx.x; tile < tiles; tile += gridDim.x) {
    const std::int64_t row = tile / across * 16 + g, column = tile % across * 8, j = column + g;
    float sum[4];
    for (int e = 0; e < 4; ++e) {
      const std::int64_t i = row + e / 2 * 8, q = column + 2 * t + e % 2;
      sum[e] = i < p.m && q < p.n ? static_cast<const float*>(p.c)[i * p.c_stride + q] : 0;
    }
    for (std::int64_t k = 0; k < p.k; k += 16) {
      unsigned fa[4], fb[2];
      for (int r = 0; r < 4; ++r) {
        const std::int64_t i = row + r % 2 * 8;
        fa[r] = pair_of(a + i * p.a_stride, i < p.m, p.k, k + 2 * t + r / 2 * 8);
      }
      for (int r = 0; r < 2; ++r)
        fb[r] = pair_of(b + j * p.b_stride, j < p.n, p.k, k + 2 * t + r * 8);
      kernels::by_mma::Unit<MatrixElement::kF16>::multiply(sum, fa, fb);
    }
    for (int e = 0; e < 4; ++e) {
      const std::int64_t i = row + e / 2 * 8, q = column + 2 * t + e % 2;
      if (i < p.m && q < p.n) static_cast<float*>(p.d)[i * p.d_stride + q] = sum[e];
    }
  }
}

cudaError_t launch_warp_a_tile(const TensorMatmulArguments& p, cudaStream_t stream) {
  warp_a_tile<<<300, 32, 0, stream>>>(p);
  return cudaGetLastError();
}

}  // namespace

Mutants<TensorMatmulLauncher> tensor_matmul_mma_mutants() {
  const Labels early = {"finding:race", "finding:uninitialised"}, wrong = {"mismatch", "law"};
  const char* const mostly_in_time = "the copies are mostly there when they are needed";
  return {
      {"no_wait", "no cp.async.wait_group", kWith<NoWait>, early, {}, mostly_in_time},
      {"waits_for_one_less",
       "cp.async.wait_group with one group more left under way",
       kWith<WaitsForOneLess>,
       early,
       {},
       mostly_in_time},
      {"nothing_committed",
       "no cp.async.commit_group: there are no groups to wait for",
       kWith<NothingCommitted>,
       early,
       {},
       mostly_in_time},
      {"no_barrier",
       "waits for its own copies alone, not for those of the other threads",
       kWith<NoBarrier>,
       early,
       {},
       mostly_in_time},
      {"refills_before_the_barrier",
       "overwrites the stage that slower warps still read",
       kWith<RefillsBeforeTheBarrier>,
       {"finding:race"},
       {},
       "whether a warp overtakes another is up to the hardware's schedule"},
      {"no_barrier_between_tiles",
       "the next tile's first stage overwrites what slower warps still read",
       kWith<NoBarrierBetweenTiles>,
       {"finding:race"},
       {},
       "whether a warp overtakes another is up to the hardware's schedule"},
      {"transposed", "ldmatrix.trans of factors that are contiguous along k", kWith<Transposed>,
       wrong, wrong},
      {"fragments_of_a_swapped",
       "the upper right and the lower left quarter of A's fragment exchanged",
       kWith<FragmentsOfASwapped>, wrong, wrong},
      {"fragments_of_b_swapped",
       "the two halves along k of one instruction's B taken for two instructions'",
       kWith<FragmentsOfBSwapped>, wrong, wrong},
      {"rows_of_d_swapped", "the upper and the lower rows of a result exchanged, of C too",
       kWith<RowsOfDSwapped>, wrong, wrong},
      {"columns_of_d_apart",
       "a lane's two columns taken to be four apart, not neighbours; of C too",
       kWith<ColumnsOfDApart>, wrong, wrong},
      {"tail_not_zeroed",
       "copies 16 bytes where the row ends before",
       kWith<TailNotZeroed>,
       {"mismatch", "law", "finding:out-of-bounds", "finding:uninitialised"},
       wrong},
      {"tail_forgotten", "no instruction for what is left of a row", kWith<TailForgotten>, wrong,
       wrong},
      {"one_step_only", "half of each stage is never multiplied", kWith<OneStepOnly>, wrong, wrong},
      {"eight_bytes_taken_for_sixteen",
       "cp.async of 16 bytes from rows that begin at multiples of 8",
       kWith<EightBytesTakenForSixteen>,
       {"finding:misaligned"},
       // An H100 reads the 16 bytes that contain the address, without an error.
       {"mismatch", "cuda-error"}},
      {"stride_not_looked_at",
       "aligned at its first element, so taken to be aligned in every row",
       kWith<StrideNotLookedAt>,
       {"finding:misaligned"},
       // An H100 reads the 16 bytes that contain the address, without an error.
       {"mismatch", "cuda-error"}},
      {"without_c", "starts from 0", kWith<WithoutC>, wrong, wrong},
      {"adds_steps_to_the_nearest",
       "each instruction starts from 0, and its result is added in float: other bits",
       kWith<AddsStepsToTheNearest>, wrong, wrong},
      {"half_accumulator", "keeps the sum in half precision", kWith<HalfAccumulator>, wrong, wrong},
      {"taken_for_bf16", "the instruction of bf16 on elements of f16", kWith<TakenForBf16>, wrong,
       wrong},
      {"flushes_subnormals", "sums below the least normal become 0", kWith<FlushesSubnormals>,
       wrong, wrong},
      {"nothing_for_no_products",
       "k = 0 launches nothing, and D keeps what it held",
       instead<nothing_for_no_products>,
       {"unwritten", "mismatch"},
       {"unwritten", "mismatch"}},
      {"stride_of_c_for_d",
       "takes D to have the stride of C",
       instead<stride_of_c_for_d>,
       {"guard", "unwritten", "mismatch", "finding:out-of-bounds"},
       {"guard", "unwritten", "mismatch"}},
      {"grid_of_whole_tiles",
       "the last rows are nobody's",
       instead<grid_of_whole_tiles>,
       {"unwritten", "mismatch"},
       {"unwritten", "mismatch"}},
      // Negative controls.
      {"in_steps", "the unchanged steps from which the mutants are made", kWith<Mma>},
      {"warp_a_tile", "a warp for 16 x 8 elements, its fragments straight from memory",
       instead<launch_warp_a_tile>},
  };
}

}  // namespace lockstep::known_bad
