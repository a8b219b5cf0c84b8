// Cases for all ways in which a kernel accesses memory; accesses count to the byte.
#include <cuda_pipeline.h>
#include <mma.h>

#include "kernels.cuh"

namespace lockstep::streams {
namespace {

// Each thread writes one byte of two; the other kernel accesses the other byte.
__global__ void produce_bytes(char* x, int first, char value, long long clocks) {
  wait_for(clocks);
  x[2 * threadIdx.x + first] = value;
}
CASE("accesses", bytes_in_turn, "produce_bytes", "produce_bytes") {
  Ints x(0);
  char* const bytes = reinterpret_cast<char*>(static_cast<int*>(x));
  Stream a, b;
  cudaMemset(x, 0, kBytes);
  cudaDeviceSynchronize();
  produce_bytes<<<1, 2 * kN - 1, 0, a>>>(bytes, 0, 1, spin);
  produce_bytes<<<1, 2 * kN - 1, 0, b>>>(bytes, mistake ? 2 : 1, 2, 0);
  const std::vector<int> result = x.fetch();
  want(!result.empty() && result[1] == (mistake ? 0x00020002 : 0x02010201));
}

__global__ void produce_vectors(int4* x, int value, long long clocks) {
  wait_for(clocks);
  const int i = value + 4 * threadIdx.x;
  x[threadIdx.x] = make_int4(i, i + 1, i + 2, i + 3);
}
CASE("accesses", vectors, "produce_vectors", "consume") {
  Ints x(0), y(0);
  Stream a, b;
  produce_vectors<<<1, kN / 4, 0, a>>>(reinterpret_cast<int4*>(static_cast<int*>(x)), 7, spin);
  consume<<<1, kN, 0, mistake ? b : a>>>(x, y);
  want(y.holds(7));
}

__global__ void consume_read_only(const int* __restrict__ x, int* __restrict__ y) {
  y[threadIdx.x] = __ldg(x + threadIdx.x);
}
CASE("accesses", read_only_loads, "produce", "consume_read_only") {
  Ints x(0), y(0);
  Stream a, b;
  produce<<<1, kN, 0, a>>>(x, 7, spin);
  consume_read_only<<<1, kN, 0, mistake ? b : a>>>(x, y);
  want(y.holds(7));
}

// Threads copy to shared memory (cp.async).
__global__ void consume_by_copies(const int* x, int* y) {
  __shared__ int staged[kN];
  __pipeline_memcpy_async(staged + threadIdx.x, x + threadIdx.x, sizeof(int));
  __pipeline_commit();
  __pipeline_wait_prior(0);
  y[threadIdx.x] = staged[threadIdx.x];
}
CASE("accesses", asynchronous_copies, "produce", "consume_by_copies") {
  Ints x(0), y(0);
  Stream a, b;
  produce<<<1, kN, 0, a>>>(x, 7, spin);
  consume_by_copies<<<1, kN, 0, mistake ? b : a>>>(x, y);
  want(y.holds(7));
}

// Bulk copies to shared memory and back.
__global__ void consume_by_bulk_copy(const int* x, int* y) {
  __shared__ alignas(16) int staged[kN];
  __shared__ alignas(8) unsigned long long barrier;
  const unsigned to = __cvta_generic_to_shared(staged), at = __cvta_generic_to_shared(&barrier);
  if (threadIdx.x == 0) {
    asm volatile("mbarrier.init.shared.b64 [%0], 1;" ::"r"(at) : "memory");
    asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory");
    asm volatile("mbarrier.arrive.expect_tx.shared.b64 _, [%0], %1;" ::"r"(at), "n"(kN * 4)
                 : "memory");
    asm volatile(
        "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1], %2, [%3];" ::
            "r"(to),
        "l"(__cvta_generic_to_global(x)), "n"(kN * 4), "r"(at)
        : "memory");
  }
  __syncthreads();
  asm volatile(
      "{ .reg .pred p; again: mbarrier.try_wait.parity.shared.b64 p, [%0], 0; @!p bra again; }" ::
          "r"(at)
      : "memory");
  y[threadIdx.x] = staged[threadIdx.x];
}
CASE("accesses", bulk_copy_reads, "produce", "consume_by_bulk_copy") {
  Ints x(0), y(0);
  Stream a, b;
  produce<<<1, kN, 0, a>>>(x, 7, spin);
  consume_by_bulk_copy<<<1, kN, 0, mistake ? b : a>>>(x, y);
  want(y.holds(7));
}

__global__ void produce_by_bulk_copy(int* x, int value, long long clocks) {
  __shared__ alignas(16) int staged[kN];
  wait_for(clocks);
  staged[threadIdx.x] = value + threadIdx.x;
  asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
  __syncthreads();
  if (threadIdx.x == 0) {
    asm volatile("cp.async.bulk.global.shared::cta.bulk_group [%0], [%1], %2;" ::"l"(
                     __cvta_generic_to_global(x)),
                 "r"(unsigned(__cvta_generic_to_shared(staged))), "n"(kN * 4)
                 : "memory");
    asm volatile("cp.async.bulk.commit_group;\ncp.async.bulk.wait_group 0;" ::: "memory");
  }
}
CASE("accesses", bulk_copy_writes, "produce_by_bulk_copy", "consume") {
  Ints x(0), y(0);
  Stream a, b;
  produce_by_bulk_copy<<<1, kN, 0, a>>>(x, 7, spin);
  consume<<<1, kN, 0, mistake ? b : a>>>(x, y);
  want(y.holds(7));
}

// A warp stores and loads a matrix.
using Tile = nvcuda::wmma::fragment<nvcuda::wmma::accumulator, 16, 16, 16, float>;
__global__ void produce_matrix(float* x, float value, long long clocks) {
  wait_for(clocks);
  Tile tile;
  nvcuda::wmma::fill_fragment(tile, value);
  nvcuda::wmma::store_matrix_sync(x, tile, 16, nvcuda::wmma::mem_row_major);
}
__global__ void consume_matrix(const float* x, float* y) {
  Tile tile;
  nvcuda::wmma::load_matrix_sync(tile, x, 16, nvcuda::wmma::mem_row_major);
  nvcuda::wmma::store_matrix_sync(y, tile, 16, nvcuda::wmma::mem_row_major);
}
CASE("accesses", matrices, "produce_matrix", "consume_matrix") {
  Ints x(0, 256), y(0, 256);
  Stream a, b;
  const auto floats = [](int* p) { return reinterpret_cast<float*>(p); };
  produce_matrix<<<1, 32, 0, a>>>(floats(x), 1, spin);
  consume_matrix<<<1, 32, 0, mistake ? b : a>>>(floats(x), floats(y));
  want(y.fetch() == std::vector<int>(256, 0x3f800000));
}

// An atomic races with a plain access or a copy.
__global__ void add_atomically(int* x, int by, long long clocks) {
  wait_for(clocks);
  atomicAdd(x + threadIdx.x, by);
}
CASE("accesses", atomics_and_a_plain_write, "add_atomically", "produce") {
  Ints x(0);
  Stream a, b;
  add_atomically<<<1, kN, 0, a>>>(x, 7, spin);
  produce<<<1, kN, 0, mistake ? b : a>>>(x, 8, 0);
  want(x.holds(8));
}

CASE("accesses", atomics_and_a_copy, "add_atomically", "cudaMemcpyAsync") {
  Ints x(0);
  Pinned y(0);
  Stream a, b;
  add_atomically<<<1, kN, 0, a>>>(x, 7, spin);
  cudaMemcpyAsync(y, x, kBytes, cudaMemcpyDeviceToHost, mistake ? b : a);
  want(y.holds(7));
}

CASE("accesses", atomics_and_a_fill, "cudaMemsetAsync", "add_atomically") {
  Ints x(7);
  Stream a, b;
  hold<<<1, 1, 0, a>>>(spin);
  cudaMemsetAsync(x, 0, kBytes, a);
  add_atomically<<<1, kN, 0, mistake ? b : a>>>(x, 1, 0);
  want(x.fetch() == std::vector<int>(kN, 1));
}

// Atomics of block scope are not atomic with respect to another kernel.
__global__ void add_within_the_block(int* x, bool wide, long long clocks) {
  wait_for(clocks);
  if (wide) {
    atomicAdd(x, 1);
  } else {
    atomicAdd_block(x, 1);
  }
}
CASE("accesses", atomics_of_the_block, "add_within_the_block", "add_within_the_block") {
  Ints x(0);
  Stream a, b;
  add_within_the_block<<<1, kN, 0, a>>>(x, !mistake, 0);
  add_within_the_block<<<1, kN, 0, b>>>(x, !mistake, 0);
  want(x.fetch()[0] == 2 * kN);
}

// Two kernels share a flag: volatile on both sides, or plain on one.
__global__ void announce(int* flag, bool strong) {
  if (strong) {
    *static_cast<volatile int*>(flag) = 1;
  } else {
    *flag = 1;
  }
}
__global__ void look(const int* flag, int* seen) {
  *seen = *static_cast<const volatile int*>(flag);
}
CASE("accesses", flag_written_plainly, "announce", "look") {
  Ints flag(0), seen(0);
  Stream a, b;
  announce<<<1, 1, 0, a>>>(flag, !mistake);
  look<<<1, 1, 0, b>>>(flag, seen);
  const int value = seen.fetch()[0];
  want(value == 0 || value == 1);
}

// A texture of linear memory.
__global__ void consume_linear_texture(cudaTextureObject_t x, int* y) {
  y[threadIdx.x] = tex1Dfetch<int>(x, threadIdx.x);
}
CASE("accesses", texture_of_plain_memory, "produce", "consume_linear_texture") {
  Ints x(0), y(0);
  cudaResourceDesc resource = {};
  resource.resType = cudaResourceTypeLinear;
  resource.res.linear.devPtr = x;
  resource.res.linear.desc = cudaCreateChannelDesc<int>();
  resource.res.linear.sizeInBytes = kBytes;
  cudaTextureDesc description = {};
  cudaTextureObject_t texture = 0;
  cudaCreateTextureObject(&texture, &resource, &description, nullptr);
  Stream a, b;
  produce<<<1, kN, 0, a>>>(x, 7, spin);
  consume_linear_texture<<<1, kN, 0, mistake ? b : a>>>(texture, y);
  want(y.holds(7));
  cudaDestroyTextureObject(texture);
}

// Only the last of many blocks overlaps with the other kernel.
__global__ void produce_blocks(int* x, int value, long long clocks) {
  wait_for(clocks);
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  x[i] = value + i;
}
CASE("accesses", last_of_many_blocks, "produce_blocks", "produce") {
  constexpr int kBlocks = 32;
  Ints x(0, (kBlocks + 1) * kN);
  Stream a, b;
  produce_blocks<<<kBlocks, kN, 0, a>>>(x, 0, spin);
  produce<<<1, kN, 0, b>>>(x + kBlocks * kN - mistake, mistake ? -1 : kBlocks * kN, 0);
  want(mistake ? x.fetch()[kBlocks * kN - 1] == -1 : x.holds(0));
}

// The device heap (malloc in kernels).
__global__ void allocate_on_the_heap(int** x) {
  *x = static_cast<int*>(malloc(kBytes));
  for (int i = 0; i < kN; ++i) (*x)[i] = 0;
}
__global__ void produce_on_the_heap(int** x, long long clocks) {
  wait_for(clocks);
  (*x)[threadIdx.x] = 7 + threadIdx.x;
}
__global__ void consume_on_the_heap(int** x, int* y) { y[threadIdx.x] = (*x)[threadIdx.x]; }
__global__ void free_on_the_heap(int** x) { free(*x); }
CASE("accesses", heap_of_kernels, "produce_on_the_heap", "consume_on_the_heap") {
  Ints x(0), y(0);
  int** const place = reinterpret_cast<int**>(static_cast<int*>(x));
  Stream a, b;
  allocate_on_the_heap<<<1, 1>>>(place);
  cudaDeviceSynchronize();
  produce_on_the_heap<<<1, kN, 0, a>>>(place, spin);
  consume_on_the_heap<<<1, kN, 0, mistake ? b : a>>>(place, y);
  want(y.holds(7));
  free_on_the_heap<<<1, 1>>>(place);
}

}  // namespace
}  // namespace lockstep::streams
