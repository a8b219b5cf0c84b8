#include <alloca.h>
#include <cooperative_groups.h>
#include <cooperative_groups/memcpy_async.h>
#include <cuda_bf16.h>
#include <cuda_fp16.h>

#include <cassert>
#include <cstdio>
#include <cuda/barrier>
#include <cuda/pipeline>

#include "simulator/runtime/tests/language_kernels.h"

// A barrier in shared memory is made by init(), not by its constructor.
#pragma nv_diag_suppress static_var_with_dynamic_init

namespace cg = cooperative_groups;

namespace lockstep::runtime::kernels {
namespace {

using BlockBarrier = cuda::barrier<cuda::thread_scope_block>;

// ---- asynchronous copies ------------------------------------------------------------------------

__global__ void pipelined_sum_kernel(int* to, const int* from, int tiles) {
  __shared__ int stage[2][kTile];
  auto pipe = cuda::make_pipeline();
  const auto fetch = [&](int tile) {
    pipe.producer_acquire();
    cuda::memcpy_async(&stage[tile % 2][threadIdx.x], from + tile * kTile + threadIdx.x,
                       sizeof(int), pipe);
    pipe.producer_commit();
  };
  fetch(0);
  int sum = 0;
  for (int tile = 0; tile < tiles; ++tile) {
    if (tile + 1 < tiles) {
      fetch(tile + 1);
      cuda::pipeline_consumer_wait_prior<1>(pipe);
    } else {
      cuda::pipeline_consumer_wait_prior<0>(pipe);
    }
    __syncthreads();
    sum += stage[tile % 2][kTile - 1 - threadIdx.x];
    __syncthreads();
    pipe.consumer_release();
  }
  to[threadIdx.x] = sum;
}

__global__ void barrier_copy_kernel(int* to, const int* from) {
  __shared__ alignas(16) int tile[kTile];
  __shared__ BlockBarrier bar;
  auto block = cg::this_thread_block();
  if (block.thread_rank() == 0) init(&bar, block.size());
  block.sync();
  cuda::memcpy_async(block, tile, from, cuda::aligned_size_t<16>(sizeof tile), bar);
  bar.arrive_and_wait();
  to[threadIdx.x] = tile[kTile - 1 - threadIdx.x];
}

__global__ void group_copy_kernel(int* to, const int* from) {
  __shared__ int tile[kTile];
  auto block = cg::this_thread_block();
  cg::memcpy_async(block, tile, from, sizeof tile);
  cg::wait(block);
  to[threadIdx.x] = tile[kTile - 1 - threadIdx.x];
}

__global__ void bulk_copy_kernel(int* to, const int* from) {
  __shared__ alignas(128) int tile[kTile];
  __shared__ BlockBarrier bar;
  if (threadIdx.x == 0) {
    init(&bar, blockDim.x);
    cuda::device::experimental::fence_proxy_async_shared_cta();
  }
  __syncthreads();
  BlockBarrier::arrival_token token;
  if (threadIdx.x == 0) {
    cuda::device::experimental::cp_async_bulk_global_to_shared(tile, from, sizeof tile, bar);
    token = cuda::device::barrier_arrive_tx(bar, 1, sizeof tile);
  } else {
    token = bar.arrive();
  }
  bar.wait(std::move(token));
  tile[threadIdx.x] += 1;
  cuda::device::experimental::fence_proxy_async_shared_cta();
  __syncthreads();
  if (threadIdx.x == 0) {
    cuda::device::experimental::cp_async_bulk_shared_to_global(to, tile, sizeof tile);
    cuda::device::experimental::cp_async_bulk_commit_group();
    cuda::device::experimental::cp_async_bulk_wait_group_read<0>();
  }
}

// The first half of the warps fills two buffers in turns, the second half empties them.
__global__ void producer_consumer_kernel(int* to, const int* from, int tiles) {
  __shared__ int buffer[2][kTile];
  __shared__ BlockBarrier bars[4];  // [0, 1]: the buffer may be filled; [2, 3]: it is full
  const int half = blockDim.x / 2;
  if (threadIdx.x < 4) init(&bars[threadIdx.x], blockDim.x);
  __syncthreads();
  if (threadIdx.x < half) {
    for (int tile = 0; tile < tiles; ++tile) {
      bars[tile % 2].arrive_and_wait();
      for (int i = threadIdx.x; i < kTile; i += half) buffer[tile % 2][i] = from[tile * kTile + i];
      auto token = bars[2 + tile % 2].arrive();
    }
  } else {
    auto first = bars[0].arrive();
    auto second = bars[1].arrive();
    for (int tile = 0; tile < tiles; ++tile) {
      bars[2 + tile % 2].arrive_and_wait();
      for (int i = threadIdx.x - half; i < kTile; i += half)
        to[tile * kTile + i] = 2 * buffer[tile % 2][i];
      auto token = bars[tile % 2].arrive();
    }
  }
}

// ---- atomics ------------------------------------------------------------------------------------

__global__ void small_atomics_kernel(void* cells) {
  char* p = static_cast<char*>(cells);
  atomicAdd(reinterpret_cast<__half*>(p), __float2half(1.0f));
  atomicAdd(reinterpret_cast<__half2*>(p + 4), __floats2half2_rn(1.0f, 2.0f));
  atomicAdd(reinterpret_cast<__nv_bfloat16*>(p + 8), __float2bfloat16(1.0f));
  atomicAdd(reinterpret_cast<__nv_bfloat162*>(p + 12), __floats2bfloat162_rn(1.0f, 2.0f));
  atomicAdd(reinterpret_cast<float2*>(p + 16), make_float2(1.0f, 2.0f));
  atomicAdd(reinterpret_cast<float4*>(p + 32), make_float4(1.0f, 2.0f, 3.0f, 4.0f));
  atomicCAS(reinterpret_cast<unsigned short*>(p + 48), static_cast<unsigned short>(0),
            static_cast<unsigned short>(7));
}

// ---- the language -------------------------------------------------------------------------------

__device__ __noinline__ int fibonacci(int n) {
  return n < 2 ? n : fibonacci(n - 1) + fibonacci(n - 2);
}

struct Shape {
  __device__ virtual ~Shape() {}
  __device__ virtual int area() const = 0;
};
struct Square final : Shape {
  int side;
  __device__ explicit Square(int s) : side(s) {}
  __device__ int area() const override { return side * side; }
};
struct Strip final : Shape {
  int length;
  __device__ explicit Strip(int l) : length(l) {}
  __device__ int area() const override { return length; }
};

__device__ int twice(int x) { return 2 * x; }
__device__ int thrice(int x) { return 3 * x; }
__device__ int (*const choices[])(int) = {twice, thrice};

__global__ void recursion_kernel(int* to) { to[threadIdx.x] = fibonacci(threadIdx.x % 13); }
__global__ void pointers_kernel(int* to) {
  to[threadIdx.x] = choices[threadIdx.x % 2](threadIdx.x);
}
__global__ void virtual_kernel(int* to) {
  Shape* s =
      threadIdx.x % 3 == 0 ? static_cast<Shape*>(new Square(threadIdx.x)) : new Strip(threadIdx.x);
  to[threadIdx.x] = s->area();
  delete s;
}
__global__ void alloca_kernel(int* to) {
  const int n = threadIdx.x + 1;
  int* p = static_cast<int*>(alloca(n * sizeof(int)));
  for (int i = 0; i < n; ++i) p[i] = i;
  int sum = 0;
  for (int i = 0; i < n; ++i) sum += p[n - 1 - i];
  to[threadIdx.x] = sum;
}
__global__ void heap_kernel(int* to) {
  struct Node {
    int value;
    Node* next;
  };
  Node* list = nullptr;
  for (int i = 0; i < 5; ++i) list = new Node{static_cast<int>(threadIdx.x) * i, list};
  int sum = 0;
  while (list != nullptr) {
    sum += list->value;
    Node* next = list->next;
    delete list;
    list = next;
  }
  to[threadIdx.x] = sum;
}
__global__ void print_kernel() {
  if (threadIdx.x == 1) printf("%d %5.2f %s %c %llu %x%%\n", -3, 2.5, "word", 'c', 1ull << 40, 255);
}
__global__ void assert_kernel(int limit) { assert(static_cast<int>(threadIdx.x) < limit); }

}  // namespace

void pipelined_sum(int* to, const int* from, int tiles) {
  pipelined_sum_kernel<<<1, kTile>>>(to, from, tiles);
}
void barrier_copy(int* to, const int* from) { barrier_copy_kernel<<<1, kTile>>>(to, from); }
void group_copy(int* to, const int* from) { group_copy_kernel<<<1, kTile>>>(to, from); }
void bulk_copy(int* to, const int* from) { bulk_copy_kernel<<<1, kTile>>>(to, from); }
void producer_consumer(int* to, const int* from, int tiles) {
  producer_consumer_kernel<<<1, kTile>>>(to, from, tiles);
}
void small_atomics(void* cells, int blocks, int threads) {
  small_atomics_kernel<<<blocks, threads>>>(cells);
}
void recursion(int* to, int threads) { recursion_kernel<<<1, threads>>>(to); }
void function_pointers(int* to, int threads) { pointers_kernel<<<1, threads>>>(to); }
void virtual_functions(int* to, int threads) { virtual_kernel<<<1, threads>>>(to); }
void stack_allocation(int* to, int threads) { alloca_kernel<<<1, threads>>>(to); }
void device_heap(int* to, int threads) { heap_kernel<<<1, threads>>>(to); }
void print_values() { print_kernel<<<1, 2>>>(); }
void assert_below(int limit, int threads) { assert_kernel<<<1, threads>>>(limit); }

}  // namespace lockstep::runtime::kernels
