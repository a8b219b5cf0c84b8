// tensor_matmul_scaled by tcgen05: the plain kernel of tensor_matmul_tcgen05.cuh, with scales.
//
// A stage is 128 bytes of each row, multiplied by four instructions. Its scales are written to
// shared memory by ordinary stores and copied to tensor memory by tcgen05.cp. There they occupy 32
// rows per column, four scales in each cell: for mxf8 one scale for each instruction, for nvf4 four
// scales of one instruction.
#pragma once

#include "kernels/tensor_matmul_tcgen05.cuh"

namespace lockstep::kernels::by_tcgen05 {

struct ScaledArguments {
  TensorMatmulArguments factors;  // k counts bytes
  const std::uint8_t *a, *b;      // scales
  std::int64_t a_stride, b_stride;
  std::int64_t scales;  // per row
};

inline ScaledArguments scaled_arguments(const TensorView<const std::uint8_t>& a,
                                        const TensorView<const std::uint8_t>& a_scales,
                                        const TensorView<const std::uint8_t>& b,
                                        const TensorView<const std::uint8_t>& b_scales,
                                        const TensorView<const float>& c,
                                        const TensorView<float>& d) {
  const auto untyped = [](const auto& v) {
    return TensorView<const void>{v.data, v.rows, v.columns, v.stride};
  };
  return {arguments_of(untyped(a), untyped(b), untyped(c), {d.data, d.rows, d.columns, d.stride}),
          a_scales.data,
          b_scales.data,
          a_scales.stride,
          b_scales.stride,
          a_scales.columns};
}

// The scales of a row with this many bytes.
constexpr std::int64_t scales_of(ScaledElement element, std::int64_t bytes) {
  const std::int64_t each = element == ScaledElement::kMxf8 ? 32 : 8;
  return bytes / each + (bytes % each != 0 ? 1 : 0);
}

constexpr int kCellScales = 4;   // in a cell of tensor memory
constexpr int kCopyBytes = 512;  // per tcgen05.cp: 32 lanes of 4 cells

// kCopies: the number of copies for the scales of a stage.
template <ScaledElement kElement_>
struct ScaledShape : Shape<64, 128, 1, 1> {
  static constexpr ScaledElement kElement = kElement_;
  static constexpr int kSteps = kRowBytes / kStepBytes;
  static constexpr int kCopies = kElement == ScaledElement::kMxf8 ? 1 : kSteps;
  static constexpr int kScales = kCopies * kCellScales;  // of a row, per stage
  // After the barriers: the address of the columns and, from a multiple of 128 bytes, the scales.
  static constexpr int kScalesAt = 112;
  static constexpr int kSharedBytes =
      kStageBytes + 1024 + 2 * 8 + kScalesAt + 2 * kCopies * kCopyBytes;
  // In tensor memory: D, the scales of A and the scales of B.
  static constexpr int kColumnsOfScales = 4 * kCopies;
  static constexpr int kAllocated = 128;
  static_assert(kColumns + 2 * kColumnsOfScales <= kAllocated);
};

struct ScaledTcgen05 : Tcgen05 {
  // The place of a scale in a stage's scales.
  __device__ static int place_of_scale(int row, int scale) {
    return scale / kCellScales * kCopyBytes + row % 32 * 16 + row / 32 * kCellScales +
           scale % kCellScales;
  }
  // After ordinary stores to memory that tcgen05.cp reads.
  __device__ static void publish_scales() { publish_stores(); }
  // Copies 32 rows of 16 bytes, in groups of eight rows, to all four quarters of the lanes.
  __device__ static void copy_scales(unsigned to, unsigned from) {
    constexpr std::uint64_t kEightRows = 128;
    const std::uint64_t descriptor = (from & 0x3ffff) >> 4 | std::uint64_t{1} << 16 |
                                     kEightRows / 16 << 32 | std::uint64_t{1} << 46;
    asm volatile("tcgen05.cp.cta_group::1.32x128b.warpx4 [%0], %1;" ::"r"(to), "l"(descriptor)
                 : "memory");
  }
  // The instruction descriptor for rows x columns of f32, with the byte of the cells at which the
  // scales of this step begin.
  template <ScaledElement kElement>
  __device__ static unsigned scaled_instruction(int rows, int columns, unsigned byte) {
    const unsigned shape =
        static_cast<unsigned>(columns) / 8 << 17 | static_cast<unsigned>(rows) / 16 << 24;
    constexpr unsigned kE2m1 = 1, kUe8m0 = 1u << 23;
    if constexpr (kElement == ScaledElement::kMxf8) return shape | kUe8m0 | byte << 4 | byte << 29;
    return shape | kE2m1 << 7 | kE2m1 << 10;
  }
  template <ScaledElement kElement>
  __device__ static unsigned byte_of_step(int step) {
    return kElement == ScaledElement::kMxf8 ? static_cast<unsigned>(step) : 0;
  }
  template <ScaledElement kElement>
  __device__ static void multiply_scaled(unsigned d, std::uint64_t a, std::uint64_t b,
                                         unsigned instruction, unsigned a_scales,
                                         unsigned b_scales) {
#define LOCKSTEP_TCGEN05_SCALED(kind)                                \
  asm volatile(                                                      \
      "{\n"                                                          \
      ".reg .pred adds;\n"                                           \
      "setp.eq.u32 adds, 0, 0;\n"                                    \
      "tcgen05.mma.cta_group::1.kind::" kind                         \
      " [%0], %1, %2, %3, [%4], [%5], adds;\n"                       \
      "}" ::"r"(d),                                                  \
      "l"(a), "l"(b), "r"(instruction), "r"(a_scales), "r"(b_scales) \
      : "memory")
    if constexpr (kElement == ScaledElement::kMxf8) {
      LOCKSTEP_TCGEN05_SCALED("mxf8f6f4.block_scale");
    } else {
      LOCKSTEP_TCGEN05_SCALED("mxf4nvf4.block_scale.block16");
    }
#undef LOCKSTEP_TCGEN05_SCALED
  }
};

// Stores scales, from `at` on, of up to 128 rows, from `first` on; missing scales become zeros.
template <class Step, class S>
__device__ void store_scales(unsigned char* to, const std::uint8_t* scales, std::int64_t stride,
                             std::int64_t first, std::int64_t rows, std::int64_t at,
                             std::int64_t count) {
  const int row = threadIdx.x;
  for (int i = 0; i < S::kScales; ++i) {
    to[Step::place_of_scale(row, i)] =
        first + row < rows && at + i < count ? scales[(first + row) * stride + at + i] : 0;
  }
}

template <class Step, class S>
__global__ void __launch_bounds__(kGroup)
    scaled(ScaledArguments given, const __grid_constant__ CUtensorMap map_a,
           const __grid_constant__ CUtensorMap map_b, ByTensor tensor) {
#if defined(__CUDA_ARCH_FAMILY_SPECIFIC__)
  constexpr MatrixElement kByte = MatrixElement::kE4m3;  // factors are copied as bytes
  extern __shared__ unsigned char memory[];
  const TensorMatmulArguments& p = given.factors;
  const Ring<S> ring(memory);
  const unsigned full = ring.full(0), done = ring.empty(0), warp = threadIdx.x / 32;
  unsigned char *const a_scales = ring.rest() + S::kScalesAt, *const b_scales =
                                                                  a_scales +
                                                                  S::kCopies * kCopyBytes;
  const std::int64_t stages_a_tile = (p.k + S::kRowBytes - 1) / S::kRowBytes,
                     tiles = tiles_of_clusters<S>(p);
  const unsigned columns = begin_tiles<Step, S, S::kAllocated>(ring, tensor),
                 own = columns + (Step::quarter(warp) * 32 << 16),
                 a_columns = columns + S::kColumns, b_columns = a_columns + S::kColumnsOfScales;

  unsigned turn = 0;
  for (std::int64_t t = blockIdx.x; t < tiles; t += gridDim.x) {
    const Tile tile = tile_of<S>(t, p, 0);
    const std::int64_t row = tile.row + Step::quarter(warp) * 32 + threadIdx.x % 32;
    store_c<Step, S>(own, p, row, tile.column);
    for (std::int64_t s = 0; s < stages_a_tile; ++s, ++turn) {
      const bool leads = warp == 0 && Step::is_elected();
      if (leads || !tensor.a || !tensor.b) {
        produce<Step, S, kByte>(ring, 0, tile, s * S::kRowBytes, p, map_a, map_b, tensor, 0, leads);
      }
      store_scales<Step, S>(a_scales, given.a, given.a_stride, tile.row, p.m, s * S::kScales,
                            given.scales);
      store_scales<Step, S>(b_scales, given.b, given.b_stride, tile.column,
                            min(p.n, tile.column + S::kColumns), s * S::kScales, given.scales);
      Step::publish_scales();
      Step::fence_before();
      __syncthreads();
      if (leads) {
        Step::wait_for_full(full, turn);
        Step::fence_after();
#pragma unroll
        for (int i = 0; i < S::kCopies; ++i) {
          Step::copy_scales(a_columns + 4 * i, shared_address(a_scales + i * kCopyBytes));
          Step::copy_scales(b_columns + 4 * i, shared_address(b_scales + i * kCopyBytes));
        }
        const std::uint64_t a = Step::template descriptor<S::kRowBytes>(shared_address(ring.a(0))),
                            b = Step::template descriptor<S::kRowBytes>(shared_address(ring.b(0)));
#pragma unroll
        for (int step = 0; step < S::kSteps; ++step) {
          const int copy = S::kCopies == 1 ? 0 : step;
          Step::template multiply_scaled<S::kElement>(
              columns, a + step * kStepBytes / 16, b + step * kStepBytes / 16,
              Step::template scaled_instruction<S::kElement>(
                  S::kRows, S::kColumns, Step::template byte_of_step<S::kElement>(step)),
              a_columns + 4 * copy, b_columns + 4 * copy);
        }
        Step::template commit<1>(done);
      }
      __syncwarp();
      Step::wait_for_products(done, turn);
    }
    Step::fence_after();
    load_d<Step, S>(own, p, row, tile.column);
  }
  end_tiles<Step, S::kAllocated>(columns);
#endif
}

// ---- Host.

template <class Step, ScaledElement kElement>
cudaError_t launch_scaled(const ScaledArguments& given, cudaStream_t stream) {
  using S = ScaledShape<kElement>;
  return launch_tiles<S, MatrixElement::kE4m3, S::kAllocated>(scaled<Step, S>, given.factors, given,
                                                              stream);
}

}  // namespace lockstep::kernels::by_tcgen05
