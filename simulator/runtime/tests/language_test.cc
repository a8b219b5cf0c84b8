// CUDA C++ beyond plain kernels, as compiled by nvcc.
#include <unistd.h>

#include <cstdint>
#include <cstring>
#include <vector>

#include "simulator/runtime/tests/cuda_test.h"
#include "simulator/runtime/tests/language_kernels.h"

namespace lockstep::runtime {
namespace {

using kernels::kTile;

// Device memory with 0, 1, 2 ..., or with zeros.
int* device_ints(int count, bool counting) {
  std::vector<int> h(static_cast<std::size_t>(count));
  for (int i = 0; counting && i < count; ++i) h[static_cast<std::size_t>(i)] = i;
  int* p = nullptr;
  EXPECT_CUDA(cudaSuccess, cudaMalloc(reinterpret_cast<void**>(&p), h.size() * sizeof(int)));
  EXPECT_CUDA(cudaSuccess, cudaMemcpy(p, h.data(), h.size() * sizeof(int), cudaMemcpyHostToDevice));
  return p;
}

std::vector<int> fetch(const int* p, int count) {
  std::vector<int> h(static_cast<std::size_t>(count));
  EXPECT_CUDA(cudaSuccess, cudaMemcpy(h.data(), p, h.size() * sizeof(int), cudaMemcpyDeviceToHost));
  return h;
}

// The results of a kernel that stores one int per thread.
std::vector<int> filled(void (*launch)(int*, int), int threads) {
  int* to = device_ints(threads, false);
  launch(to, threads);
  EXPECT_CUDA(cudaSuccess, cudaGetLastError());
  return fetch(to, threads);
}

CUDA_TEST(Asynchronous, APipelineOverlapsCopies) {
  constexpr int kTiles = 5;
  int *from = device_ints(kTiles * kTile, true), *to = device_ints(kTile, false);
  kernels::pipelined_sum(to, from, kTiles);
  const auto r = fetch(to, kTile);
  for (int t = 0; t < kTile; ++t)
    EXPECT_EQ(r[static_cast<std::size_t>(t)],
              kTiles * (kTile - 1 - t) + kTile * (kTiles * (kTiles - 1) / 2));
}

CUDA_TEST(Asynchronous, CopiesThatArriveAtABarrier) {
  int *from = device_ints(kTile, true), *to = device_ints(kTile, false);
  kernels::barrier_copy(to, from);
  const auto r = fetch(to, kTile);
  for (int t = 0; t < kTile; ++t) EXPECT_EQ(r[static_cast<std::size_t>(t)], kTile - 1 - t);
}

CUDA_TEST(Asynchronous, CopiesOfAGroup) {
  int *from = device_ints(kTile, true), *to = device_ints(kTile, false);
  kernels::group_copy(to, from);
  const auto r = fetch(to, kTile);
  for (int t = 0; t < kTile; ++t) EXPECT_EQ(r[static_cast<std::size_t>(t)], kTile - 1 - t);
}

CUDA_TEST(Asynchronous, BulkCopiesBothWays) {
  int *from = device_ints(kTile, true), *to = device_ints(kTile, false);
  kernels::bulk_copy(to, from);
  const auto r = fetch(to, kTile);
  for (int t = 0; t < kTile; ++t) EXPECT_EQ(r[static_cast<std::size_t>(t)], t + 1);
}

CUDA_TEST(Asynchronous, ProducersAndConsumersTakeTurns) {
  constexpr int kTiles = 7;
  int *from = device_ints(kTiles * kTile, true), *to = device_ints(kTiles * kTile, false);
  kernels::producer_consumer(to, from, kTiles);
  const auto r = fetch(to, kTiles * kTile);
  for (int t = 0; t < kTiles * kTile; ++t) EXPECT_EQ(r[static_cast<std::size_t>(t)], 2 * t);
}

CUDA_TEST(Atomics, OfHalvesAndVectors) {
  int* cells = device_ints(16, false);
  kernels::small_atomics(cells, 4, 32);
  const auto r = fetch(cells, 16);
  const auto word = [&](int i) {
    return static_cast<std::uint32_t>(r[static_cast<std::size_t>(i)]);
  };
  const auto number = [&](int i) {
    float f;
    std::memcpy(&f, &r[static_cast<std::size_t>(i)], 4);
    return f;
  };
  EXPECT_EQ(word(0), 0x5800u);      // 128 as f16
  EXPECT_EQ(word(1), 0x5c005800u);  // 128 and 256
  EXPECT_EQ(word(2), 0x4300u);      // 128 as bf16
  EXPECT_EQ(word(3), 0x43804300u);
  EXPECT_EQ(number(4), 128.0f);
  EXPECT_EQ(number(5), 256.0f);
  for (int i = 0; i < 4; ++i) EXPECT_EQ(number(8 + i), 128.0f * static_cast<float>(i + 1));
  EXPECT_EQ(word(12), 7u);
}

CUDA_TEST(Language, Recursion) {
  const auto r = filled(kernels::recursion, 64);
  EXPECT_EQ(r[12], 144);
  EXPECT_EQ(r[13], 0);
  EXPECT_EQ(r[63], 89);  // 63 % 13 is 11
}
CUDA_TEST(Language, FunctionPointers) {
  const auto r = filled(kernels::function_pointers, 64);
  for (int t = 0; t < 64; ++t) EXPECT_EQ(r[static_cast<std::size_t>(t)], t % 2 ? 3 * t : 2 * t);
}
CUDA_TEST(Language, VirtualFunctions) {
  const auto r = filled(kernels::virtual_functions, 64);
  for (int t = 0; t < 64; ++t) EXPECT_EQ(r[static_cast<std::size_t>(t)], t % 3 ? t : t * t);
}
CUDA_TEST(Language, StackAllocation) {
  const auto r = filled(kernels::stack_allocation, 64);
  for (int t = 0; t < 64; ++t) EXPECT_EQ(r[static_cast<std::size_t>(t)], t * (t + 1) / 2);
}
CUDA_TEST(Language, TheDeviceHeap) {
  const auto r = filled(kernels::device_heap, 64);
  for (int t = 0; t < 64; ++t) EXPECT_EQ(r[static_cast<std::size_t>(t)], 10 * t);
}

CUDA_TEST(Language, Printf) {
  int pipe_ends[2];
  ASSERT_EQ(pipe(pipe_ends), 0);
  const int before = dup(1);
  dup2(pipe_ends[1], 1);
  kernels::print_values();
  EXPECT_CUDA(cudaSuccess, cudaDeviceSynchronize());
  fflush(stdout);
  dup2(before, 1);
  close(pipe_ends[1]);
  char text[256] = {};
  EXPECT_GT(read(pipe_ends[0], text, sizeof text - 1), 0);
  EXPECT_STREQ(text, "-3  2.50 word c 1099511627776 ff%\n");
}

CUDA_TEST(Language, Assert) {
  kernels::assert_below(64, 64);
  EXPECT_CUDA(cudaSuccess, cudaDeviceSynchronize());
  kernels::assert_below(63, 64);
  EXPECT_CUDA(cudaErrorAssert, cudaDeviceSynchronize());
}

}  // namespace
}  // namespace lockstep::runtime
