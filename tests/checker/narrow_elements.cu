// Pairs with elements of one and two bytes, in global and shared memory. Writes to neighbouring
// bytes of one word do not race; writes of two threads to one byte do.
#include "tests/checker/checker.h"

namespace {

using lockstep::checker::Buffer;

// In place: every thread updates its own element.
template <bool faulty>
__global__ void halves_in_place(unsigned short* y) {
  y[threadIdx.x / (faulty ? 2 : 1)] += 1;  // FAULT halves_in_place
}
PAIR_ON(halves_in_place, "race", (1, 32), Buffer<unsigned short>(32, 0))

// Some words cross the edges of warps and blocks.
template <bool faulty>
__global__ void bytes_in_place(unsigned char* y) {
  const int i = blockIdx.x * (blockDim.x - faulty) + threadIdx.x;
  y[i] = y[i] * 2 + 1;  // FAULT bytes_in_place
}
PAIR_ON(bytes_in_place, "race", (5, 45), Buffer<unsigned char>(45 * 5, 1))

template <bool faulty>
__global__ void bytes_in_a_loop(unsigned char* y, int n) {
  const int step = gridDim.x * blockDim.x - (faulty ? 1 : 0);
  for (int turn = 0; turn < 3; ++turn) {
    // FAULT bytes_in_a_loop
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += step) y[i] = y[i] + turn;
  }
}
PAIR_ON(bytes_in_a_loop, "race", (3, 50), Buffer<unsigned char>(1000, 0), 1000)

// Pixels of three bytes.
template <bool faulty>
__global__ void pixels_of_three_bytes(unsigned char* y) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  for (int c = 0; c < 3 + faulty; ++c) y[3 * i + c] = c;  // FAULT pixels_of_three_bytes
}
PAIR_ON(pixels_of_three_bytes, "race", (4, 16), Buffer<unsigned char>(3 * 64 + 1))

// Each thread reads its neighbour's element before any thread writes.
template <bool faulty>
__global__ void neighbours_swap(unsigned char* y) {
  const unsigned char other = y[threadIdx.x ^ 1];  // FAULT neighbours_swap
  if (!faulty) __syncthreads();
  y[threadIdx.x] = other;  // FAULT neighbours_swap
}
PAIR_ON(neighbours_swap, "race", (1, 64), Buffer<unsigned char>(64, 1))

// Threads write the even elements and read the odd ones.
template <bool faulty>
__global__ void odd_ones_are_read(unsigned short* y, int* sum) {
  if (blockIdx.x == 0) {
    y[2 * threadIdx.x] = threadIdx.x;  // FAULT odd_ones_are_read
  } else {
    sum[threadIdx.x] = y[2 * threadIdx.x + !faulty];  // FAULT odd_ones_are_read
  }
}
PAIR_ON_TWO(odd_ones_are_read, "race", (2, 32), Buffer<unsigned short>(64, 0), Buffer<int>(32))

// Two threads write halves of a word, then a third thread writes the whole word.
template <bool faulty>
__global__ void halves_then_the_word(unsigned short* y, int* x) {
  const int word = threadIdx.x / 2;
  if (threadIdx.x % 2 == 0) {
    y[2 * word] = 1;  // FAULT halves_then_the_word
  } else {
    x[word] = y[2 * word + 1];  // FAULT halves_then_the_word
  }
  if (!faulty) __syncthreads();
  // FAULT halves_then_the_word
  if (threadIdx.x < 32) reinterpret_cast<unsigned*>(y)[31 - threadIdx.x] = 7;
}
PAIR_ON_TWO(halves_then_the_word, "race", (1, 64), Buffer<unsigned short>(64, 0), Buffer<int>(32))

// Threads write bytes; other threads read them as vectors.
template <bool faulty>
__global__ void bytes_then_vectors(unsigned char* y, uint4* x) {
  y[threadIdx.x] = threadIdx.x;  // FAULT bytes_then_vectors
  if (!faulty) __syncthreads();
  // FAULT bytes_then_vectors
  if (threadIdx.x < 16) x[threadIdx.x] = reinterpret_cast<uint4*>(y)[threadIdx.x];
}
PAIR_ON_TWO(bytes_then_vectors, "race", (1, 256), Buffer<unsigned char>(256), Buffer<uint4>(16))

