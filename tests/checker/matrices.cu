// Pairs that misuse the warp-level matrix instructions ldmatrix, stmatrix, movmatrix, mma and wmma:
// missing lanes, wrong rows, uninitialised values.
#include "tests/checker/checker.h"
#include "tests/checker/matrix.cuh"

namespace {

using lockstep::checker::Buffer;
using Half = unsigned short;

constexpr int kRow = 8;  // halves in one row of ldmatrix

// ---- ldmatrix.

template <bool faulty>
__global__ void ldmatrix_misaligned(unsigned* y) {
  __shared__ __align__(16) Half tile[9 * kRow];
  for (int i = threadIdx.x; i < 9 * kRow; i += 32) tile[i] = i;
  __syncwarp();
  unsigned r;
  LDMATRIX(r, tile + threadIdx.x % 8 * kRow + (faulty ? 4 : 0));  // FAULT ldmatrix_misaligned
  y[threadIdx.x] = r;
}
PAIR_ON(ldmatrix_misaligned, "misaligned", (1, 32), Buffer<unsigned>(32))

template <bool faulty>
__global__ void ldmatrix_past_its_array(unsigned* y) {
  __shared__ __align__(16) Half tile[(faulty ? 24 : 32) * kRow];
  for (int i = threadIdx.x; i < static_cast<int>(sizeof tile / 2); i += 32) tile[i] = i;
  __syncwarp();
  unsigned r[4];
  LDMATRIX_X4(r, tile + threadIdx.x * kRow);  // FAULT ldmatrix_past_its_array
  y[threadIdx.x] = r[0] + r[1] + r[2] + r[3];
}
PAIR_ON(ldmatrix_past_its_array, "out-of-bounds", (1, 32), Buffer<unsigned>(32))

template <bool faulty>
__global__ void ldmatrix_of_global_memory(const Half* x, unsigned* y) {
  __shared__ __align__(16) Half tile[8 * kRow];
  for (int i = threadIdx.x; i < 8 * kRow; i += 32) tile[i] = x[i];
  __syncwarp();
  unsigned r;
  // FAULT ldmatrix_of_global_memory
  LDMATRIX_GENERIC(r, (faulty ? x : tile) + threadIdx.x % 8 * kRow);
  y[threadIdx.x] = r;
}
PAIR_ON_TWO(ldmatrix_of_global_memory, "invalid-instruction", (1, 32), Buffer<Half>(64, 1),
            Buffer<unsigned>(32))

template <bool faulty>
__global__ void ldmatrix_of_rows_that_nobody_wrote(unsigned* y) {
  __shared__ __align__(16) Half tile[8 * kRow];
  for (int i = threadIdx.x; i < (faulty ? 7 : 8) * kRow; i += 32) tile[i] = i;
  __syncwarp();
  unsigned r;
  LDMATRIX(r, tile + threadIdx.x % 8 * kRow);  // FAULT ldmatrix_of_rows_that_nobody_wrote
  y[threadIdx.x] = r + 1;                      // FAULT ldmatrix_of_rows_that_nobody_wrote
}
PAIR_ON(ldmatrix_of_rows_that_nobody_wrote, "uninitialised", (1, 32), Buffer<unsigned>(32))

template <bool faulty>
__global__ void ldmatrix_before_the_barrier(unsigned* y) {
  __shared__ __align__(16) Half tile[2][8 * kRow];
  const int warp = threadIdx.x / 32;
  // FAULT ldmatrix_before_the_barrier
  for (int i = threadIdx.x % 32; i < 8 * kRow; i += 32) tile[warp][i] = i;
  if (!faulty) __syncthreads();
  unsigned r;
  LDMATRIX(r, tile[warp ^ 1] + threadIdx.x % 8 * kRow);  // FAULT ldmatrix_before_the_barrier
  y[threadIdx.x] = r + 1;                                // FAULT ldmatrix_before_the_barrier
}
PAIR_ON(ldmatrix_before_the_barrier, "uninitialised, race", (1, 64), Buffer<unsigned>(64))

// The lanes of the same warp have not synchronised either.
template <bool faulty>
__global__ void ldmatrix_before_the_warp_has_met(unsigned* y) {
  __shared__ __align__(16) Half tile[8 * kRow];
  // FAULT ldmatrix_before_the_warp_has_met
  for (int i = threadIdx.x; i < 8 * kRow; i += 32) tile[i] = i;
  if (!faulty) __syncwarp();
  unsigned r;
  LDMATRIX(r, tile + threadIdx.x % 8 * kRow);  // FAULT ldmatrix_before_the_warp_has_met
  y[threadIdx.x] = r;
}
PAIR_ON(ldmatrix_before_the_warp_has_met, "race", (1, 32), Buffer<unsigned>(32))

template <bool faulty>
__global__ void ldmatrix_by_half_a_warp(unsigned* y, int lanes) {
  __shared__ __align__(16) Half tile[8 * kRow];
  for (int i = threadIdx.x; i < 8 * kRow; i += 32) tile[i] = i;
  __syncwarp();
  if (threadIdx.x >= lanes) return;
  unsigned r;
  LDMATRIX(r, tile + threadIdx.x % 8 * kRow);  // FAULT ldmatrix_by_half_a_warp
  y[threadIdx.x] = r;
}
PAIR_ON(ldmatrix_by_half_a_warp, "invalid-mask", (1, 32), Buffer<unsigned>(32), faulty ? 16 : 32)

// The next tile overwrites this tile while another warp still loads it.
template <bool faulty>
__global__ void ldmatrix_while_the_next_tile_comes(unsigned* y) {
  __shared__ __align__(16) Half tile[8 * kRow];
  unsigned sum = 0;
  for (int turn = 0; turn < 2; ++turn) {
    tile[threadIdx.x] = threadIdx.x + turn;  // FAULT ldmatrix_while_the_next_tile_comes
    __syncthreads();
    unsigned r;
    LDMATRIX(r, tile + threadIdx.x % 8 * kRow);  // FAULT ldmatrix_while_the_next_tile_comes
    sum += r;
    if (!faulty) __syncthreads();
  }
  y[threadIdx.x] = sum;
}
PAIR_ON(ldmatrix_while_the_next_tile_comes, "race", (1, 64), Buffer<unsigned>(64))

// ---- stmatrix, movmatrix.

template <bool faulty>
__global__ void stmatrix_misaligned(unsigned* y) {
  __shared__ __align__(16) Half tile[9 * kRow];
  // FAULT stmatrix_misaligned
  STMATRIX(tile + threadIdx.x % 8 * kRow + (faulty ? 2 : 0), threadIdx.x);
  __syncwarp();
  y[threadIdx.x] = tile[threadIdx.x];
}
PAIR_ON(stmatrix_misaligned, "misaligned", (1, 32), Buffer<unsigned>(32))

template <bool faulty>
__global__ void stmatrix_past_its_array(unsigned* y) {
  __shared__ __align__(16) Half tile[(faulty ? 7 : 8) * kRow];
  STMATRIX(tile + threadIdx.x % 8 * kRow, threadIdx.x);  // FAULT stmatrix_past_its_array
  __syncwarp();
  y[threadIdx.x] = tile[threadIdx.x];
}
PAIR_ON(stmatrix_past_its_array, "out-of-bounds", (1, 32), Buffer<unsigned>(32))

// Two warps store the same values: legal, and reported as information.
template <bool faulty>
__global__ void stmatrix_by_two_warps(unsigned* y) {
  __shared__ __align__(16) Half tile[8 * kRow];
  const unsigned value = faulty ? threadIdx.x : threadIdx.x % 32;
  STMATRIX(tile + threadIdx.x % 8 * kRow, value);  // FAULT stmatrix_by_two_warps
  __syncthreads();
  y[threadIdx.x] = tile[threadIdx.x];
}
PAIR_WITH_INFORMATION(stmatrix_by_two_warps, "race") {
  Buffer<unsigned> y(64);
  stmatrix_by_two_warps<faulty><<<1, 64>>>(y);
}

template <bool faulty>
__global__ void stmatrix_of_what_nobody_wrote(const unsigned* x, unsigned* y) {
  __shared__ __align__(16) Half tile[8 * kRow];
  STMATRIX(tile + threadIdx.x % 8 * kRow, x[threadIdx.x]);  // FAULT stmatrix_of_what_nobody_wrote
  __syncwarp();
  y[threadIdx.x] = tile[threadIdx.x] + 1;  // FAULT stmatrix_of_what_nobody_wrote
}
PAIR(stmatrix_of_what_nobody_wrote, "uninitialised") {
  Buffer<unsigned> x(32), y(32);
  if (!faulty) cudaMemset(x, 1, 128);
  stmatrix_of_what_nobody_wrote<faulty><<<1, 32>>>(x, y);
}

template <bool faulty>
__global__ void stmatrix_while_others_read(unsigned* y) {
  __shared__ __align__(16) Half tile[8 * kRow];
  tile[threadIdx.x] = threadIdx.x;
  __syncthreads();
  y[threadIdx.x] = tile[63 - threadIdx.x];  // FAULT stmatrix_while_others_read
  if (!faulty) __syncthreads();
  // FAULT stmatrix_while_others_read
  if (threadIdx.x < 32) STMATRIX(tile + threadIdx.x % 8 * kRow, threadIdx.x);
}
PAIR_ON(stmatrix_while_others_read, "race", (1, 64), Buffer<unsigned>(64))

template <bool faulty>
__global__ void stmatrix_read_without_a_barrier(unsigned* y) {
  __shared__ __align__(16) Half tile[8 * kRow];
  STMATRIX(tile + threadIdx.x % 8 * kRow, threadIdx.x);  // FAULT stmatrix_read_without_a_barrier
  if (!faulty) __syncwarp();
  y[threadIdx.x] = tile[63 - threadIdx.x];  // FAULT stmatrix_read_without_a_barrier
}
PAIR_ON(stmatrix_read_without_a_barrier, "race", (1, 32), Buffer<unsigned>(32))

template <bool faulty>
__global__ void stmatrix_by_half_a_warp(unsigned* y, int lanes) {
  __shared__ __align__(16) Half tile[8 * kRow];
  if (threadIdx.x >= lanes) return;
  STMATRIX(tile + threadIdx.x % 8 * kRow, threadIdx.x);  // FAULT stmatrix_by_half_a_warp
  __syncwarp((1ull << lanes) - 1);
  y[threadIdx.x] = tile[threadIdx.x];
}
PAIR_ON(stmatrix_by_half_a_warp, "invalid-mask", (1, 32), Buffer<unsigned>(32), faulty ? 16 : 32)

// Two rows of a matrix are stored to one address.
template <bool faulty>
__global__ void stmatrix_rows_in_one_place(unsigned* y) {
  __shared__ __align__(16) Half tile[8 * kRow];
  // FAULT stmatrix_rows_in_one_place
  STMATRIX(tile + threadIdx.x % (faulty ? 4 : 8) * kRow, threadIdx.x);
  __syncwarp();
  y[threadIdx.x] = tile[threadIdx.x];
}
PAIR_ON(stmatrix_rows_in_one_place, "race", (1, 32), Buffer<unsigned>(32))

template <bool faulty>
__global__ void movmatrix_by_half_a_warp(unsigned* y, int lanes) {
  if (threadIdx.x >= lanes) return;
  unsigned r;
  MOVMATRIX(r, threadIdx.x);  // FAULT movmatrix_by_half_a_warp
  y[threadIdx.x] = r;
}
PAIR_ON(movmatrix_by_half_a_warp, "invalid-mask", (1, 32), Buffer<unsigned>(32), faulty ? 24 : 32)

// The element that movmatrix fetches from another lane is uninitialised.
template <bool faulty>
__global__ void movmatrix_of_what_nobody_wrote(const unsigned* x, unsigned* y) {
  unsigned r;
  MOVMATRIX(r, x[threadIdx.x]);
  y[threadIdx.x] = r + 1;  // FAULT movmatrix_of_what_nobody_wrote
}
PAIR(movmatrix_of_what_nobody_wrote, "uninitialised") {
  Buffer<unsigned> x(32), y(32);
  cudaMemset(x, 1, faulty ? 124 : 128);
  movmatrix_of_what_nobody_wrote<faulty><<<1, 32>>>(x, y);
}

// ---- mma.

__device__ __forceinline__ void ones(unsigned* a, int n) {
  for (int i = 0; i < n; ++i) a[i] = 0x3c003c00;
}

template <bool faulty>
__global__ void mma_after_an_exit(float* y, int lanes) {
  if (threadIdx.x >= lanes) return;
  unsigned a[4], b[2];
  float d[4] = {};
  ones(a, 4), ones(b, 2);
  MMA(d, a, b);  // FAULT mma_after_an_exit
  y[threadIdx.x] = d[0];
}
PAIR_ON(mma_after_an_exit, "invalid-mask", (1, 32), Buffer<float>(32), faulty ? 31 : 32)

template <bool faulty>
__global__ void mma_of_a_warp_that_is_not_whole(float* y) {
  unsigned a[4], b[2];
  float d[4] = {};
  ones(a, 4), ones(b, 2);
  MMA(d, a, b);  // FAULT mma_of_a_warp_that_is_not_whole
  y[threadIdx.x] = d[0];
}
PAIR_ON(mma_of_a_warp_that_is_not_whole, "invalid-mask", (1, faulty ? 48 : 64), Buffer<float>(64))

// The kernel handles the tile's border by a branch per lane.
template <bool faulty>
__global__ void mma_in_a_branch(float* y, int n) {
  unsigned a[4], b[2];
  float d[4] = {};
  ones(a, 4), ones(b, 2);
  if (threadIdx.x < n) MMA(d, a, b);  // FAULT mma_in_a_branch
  y[threadIdx.x] = d[0];
}
PAIR_ON(mma_in_a_branch, "invalid-mask", (1, 32), Buffer<float>(32), faulty ? 20 : 32)

template <bool faulty>
__global__ void mma_of_a_factor_that_nobody_wrote(const unsigned* x, float* y) {
  unsigned a[4], b[2];
  float d[4] = {};
  ones(a, 3), ones(b, 2);
  a[3] = x[threadIdx.x];
  MMA(d, a, b);
  y[threadIdx.x] = d[0];
  y[32 + threadIdx.x] = d[3];  // FAULT mma_of_a_factor_that_nobody_wrote
}
PAIR(mma_of_a_factor_that_nobody_wrote, "uninitialised") {
  Buffer<unsigned> x(32);
  Buffer<float> y(64);
  cudaMemset(x, 1, faulty ? 64 : 128);
  mma_of_a_factor_that_nobody_wrote<faulty><<<1, 32>>>(x, y);
}

template <bool faulty>
__global__ void mma_of_an_accumulator_that_nobody_wrote(const float* x, float* y) {
  unsigned a[4], b[2];
  float d[4] = {0, 0, 0, x[threadIdx.x]};
  ones(a, 4), ones(b, 2);
  MMA(d, a, b);
  y[threadIdx.x] = d[3];  // FAULT mma_of_an_accumulator_that_nobody_wrote
}
PAIR(mma_of_an_accumulator_that_nobody_wrote, "uninitialised") {
  Buffer<float> x(32), y(32);
  if (!faulty) cudaMemset(x, 0, 128);
  mma_of_an_accumulator_that_nobody_wrote<faulty><<<1, 32>>>(x, y);
}

// ---- wmma.

__device__ __forceinline__ void fill_tile(Half* tile, int n) {
  for (int i = threadIdx.x % 32; i < n; i += 32) tile[i] = 0x3c00;
}

template <bool faulty>
__global__ void wmma_stride_not_aligned(unsigned* y, int stride) {
  __shared__ __align__(32) Half tile[16 * 24];
  fill_tile(tile, 16 * 24);
  __syncwarp();
  unsigned a[8];
  WMMA_LOAD_A(a, tile, stride);  // FAULT wmma_stride_not_aligned
  y[threadIdx.x] = a[0];
}
PAIR_ON(wmma_stride_not_aligned, "misaligned", (1, 32), Buffer<unsigned>(32), faulty ? 20 : 24)

template <bool faulty>
__global__ void wmma_matrix_not_aligned(unsigned* y) {
  __shared__ __align__(32) Half tile[17 * 16];
  fill_tile(tile, 17 * 16);
  __syncwarp();
  unsigned a[8];
  WMMA_LOAD_A(a, tile + (faulty ? 8 : 16), 16);  // FAULT wmma_matrix_not_aligned
  y[threadIdx.x] = a[0];
}
PAIR_ON(wmma_matrix_not_aligned, "misaligned", (1, 32), Buffer<unsigned>(32))

template <bool faulty>
__global__ void wmma_strides_that_differ(unsigned* y) {
  __shared__ __align__(32) Half tile[16 * 32];
  fill_tile(tile, 16 * 32);
  __syncwarp();
  unsigned a[8];
  WMMA_LOAD_A(a, tile, faulty && threadIdx.x == 9 ? 32 : 16);  // FAULT wmma_strides_that_differ
  y[threadIdx.x] = a[0];
}
PAIR_ON(wmma_strides_that_differ, "invalid-instruction", (1, 32), Buffer<unsigned>(32))

template <bool faulty>
__global__ void wmma_matrices_that_differ(unsigned* y) {
  __shared__ __align__(32) Half tile[2][16 * 16];
  fill_tile(tile[0], 2 * 16 * 16);
  __syncwarp();
  unsigned a[8];
  WMMA_LOAD_A(a, tile[faulty ? threadIdx.x / 16 : 0], 16);  // FAULT wmma_matrices_that_differ
  y[threadIdx.x] = a[0];
}
PAIR_ON(wmma_matrices_that_differ, "invalid-instruction", (1, 32), Buffer<unsigned>(32))

template <bool faulty>
__global__ void wmma_load_past_its_array(unsigned* y) {
  __shared__ __align__(32) Half tile[(faulty ? 15 : 16) * 16];
  fill_tile(tile, sizeof tile / 2);
  __syncwarp();
  unsigned a[8];
  WMMA_LOAD_A(a, tile, 16);  // FAULT wmma_load_past_its_array
  y[threadIdx.x] = a[7];
}
PAIR_ON(wmma_load_past_its_array, "out-of-bounds", (1, 32), Buffer<unsigned>(32))

template <bool faulty>
__global__ void wmma_store_past_its_array(float* y) {
  float d[8] = {};
  WMMA_STORE(y, d, 16);  // FAULT wmma_store_past_its_array
}
PAIR_ON(wmma_store_past_its_array, "out-of-bounds", (1, 32),
        Buffer<float>(faulty ? 15 * 16 : 16 * 16))

template <bool faulty>
__global__ void wmma_store_by_two_warps(float* y) {
  const float value = faulty ? threadIdx.x / 32 : 1;
  float d[8] = {value, value, value, value, value, value, value, value};
  WMMA_STORE(y, d, 16);  // FAULT wmma_store_by_two_warps
}
PAIR_WITH_INFORMATION(wmma_store_by_two_warps, "race") {
  Buffer<float> y(16 * 16);
  wmma_store_by_two_warps<faulty><<<1, 64>>>(y);
}

template <bool faulty>
__global__ void wmma_accumulator_not_filled(const float* x, float* y) {
  __shared__ __align__(32) Half tile[16 * 16];
  fill_tile(tile, 16 * 16);
  __syncwarp();
  unsigned a[8];
  float d[8] = {};
  if (faulty) d[5] = x[threadIdx.x];
  WMMA_LOAD_A(a, tile, 16);
  WMMA(d, a, a);
  WMMA_STORE(y, d, 16);  // FAULT wmma_accumulator_not_filled
}
PAIR_ON_TWO(wmma_accumulator_not_filled, "uninitialised", (1, 32), Buffer<float>(32),
            Buffer<float>(256))

template <bool faulty>
__global__ void wmma_load_before_the_barrier(unsigned* y) {
  __shared__ __align__(32) Half tile[2][16 * 16];
  const int warp = threadIdx.x / 32;
  fill_tile(tile[warp], 16 * 16);  // FAULT wmma_load_before_the_barrier
  if (!faulty) __syncthreads();
  unsigned a[8];
  WMMA_LOAD_A(a, tile[warp ^ 1], 16);  // FAULT wmma_load_before_the_barrier
  y[threadIdx.x] = a[0] + 1;           // FAULT wmma_load_before_the_barrier
}
PAIR_ON(wmma_load_before_the_barrier, "uninitialised, race", (1, 64), Buffer<unsigned>(64))

template <bool faulty>
__global__ void wmma_stores_of_two_warps(float* y) {
  const int warp = threadIdx.x / 32;
  const float value = static_cast<float>(warp);
  float d[8] = {value, value, value, value, value, value, value, value};
  WMMA_STORE(y + (faulty ? 8 : 16) * 16 * warp, d, 16);  // FAULT wmma_stores_of_two_warps
}
PAIR_ON(wmma_stores_of_two_warps, "race", (1, 64), Buffer<float>(512))

template <bool faulty>
__global__ void wmma_after_an_exit(float* y, int lanes) {
  if (threadIdx.x >= lanes) return;
  float d[8] = {};
  WMMA_STORE(y, d, 16);  // FAULT wmma_after_an_exit
}
PAIR_ON(wmma_after_an_exit, "invalid-mask", (1, 32), Buffer<float>(256), faulty ? 8 : 32)

}  // namespace
