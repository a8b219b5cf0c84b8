// Clusters, asynchronous copies and barriers (sm_90 and later). Read by corpus_test.
#include <cooperative_groups.h>
#include <cooperative_groups/memcpy_async.h>

#include <cuda/barrier>
#include <cuda/pipeline>
#include <cuda/ptx>
#include <cuda/std/atomic>

namespace cg = cooperative_groups;

__global__ void __cluster_dims__(2, 1, 1) clusters(int* x) {
  __shared__ int s[32];
  auto cluster = cg::this_cluster();
  s[threadIdx.x] = x[threadIdx.x];
  cluster.sync();
  int* other = cluster.map_shared_rank(s, cluster.block_rank() ^ 1);
  x[threadIdx.x] = other[threadIdx.x] + cluster.num_blocks() + cluster.query_shared_rank(other);
  atomicAdd(other, 1);
  cluster.barrier_arrive();
  cluster.barrier_wait();
}

__global__ void copies(const int* in, int* out) {
  __shared__ alignas(16) int buffer[256];
  __shared__ cuda::barrier<cuda::thread_scope_block> bar;
  auto block = cg::this_thread_block();
  if (threadIdx.x == 0) init(&bar, blockDim.x);
  block.sync();
  cuda::memcpy_async(block, buffer, in, cuda::aligned_size_t<16>(sizeof(buffer)), bar);
  bar.arrive_and_wait();
  cg::memcpy_async(block, buffer, in, sizeof(int) * 64);
  cg::wait(block);
  __pipeline_memcpy_async(buffer + threadIdx.x, in + threadIdx.x, 4);
  __pipeline_commit();
  __pipeline_wait_prior(0);
  out[threadIdx.x] = buffer[threadIdx.x];
}

__global__ void bulk(const int* in, int* out) {
  __shared__ alignas(128) int buffer[256];
  __shared__ cuda::barrier<cuda::thread_scope_block> bar;
  if (threadIdx.x == 0) {
    init(&bar, 1);
    cuda::device::experimental::cp_async_bulk_global_to_shared(buffer, in, sizeof(buffer), bar);
    auto token = cuda::device::barrier_arrive_tx(bar, 1, sizeof(buffer));
    bar.wait(std::move(token));
    buffer[3] = 7;
    cuda::device::experimental::fence_proxy_async_shared_cta();
    cuda::device::experimental::cp_async_bulk_shared_to_global(out, buffer, sizeof(buffer));
    cuda::device::experimental::cp_async_bulk_commit_group();
    cuda::device::experimental::cp_async_bulk_wait_group_read<0>();
  }
  __syncthreads();
}

__global__ void atomics(int* x, long long* y) {
  cuda::atomic_ref<int, cuda::thread_scope_device> a(*x);
  a.fetch_add(1, cuda::std::memory_order_relaxed);
  a.store(3, cuda::std::memory_order_release);
  y[0] = a.load(cuda::std::memory_order_acquire) + a.fetch_max(7) +
         a.exchange(3, cuda::std::memory_order_acq_rel);
  int expected = 4;
  a.compare_exchange_strong(expected, 5);
  cuda::atomic_ref<long long, cuda::thread_scope_system> b(*y);
  b.fetch_xor(5);
  cuda::atomic_thread_fence(cuda::std::memory_order_seq_cst, cuda::thread_scope_device);
  cuda::atomic_thread_fence(cuda::std::memory_order_acq_rel, cuda::thread_scope_block);
}

__global__ void dependents(int* x) {
  asm volatile("griddepcontrol.wait;" ::: "memory");
  x[0] = __reduce_add_sync(0xffffffffu, x[threadIdx.x]) + __reduce_max_sync(0xffffffffu, x[1]) +
         __reduce_xor_sync(0xffffffffu, (unsigned)x[2]);
  asm volatile("griddepcontrol.launch_dependents;");
  unsigned leader;
  asm volatile("{ .reg .pred p; elect.sync _|p, 0xffffffff; selp.u32 %0, 1, 0, p; }"
               : "=r"(leader));
  x[1] = leader;
  x[2] = __vimax3_s32_relu(x[3], x[4], x[5]) + __vibmax_s32(x[1], x[2], (bool*)x);
}
