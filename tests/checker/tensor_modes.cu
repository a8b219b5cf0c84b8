// Pairs that misuse tensor copies of sm_100: gather and scatter of four rows, im2col along one
// dimension, and copies for a pair of blocks.
#include <cuda.h>

#include "tests/checker/async.cuh"
#include "tests/checker/checker.h"

namespace {

using lockstep::checker::Buffer;

#define GATHER(to, map, x, rows, bar)                                                              \
  asm volatile(                                                                                    \
      "cp.async.bulk.tensor.2d.shared::cta.global.tile::gather4.mbarrier::complete_tx::bytes "     \
      "[%0], [%1, {%2, %3, %4, %5, %6}], [%7];" ::"r"(shared_address(to)),                         \
      "l"(map), "r"(x), "r"((rows)[0]), "r"((rows)[1]), "r"((rows)[2]), "r"((rows)[3]),            \
      "r"(shared_address(bar))                                                                     \
      : "memory")
#define SCATTER(map, x, rows, from)                                                                \
  asm volatile(                                                                                    \
      "cp.async.bulk.tensor.2d.global.shared::cta.tile::scatter4.bulk_group [%0, {%1, %2, %3, "    \
      "%4, %5}], [%6];" ::"l"(map),                                                                \
      "r"(x), "r"((rows)[0]), "r"((rows)[1]), "r"((rows)[2]), "r"((rows)[3]),                      \
      "r"(shared_address(from))                                                                    \
      : "memory")
#define ALONG_W(mode, to, map, c, w, n, bar, halo, offset)                                         \
  asm volatile("cp.async.bulk.tensor.3d.shared::cta.global." mode                                  \
               ".mbarrier::complete_tx::bytes [%0], [%1, {%2, %3, %4}], [%5], {%6, %7};" ::"r"(    \
                   shared_address(to)),                                                            \
               "l"(map), "r"(c), "r"(w), "r"(n), "r"(shared_address(bar)),                         \
               "h"(static_cast<unsigned short>(halo)), "h"(static_cast<unsigned short>(offset))    \
               : "memory")
#define TILE(to, map, x, y, bar, group)                                               \
  asm volatile(                                                                       \
      "cp.async.bulk.tensor.2d.shared::cta.global.tile.mbarrier::complete_tx::bytes"  \
      group " [%0], [%1, {%2, %3}], [%4];" ::"r"(shared_address(to)),                 \
      "l"(map), "r"(x), "r"(y), "r"(bar)                                              \
      : "memory")
#define PROXY_FENCE() asm volatile("fence.proxy.async.shared::cta;" ::: "memory")
#define CLUSTER_SYNC()        \
  __cluster_barrier_arrive(); \
  __cluster_barrier_wait()

constexpr int kWidth = 32, kHeight = 16;  // of the tensor, in elements of int
constexpr int kRowBytes = 4 * kWidth, kFourRows = 4 * kRowBytes;

template <class Encode>
Encode function(const char* name, unsigned version) {
  void* f = nullptr;
  cudaDriverEntryPointQueryResult found;
  cudaGetDriverEntryPointByVersion(name, &f, version, cudaEnableDefault, &found);
  return reinterpret_cast<Encode>(f);
}

// The map of kHeight rows of kWidth int at `data`, with boxes of `rows` rows.
CUtensorMap rows_of(int* data, unsigned rows = 1) {
  CUtensorMap map{};
  const cuuint64_t sizes[] = {kWidth, kHeight}, strides[] = {kRowBytes};
  const cuuint32_t box[] = {kWidth, rows}, steps[] = {1, 1};
  const auto encode = function<decltype(&cuTensorMapEncodeTiled)>("cuTensorMapEncodeTiled", 12000);
  if (encode == nullptr) return map;
  encode(&map, CU_TENSOR_MAP_DATA_TYPE_INT32, 2, data, sizes, strides, box, steps,
         CU_TENSOR_MAP_INTERLEAVE_NONE, CU_TENSOR_MAP_SWIZZLE_NONE, CU_TENSOR_MAP_L2_PROMOTION_NONE,
         CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE);
  return map;
}

// The map of 2 images of 16 pixels and 32 channels at `data`; columns of 8 pixels.
constexpr int kChannels = 32, kPixels = 8, kColumnBytes = 4 * kChannels * kPixels;
CUtensorMap image_of(int* data, CUtensorMapIm2ColWideMode mode = CU_TENSOR_MAP_IM2COL_WIDE_MODE_W) {
  CUtensorMap map{};
  const cuuint64_t sizes[] = {kChannels, 16, 2}, strides[] = {4 * kChannels, 64 * kChannels};
  const cuuint32_t steps[] = {1, 1, 1};
  const auto encode =
      function<decltype(&cuTensorMapEncodeIm2colWide)>("cuTensorMapEncodeIm2colWide", 12080);
  if (encode == nullptr) return map;
  encode(&map, CU_TENSOR_MAP_DATA_TYPE_INT32, 3, data, sizes, strides, 0, 0, kChannels, kPixels,
         steps, CU_TENSOR_MAP_INTERLEAVE_NONE, mode, CU_TENSOR_MAP_SWIZZLE_128B,
         CU_TENSOR_MAP_L2_PROMOTION_NONE, CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE);
  return map;
}

#define MODES_KERNEL(name)  \
  template <bool faulty>    \
  __global__ void name(const __grid_constant__ CUtensorMap map, int* y)
// A tile, an mbarrier that expects one arrival, and the indices of four rows of the tensor.
#define MODES_BLOCK()                                               \
  __shared__ __align__(1024) int tile[512];                         \
  __shared__ unsigned long long bar;                                \
  [[maybe_unused]] const int rows[] = {9, 2, 11, 4};                \
  if (threadIdx.x == 0) INIT(&bar, 1);                              \
  __syncthreads()
#define PAIR_ON_ROWS(name, kind)                   \
  PAIR(name, kind) {                               \
    Buffer<int> x(kWidth * kHeight, 1), y(256, 0); \
    name<faulty><<<1, 128>>>(rows_of(x), y);       \
  }
#define ON_AN_IMAGE(name)                          \
  Buffer<int> x(kChannels * 32, 1), y(256, 0);     \
  name<faulty><<<1, 128>>>(image_of(x), y)

MODES_KERNEL(gathered_rows_before_their_phase) {
  MODES_BLOCK();
  if (threadIdx.x == 0) {
    EXPECT(&bar, kFourRows);
    GATHER(tile, &map, 0, rows, &bar);  // FAULT gathered_rows_before_their_phase
  }
  __syncthreads();
  if (!faulty) WAIT_PHASE(&bar, 0);
  y[threadIdx.x] = tile[threadIdx.x];  // FAULT gathered_rows_before_their_phase
}
PAIR_ON_ROWS(gathered_rows_before_their_phase, "race")

MODES_KERNEL(gathered_bytes_of_five_rows) {
  MODES_BLOCK();
  if (threadIdx.x == 0) {
    EXPECT(&bar, faulty ? 5 * kRowBytes : kFourRows);
    GATHER(tile, &map, 0, rows, &bar);
  }
  WAIT_PHASE(&bar, 0);  // FAULT gathered_bytes_of_five_rows
  y[threadIdx.x] = tile[threadIdx.x];
}
PAIR_ON_ROWS(gathered_bytes_of_five_rows, "deadlock")

// The copies transfer more bytes than the phase expects: the phase never completes.
MODES_KERNEL(gathered_bytes_of_one_row) {
  MODES_BLOCK();
  if (threadIdx.x == 0) {
    EXPECT(&bar, faulty ? kRowBytes : kFourRows);
    GATHER(tile, &map, 0, rows, &bar);
  }
  WAIT_PHASE(&bar, 0);  // FAULT gathered_bytes_of_one_row
  y[threadIdx.x] = tile[threadIdx.x];
}
PAIR_ON_ROWS(gathered_bytes_of_one_row, "deadlock")

// Gathering needs a map with a box of one row; a box of four rows is for tile copies.
MODES_KERNEL(gather_through_a_box_of_four_rows) {
  MODES_BLOCK();
  if (threadIdx.x == 0) {
    EXPECT(&bar, kFourRows);
    // FAULT gather_through_a_box_of_four_rows
    GATHER(tile, &map, 0, rows, &bar);
  }
  WAIT_PHASE(&bar, 0);
  y[threadIdx.x] = tile[threadIdx.x];
}
PAIR(gather_through_a_box_of_four_rows, "invalid-instruction") {
  Buffer<int> x(kWidth * kHeight, 1), y(256, 0);
  gather_through_a_box_of_four_rows<faulty><<<1, 128>>>(rows_of(x, faulty ? 4 : 1), y);
}

// Ordinary stores to the tile, then the copy, without a proxy fence.
MODES_KERNEL(gather_over_stores_without_a_proxy_fence) {
  MODES_BLOCK();
  tile[threadIdx.x] = 0;  // FAULT gather_over_stores_without_a_proxy_fence
  if (!faulty) PROXY_FENCE();
  __syncthreads();
  if (threadIdx.x == 0) {
    EXPECT(&bar, kFourRows);
    // FAULT gather_over_stores_without_a_proxy_fence
    GATHER(tile, &map, 0, rows, &bar);
  }
  WAIT_PHASE(&bar, 0);
  y[threadIdx.x] = tile[threadIdx.x];
}
PAIR_ON_ROWS(gather_over_stores_without_a_proxy_fence, "missing-proxy-fence")

// The next rows are copied while other threads still read the previous rows.
MODES_KERNEL(gather_over_rows_that_are_read) {
  MODES_BLOCK();
  for (int turn = 0; turn < 2; ++turn) {
    if (threadIdx.x == 0) {
      EXPECT(&bar, kFourRows);
      // FAULT gather_over_rows_that_are_read
      GATHER(tile, &map, 0, rows, &bar);
    }
    WAIT_PHASE(&bar, turn);
    y[threadIdx.x] = tile[threadIdx.x];  // FAULT gather_over_rows_that_are_read
    if (!faulty) __syncthreads();
  }
}
PAIR_ON_ROWS(gather_over_rows_that_are_read, "race")

MODES_KERNEL(scatter_without_a_proxy_fence) {
  MODES_BLOCK();
  tile[threadIdx.x] = threadIdx.x;  // FAULT scatter_without_a_proxy_fence
  if (!faulty) PROXY_FENCE();
  __syncthreads();
  if (threadIdx.x == 0) {
    // FAULT scatter_without_a_proxy_fence
    SCATTER(&map, 0, rows, tile);
    BULK_COMMIT();
    BULK_WAIT();
  }
}
PAIR_ON_ROWS(scatter_without_a_proxy_fence, "missing-proxy-fence")

MODES_KERNEL(scattered_rows_overwritten) {
  MODES_BLOCK();
  tile[threadIdx.x] = threadIdx.x;
  PROXY_FENCE();
  __syncthreads();
  if (threadIdx.x == 0) {
    // FAULT scattered_rows_overwritten
    SCATTER(&map, 0, rows, tile);
    BULK_COMMIT();
    if (!faulty) BULK_WAIT();
  }
  __syncthreads();
  tile[threadIdx.x] = 7;  // FAULT scattered_rows_overwritten
}
PAIR_ON_ROWS(scattered_rows_overwritten, "race")

// One thread issues two copies, which complete in any order.
MODES_KERNEL(scatters_that_overlap) {
  MODES_BLOCK();
  const int more[] = {8, faulty ? 9 : 10, 12, 13};
  tile[threadIdx.x] = threadIdx.x;
  tile[128 + threadIdx.x] = -1;
  PROXY_FENCE();
  __syncthreads();
  if (threadIdx.x == 0) {
    // FAULT scatters_that_overlap
    SCATTER(&map, 0, rows, tile);
    // FAULT scatters_that_overlap
    SCATTER(&map, 0, more, tile + 128);
    BULK_COMMIT();
    BULK_WAIT();
  }
}
PAIR_ON_ROWS(scatters_that_overlap, "race")

// Two blocks scatter to one common row.
MODES_KERNEL(scatter_of_two_blocks_to_one_row) {
  MODES_BLOCK();
  const int mine[] = {0, 1, 2, 3 + static_cast<int>(faulty ? 0 : blockIdx.x)},
            others[] = {8, 9, 10, 3 + static_cast<int>(faulty ? 0 : blockIdx.x)};
  tile[threadIdx.x] = threadIdx.x + 1000 * blockIdx.x;
  PROXY_FENCE();
  __syncthreads();
  if (threadIdx.x == 0) {
    // FAULT scatter_of_two_blocks_to_one_row
    SCATTER(&map, 0, blockIdx.x == 0 ? mine : others, tile);
    BULK_COMMIT();
    BULK_WAIT();
  }
}
PAIR(scatter_of_two_blocks_to_one_row, "race") {
  Buffer<int> x(kWidth * kHeight, 1), y(256, 0);
  scatter_of_two_blocks_to_one_row<faulty><<<2, 128>>>(rows_of(x), y);
}

MODES_KERNEL(pixels_before_their_phase) {
  MODES_BLOCK();
  if (threadIdx.x == 0) {
    EXPECT(&bar, kColumnBytes);
    // FAULT pixels_before_their_phase
    ALONG_W("im2col::w", tile, &map, 0, 0, 0, &bar, 0, 0);
  }
  __syncthreads();
  if (!faulty) WAIT_PHASE(&bar, 0);
  y[threadIdx.x] = tile[threadIdx.x];  // FAULT pixels_before_their_phase
}
PAIR(pixels_before_their_phase, "race") { ON_AN_IMAGE(pixels_before_their_phase); }

// The transferred bytes include the pixels of the halo.
MODES_KERNEL(pixels_of_a_halo_not_counted) {
  MODES_BLOCK();
  if (threadIdx.x == 0) {
    EXPECT(&bar, faulty ? kColumnBytes + 3 * 4 * kChannels : kColumnBytes + 2 * 4 * kChannels);
    ALONG_W("im2col::w", tile, &map, 0, 0, 0, &bar, 2, 0);
  }
  WAIT_PHASE(&bar, 0);  // FAULT pixels_of_a_halo_not_counted
  y[threadIdx.x] = tile[threadIdx.x];
}
PAIR(pixels_of_a_halo_not_counted, "deadlock") { ON_AN_IMAGE(pixels_of_a_halo_not_counted); }

MODES_KERNEL(halo_of_too_many_pixels) {
  MODES_BLOCK();
  if (threadIdx.x == 0) {
    EXPECT(&bar, kColumnBytes);
    // FAULT halo_of_too_many_pixels
    ALONG_W("im2col::w", tile, &map, 0, 0, 0, &bar, faulty ? 512 : 0, 0);
  }
  WAIT_PHASE(&bar, 0);
  y[threadIdx.x] = tile[threadIdx.x];
}
PAIR(halo_of_too_many_pixels, "invalid-instruction") { ON_AN_IMAGE(halo_of_too_many_pixels); }

// The faulty map is for W128: 128 pixels at a time.
MODES_KERNEL(pixels_through_a_map_of_another_mode) {
  MODES_BLOCK();
  if (threadIdx.x == 0) {
    EXPECT(&bar, kColumnBytes);
    // FAULT pixels_through_a_map_of_another_mode
    ALONG_W("im2col::w", tile, &map, 0, 0, 0, &bar, 0, 0);
  }
  WAIT_PHASE(&bar, 0);
  y[threadIdx.x] = tile[threadIdx.x];
}
PAIR(pixels_through_a_map_of_another_mode, "invalid-instruction") {
  Buffer<int> x(kChannels * 32, 1), y(256, 0);
  pixels_through_a_map_of_another_mode<faulty><<<1, 128>>>(
      image_of(x, faulty ? CU_TENSOR_MAP_IM2COL_WIDE_MODE_W128 : CU_TENSOR_MAP_IM2COL_WIDE_MODE_W),
      y);
}

// ---- Copies for a pair of blocks: they complete on the first block's mbarrier.

#define PAIR_OF_COPIES(name)                                                    \
  template <bool faulty>                                                        \
  __global__ void __cluster_dims__(2) name(const __grid_constant__ CUtensorMap map, int* y)
#define PAIR_OF_BLOCKS()                                                           \
  __shared__ __align__(1024) int tile[512];                                        \
  __shared__ unsigned long long bar;                                               \
  const bool second = __clusterRelativeBlockRank() == 1;                           \
  if (threadIdx.x == 0) INIT(&bar, 1);                                             \
  CLUSTER_SYNC();                                                                  \
  unsigned of_first;                                                               \
  asm("mapa.shared::cluster.u32 %0, %1, 0;" : "=r"(of_first) : "r"(shared_address(&bar)))
#define ON_TWO_BLOCKS(name)                        \
  Buffer<int> x(kWidth * kHeight, 1), y(256, 0);   \
  name<faulty><<<2, 128>>>(rows_of(x, 4), y)

PAIR_OF_COPIES(pair_copy_counted_once) {
  PAIR_OF_BLOCKS();
  if (threadIdx.x == 0) {
    if (!second) EXPECT(&bar, faulty ? 3 * kFourRows : 2 * kFourRows);
    TILE(tile, &map, 0, 4 * static_cast<int>(second), of_first, ".cta_group::2");
  }
  if (!second) WAIT_PHASE(&bar, 0);  // FAULT pair_copy_counted_once
  CLUSTER_SYNC();
  y[blockIdx.x * 128 + threadIdx.x] = tile[threadIdx.x];
}
PAIR(pair_copy_counted_once, "deadlock") { ON_TWO_BLOCKS(pair_copy_counted_once); }

// The second block reads its tile, but only the first block has waited for it.
PAIR_OF_COPIES(pair_copy_read_by_second) {
  PAIR_OF_BLOCKS();
  if (threadIdx.x == 0) {
    if (!second) EXPECT(&bar, 2 * kFourRows);
    // FAULT pair_copy_read_by_second
    TILE(tile, &map, 0, 4 * static_cast<int>(second), of_first, ".cta_group::2");
  }
  if (!second) WAIT_PHASE(&bar, 0);
  if (!faulty) {
    CLUSTER_SYNC();
  }
  y[blockIdx.x * 128 + threadIdx.x] = tile[threadIdx.x];  // FAULT pair_copy_read_by_second
  if (faulty) {
    CLUSTER_SYNC();
  }
}
PAIR(pair_copy_read_by_second, "race") {
  ON_TWO_BLOCKS(pair_copy_read_by_second);
}

// Without .cta_group::2 a copy completes on the mbarrier of its destination block.
PAIR_OF_COPIES(pair_copy_without_its_group) {
  PAIR_OF_BLOCKS();
  if (threadIdx.x == 0) {
    if (!second) EXPECT(&bar, 2 * kFourRows);
    if (faulty) {
      // FAULT pair_copy_without_its_group
      TILE(tile, &map, 0, 4 * static_cast<int>(second), of_first, "");
    } else {
      TILE(tile, &map, 0, 4 * static_cast<int>(second), of_first, ".cta_group::2");
    }
  }
  if (!second) WAIT_PHASE(&bar, 0);
  CLUSTER_SYNC();
  y[blockIdx.x * 128 + threadIdx.x] = tile[threadIdx.x];
}
PAIR(pair_copy_without_its_group, "mbarrier-misuse") { ON_TWO_BLOCKS(pair_copy_without_its_group); }

}  // namespace
