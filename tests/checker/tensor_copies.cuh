// Macros for copies through tensor maps, and a tensor, used by the pairs that misuse them.
#pragma once

#include <cuda.h>

#include "tests/checker/async.cuh"
#include "tests/checker/checker.h"

namespace {

using lockstep::checker::Buffer;
using lockstep::checker::StrictProxies;

#define TENSOR_LOAD(to, map, x, y, bar)                                                         \
  asm volatile(                                                                                 \
      "cp.async.bulk.tensor.2d.shared::cluster.global.tile.mbarrier::complete_tx::bytes [%0], " \
      "[%1, {%2, %3}], [%4];" ::"r"(shared_address(to)),                                        \
      "l"(map), "r"(x), "r"(y), "r"(shared_address(bar))                                        \
      : "memory")
#define TENSOR_STORE(map, x, y, from)                                                           \
  asm volatile(                                                                                 \
      "cp.async.bulk.tensor.2d.global.shared::cta.tile.bulk_group [%0, {%1, %2}], [%3];" ::"l"( \
          map),                                                                                 \
      "r"(x), "r"(y), "r"(shared_address(from))                                                 \
      : "memory")
#define PROXY_FENCE() asm volatile("fence.proxy.async.shared::cta;" ::: "memory")

constexpr int kWidth = 32, kHeight = 8;            // of the tensor, in elements of int
constexpr int kBoxBytes = 4 * kWidth * kHeight / 2;  // boxes are half as high

// The map of a tensor of kHeight rows of kWidth int at `data`, with boxes of half the height.
CUtensorMap map_of(int* data, int height = kHeight) {
  using Encode =
      CUresult (*)(CUtensorMap*, CUtensorMapDataType, cuuint32_t, void*, const cuuint64_t*,
                   const cuuint64_t*, const cuuint32_t*, const cuuint32_t*, CUtensorMapInterleave,
                   CUtensorMapSwizzle, CUtensorMapL2promotion, CUtensorMapFloatOOBfill);
  void* function = nullptr;
  cudaDriverEntryPointQueryResult found;
  cudaGetDriverEntryPointByVersion("cuTensorMapEncodeTiled", &function, 12000, cudaEnableDefault,
                                   &found);
  CUtensorMap map{};
  const cuuint64_t sizes[] = {kWidth, static_cast<cuuint64_t>(height)}, strides[] = {4 * kWidth};
  const cuuint32_t box[] = {kWidth, kHeight / 2}, steps[] = {1, 1};
  if (function != nullptr) {
    reinterpret_cast<Encode>(function)(&map, CU_TENSOR_MAP_DATA_TYPE_INT32, 2, data, sizes, strides,
                                       box, steps, CU_TENSOR_MAP_INTERLEAVE_NONE,
                                       CU_TENSOR_MAP_SWIZZLE_NONE, CU_TENSOR_MAP_L2_PROMOTION_NONE,
                                       CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE);
  }
  return map;
}

#define TENSOR_LOAD_OF_A_LINE(to, map, x, bar)                                                  \
  asm volatile(                                                                                 \
      "cp.async.bulk.tensor.1d.shared::cluster.global.tile.mbarrier::complete_tx::bytes [%0], " \
      "[%1, {%2}], [%3];" ::"r"(shared_address(to)),                                            \
      "l"(map), "r"(x), "r"(shared_address(bar))                                                \
      : "memory")
#define TENSOR_MULTICAST(to, map, x, y, bar, blocks)                                               \
  asm volatile(                                                                                    \
      "cp.async.bulk.tensor.2d.shared::cluster.global.tile.mbarrier::complete_tx::bytes."          \
      "multicast::cluster [%0], [%1, {%2, %3}], [%4], %5;" ::"r"(shared_address(to)),              \
      "l"(map), "r"(x), "r"(y), "r"(shared_address(bar)), "h"(static_cast<unsigned short>(blocks)) \
      : "memory")
#define TENSOR_REDUCE(op, map, x, y, from)                             \
  asm volatile("cp.reduce.async.bulk.tensor.2d.global.shared::cta." op \
               ".tile.bulk_group [%0, {%1, %2}], [%3];" ::"l"(map),    \
               "r"(x), "r"(y), "r"(shared_address(from))               \
               : "memory")

// Loads a box that completes on an mbarrier; stores a box and waits for it.
#define LOAD_BOX(to, map, x, y, bar) \
  EXPECT(bar, kBoxBytes);            \
  TENSOR_LOAD(to, map, x, y, bar)
#define STORE_BOX(map, x, y, from) \
  TENSOR_STORE(map, x, y, from);   \
  BULK_COMMIT();                   \
  BULK_WAIT()

// The host code of a pair. One block of `threads` threads gets the tensor, or the tensor and one
// output element per thread.
#define PAIR_ON_TENSOR(name, kind, threads)   \
  PAIR(name, kind) {                          \
    Buffer<int> x(kWidth* kHeight, 1);        \
    name<faulty><<<1, threads>>>(map_of(x));  \
  }
#define PAIR_FROM_TENSOR(name, kind, threads)   \
  PAIR(name, kind) {                            \
    Buffer<int> x(kWidth* kHeight, 1), y(threads); \
    name<faulty><<<1, threads>>>(map_of(x), y); \
  }

}  // namespace