// Two blocks write one common byte; other bytes of that word are written too.
template <bool faulty>
__global__ void one_shared_byte(unsigned char* y) {
  // FAULT one_shared_byte
  for (int i = 0; i < 2 + (faulty && blockIdx.x == 0); ++i) y[2 * blockIdx.x + i] = blockIdx.x + i;
}
PAIR_ON(one_shared_byte, "race", (4, 1), Buffer<unsigned char>(8))

// A one-byte flag beside data of other threads.
template <bool faulty>
__global__ void byte_beside_an_atomic_half(unsigned short* y) {
  if (threadIdx.x != 0) return;
  if (blockIdx.x == 0) {
    reinterpret_cast<unsigned char*>(y)[faulty ? 2 : 0] = 1;  // FAULT byte_beside_an_atomic_half
  } else {
    atomicCAS(y + 1, 0, blockIdx.x);  // FAULT byte_beside_an_atomic_half
  }
}
PAIR_ON(byte_beside_an_atomic_half, "race", (4, 32), Buffer<unsigned short>(2, 0))

// In shared memory of a block.
template <bool faulty>
__global__ void shared_bytes_in_place(unsigned char* y) {
  __shared__ unsigned char s[96];
  s[threadIdx.x] = y[threadIdx.x];
  __syncthreads();
  // FAULT shared_bytes_in_place
  for (int turn = 0; turn < 3; ++turn) s[threadIdx.x / (faulty ? 2 : 1)] += turn;
  __syncthreads();
  y[threadIdx.x] = s[threadIdx.x];
}
PAIR_ON(shared_bytes_in_place, "race", (1, 96), Buffer<unsigned char>(96, 1))

template <bool faulty>
__global__ void shared_halves_and_vectors(uint4* y) {
  __shared__ __align__(16) unsigned short s[256];
  s[threadIdx.x] = threadIdx.x;  // FAULT shared_halves_and_vectors
  if (!faulty) __syncthreads();
  // FAULT shared_halves_and_vectors
  if (threadIdx.x < 32) y[threadIdx.x] = reinterpret_cast<uint4*>(s)[threadIdx.x];
  __syncthreads();
  if (threadIdx.x < 32) reinterpret_cast<uint4*>(s)[threadIdx.x] = make_uint4(1, 2, 3, 4);
  __syncthreads();
  s[threadIdx.x] += 1;
}
PAIR_ON(shared_halves_and_vectors, "race", (1, 256), Buffer<uint4>(32))

// In distributed shared memory of a cluster: the other block writes the odd bytes.
__device__ unsigned char* of_rank(unsigned char* shared, unsigned rank) {
  unsigned long long there;
  asm("mapa.u64 %0, %1, %2;" : "=l"(there) : "l"(shared), "r"(rank));
  return reinterpret_cast<unsigned char*>(there);
}
__device__ void sync_cluster() {
  asm volatile("barrier.cluster.arrive.aligned; barrier.cluster.wait.aligned;" ::: "memory");
}

template <bool faulty>
__global__ void __cluster_dims__(2) bytes_of_a_cluster(unsigned char* y) {
  __shared__ unsigned char s[64];
  s[threadIdx.x] = s[threadIdx.x + 32] = threadIdx.x;
  sync_cluster();
  unsigned char* const first = of_rank(s, 0);
  first[2 * threadIdx.x + (faulty ? 0 : blockIdx.x)] += 1;  // FAULT bytes_of_a_cluster
  sync_cluster();
  y[blockIdx.x * 32 + threadIdx.x] = s[threadIdx.x];
}
PAIR_ON(bytes_of_a_cluster, "race", (2, 32), Buffer<unsigned char>(64))

template <bool faulty>
__global__ void __cluster_dims__(2) bytes_of_a_block_in_a_cluster(unsigned char* y) {
  __shared__ unsigned char s[64];
  s[threadIdx.x] = threadIdx.x;
  sync_cluster();
  s[threadIdx.x / (faulty ? 2 : 1)] += 1;  // FAULT bytes_of_a_block_in_a_cluster
  sync_cluster();
  y[blockIdx.x * 64 + threadIdx.x] = s[threadIdx.x];
}
PAIR_ON(bytes_of_a_block_in_a_cluster, "race", (2, 64), Buffer<unsigned char>(128))

}  // namespace
