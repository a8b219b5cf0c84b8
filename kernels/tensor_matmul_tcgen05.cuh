// tensor_matmul by tcgen05, in its simple form. A block has four warps. C is copied to tensor
// memory, and the products of A and B are added to it there. Each warp accesses the lanes of its
// quarter, which are rows of D.
//
// There is one stage. Tensor copies or all threads fill it, one thread multiplies it, and it is
// filled again after every thread has waited for its products.
//
// A block processes every gridDim.x-th tile. A kernel consists of steps. Tcgen05 has the correct
// steps; a known-bad kernel is a struct that replaces one of them.
#pragma once

#include <cuda.h>
#include <cuda_runtime_api.h>

#include <algorithm>
#include <cstdint>

#include "kernels/tcgen05.cuh"

namespace lockstep::kernels::by_tcgen05 {

// The shape of a block's work: 128 rows of D, and the cluster's kColumns columns. Each block of a
// pair holds half of the columns of B.
template <int kColumns_, int kRowBytes_, int kStages_, int kBlocks_>
struct Shape {
  static constexpr int kRows = kRowsOfMemory;
  static constexpr int kColumns = kColumns_;
  static constexpr int kColumnsHere = kColumns / kBlocks_;
  static constexpr int kRowBytes =
      kRowBytes_;  // of a row of A or B, per stage; the span of the swizzle: 64 or 128
  static constexpr int kStages = kStages_;
  static constexpr int kBlocks = kBlocks_;  // blocks of a cluster
  static constexpr int kBytesOfA = kRows * kRowBytes, kBytesOfB = kColumnsHere * kRowBytes;
  static constexpr int kStageBytes = kBytesOfA + kBytesOfB;
  // The stages, their alignment, the barriers of each, and room for other data of a kernel.
  static constexpr int kRoom = 112;
  static constexpr int kSharedBytes = kStages * kStageBytes + 1024 + 2 * 8 * kStages + kRoom;
  static constexpr CUtensorMapSwizzle kSwizzle =
      kRowBytes == 128 ? CU_TENSOR_MAP_SWIZZLE_128B : CU_TENSOR_MAP_SWIZZLE_64B;
};
using Plain = Shape<64, 64, 1, 1>;

// ---- Copies between global and tensor memory: a warp copies its quarter of a tile of D, one row
// per thread.

// Copies C to the columns from `at` on; missing elements become zeros.
template <class Step, class S>
__device__ void store_c(unsigned at, const TensorMatmulArguments& p, std::int64_t row,
                        std::int64_t column) {
  const auto* const c = static_cast<const float*>(p.c) + row * p.c_stride;
  const bool fours = reinterpret_cast<std::uintptr_t>(p.c) % 16 == 0 && p.c_stride % 4 == 0;
#pragma unroll 1
  for (int first = 0; first < S::kColumns; first += kAtOnce) {
    unsigned r[kAtOnce];
#pragma unroll
    for (int i = 0; i < kAtOnce; i += 4) {
      const std::int64_t j = column + first + i;
      if (fours && row < p.m && j + 3 < p.n) {
        const auto v = *reinterpret_cast<const uint4*>(c + j);
        r[i] = v.x, r[i + 1] = v.y, r[i + 2] = v.z, r[i + 3] = v.w;
      } else {
#pragma unroll
        for (int e = 0; e < 4; ++e)
          r[i + e] = row < p.m && j + e < p.n ? __float_as_uint(c[j + e]) : 0;
      }
    }
    Step::store(at + first, r);
  }
  Step::wait_for_stores();
}

// Copies the columns to D.
template <class Step, class S>
__device__ void load_d(unsigned at, const TensorMatmulArguments& p, std::int64_t row,
                       std::int64_t column) {
  auto* const d = static_cast<float*>(p.d) + row * p.d_stride;
  const bool fours = reinterpret_cast<std::uintptr_t>(p.d) % 16 == 0 && p.d_stride % 4 == 0;
#pragma unroll 1
  for (int first = 0; first < S::kColumns; first += kAtOnce) {
    unsigned r[kAtOnce];
    Step::load(r, at + first);
    Step::wait_for_loads(r);
#pragma unroll
    for (int i = 0; i < kAtOnce; i += 4) {
      const std::int64_t j = column + first + i;
      if (fours && row < p.m && j + 3 < p.n) {
        *reinterpret_cast<uint4*>(d + j) = make_uint4(r[i], r[i + 1], r[i + 2], r[i + 3]);
      } else {
#pragma unroll
        for (int e = 0; e < 4; ++e) {
          if (Step::has(row, p.m) && Step::has(j + e, p.n)) d[j + e] = __uint_as_float(r[i + e]);
        }
      }
    }
  }
}

// Issues the products of a stage; executed by one thread.
template <class Step, class S, MatrixElement kElement>
__device__ void multiply_stage(unsigned d, unsigned a, unsigned b, bool first) {
  const std::uint64_t rows = Step::template descriptor<S::kRowBytes>(a),
                      columns = Step::template descriptor<S::kRowBytes>(b);
  constexpr unsigned kInstruction =
      Step::template instruction<kElement>(S::kRows * S::kBlocks, S::kColumns);
#pragma unroll
  for (int step = 0; step < S::kRowBytes / kStepBytes; ++step) {
    // Along a swizzled row, the start address advances by the bytes.
    Step::template multiply<S::kBlocks, kElement>(d, rows + step * kStepBytes / 16,
                                                  columns + step * kStepBytes / 16, kInstruction,
                                                  !first || step != 0 || Step::adds_to_c());
  }
}

// The first warp allocates tensor memory, and one thread initialises the stage's barriers for
// "full" and "products done". Returns the address of the columns.
template <class Step, class S, int kAllocated>
__device__ unsigned begin_tiles(const Ring<S>& ring, const ByTensor& tensor) {
  const auto* const base = reinterpret_cast<const unsigned*>(ring.rest());
  if (threadIdx.x / 32 == 0) {
    Step::template allocate<1>(shared_address(base), kAllocated);
    Step::template relinquish<1>();
  }
  if (threadIdx.x == 0) {
    Step::initialise(ring.full(0), tensor.a && tensor.b ? 1 : Step::copying_threads());
    Step::initialise(ring.empty(0), 1);
    Step::publish_barriers();
  }
  Step::fence_before();
  __syncthreads();
  Step::fence_after();
  return *base;
}
template <class Step, int kAllocated>
__device__ void end_tiles(unsigned columns) {
  Step::fence_before();
  __syncthreads();
  Step::fence_after();
  if (threadIdx.x / 32 == 0) Step::template free<1>(columns, kAllocated);
}

template <class Step, class S, MatrixElement kElement>
__global__ void __launch_bounds__(kGroup)
    kernel(TensorMatmulArguments p, const __grid_constant__ CUtensorMap map_a,
           const __grid_constant__ CUtensorMap map_b, ByTensor tensor) {
#if defined(__CUDA_ARCH_FAMILY_SPECIFIC__)
  static_assert(S::kBlocks == 1 && S::kStages == 1);
  extern __shared__ unsigned char memory[];
  const Ring<S> ring(memory);
  constexpr int kDepth = S::kRowBytes / kBytesOf<kElement>;
  const unsigned full = ring.full(0), done = ring.empty(0);
  const unsigned warp = threadIdx.x / 32;
  const std::int64_t stages_a_tile = (p.k + kDepth - 1) / kDepth, tiles = tiles_of_clusters<S>(p);
  const unsigned columns = begin_tiles<Step, S, S::kColumns>(ring, tensor),
                 own = columns + (Step::quarter(warp) * 32 << 16);

  unsigned turn = 0;  // uses of the stage so far
  for (std::int64_t t = blockIdx.x; t < tiles; t += gridDim.x) {
    const Tile tile = tile_of<S>(t, p, 0);
    const std::int64_t row = tile.row + Step::quarter(warp) * 32 + threadIdx.x % 32;
    store_c<Step, S>(own, p, row, tile.column);
    Step::fence_before();
    __syncthreads();
    for (std::int64_t s = 0; s < stages_a_tile; ++s, ++turn) {
      const bool leads = warp == 0 && Step::is_elected();
      if (leads || !tensor.a || !tensor.b)
        produce<Step, S, kElement>(ring, 0, tile, s * kDepth, p, map_a, map_b, tensor, 0, leads);
      if (leads) {
        Step::wait_for_full(full, turn);
        Step::fence_after();
        multiply_stage<Step, S, kElement>(columns, shared_address(ring.a(0)),
                                          shared_address(ring.b(0)), s == 0);
        Step::template commit<1>(done);
      }
      __syncwarp();
      Step::wait_for_products(done, turn);
    }
    Step::fence_after();
    load_d<Step, S>(own, p, row, tile.column);
  }
  end_tiles<Step, S::kColumns>(columns);
#endif
}

// ---- Host.

// Launches blocks of kGroup threads, as many as tensor memory allows at once.
template <class S, MatrixElement kElement, int kAllocated, class Arguments>
cudaError_t launch_tiles(void (*function)(Arguments, CUtensorMap, CUtensorMap, ByTensor),
                         const TensorMatmulArguments& p, const Arguments& arguments,
                         cudaStream_t stream) {
  // First, because it makes the device's context current in this host thread. Without a context, no
  // map can be made.
  if (const cudaError_t e = cudaFuncSetAttribute(
          function, cudaFuncAttributeMaxDynamicSharedMemorySize, S::kSharedBytes);
      e != cudaSuccess)
    return e;
  CUtensorMap map_a{}, map_b{};
  ByTensor tensor{};
  if (const cudaError_t e = make_maps<S, kElement>(p, tensor, map_a, map_b); e != cudaSuccess)
    return e;
  int device = 0, sms = 0;
  if (const cudaError_t e = cudaGetDevice(&device); e != cudaSuccess) return e;
  if (const cudaError_t e = cudaDeviceGetAttribute(&sms, cudaDevAttrMultiProcessorCount, device);
      e != cudaSuccess)
    return e;
  constexpr std::int64_t kBlocksAnSm = 512 / kAllocated;  // by columns of tensor memory
  cudaLaunchConfig_t config{};
  config.gridDim =
      dim3(static_cast<unsigned>(std::min(tiles_of_clusters<S>(p), sms * kBlocksAnSm)));
  config.blockDim = dim3(kGroup);
  config.dynamicSmemBytes = S::kSharedBytes;
  config.stream = stream;
  return cudaLaunchKernelEx(&config, function, arguments, map_a, map_b, tensor);
}

template <class Step, class S, MatrixElement kElement>
cudaError_t launch(const TensorMatmulArguments& p, cudaStream_t stream) {
  return launch_tiles<S, kElement, S::kColumns>(kernel<Step, S, kElement>, p, p, stream);
}

}  // namespace lockstep::kernels::by_tcgen05
