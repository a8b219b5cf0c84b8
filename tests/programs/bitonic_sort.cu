// Bitonic sort of unsigned words: short distances in shared memory, long ones in global memory. The
// array is padded to a power of two.
#include "program.h"

namespace bitonic_sort {

constexpr unsigned kBlock = 256;  // keys of a block; it has half as many threads

__device__ void order(unsigned& a, unsigned& b, bool up) {
  if ((a > b) == up) {
    const unsigned t = a;
    a = b, b = t;
  }
}

__global__ void far(unsigned* keys, unsigned size, unsigned distance) {
  const unsigned t = blockIdx.x * blockDim.x + threadIdx.x, i = 2 * t - (t & (distance - 1));
  order(keys[i], keys[i + distance], (i & size) == 0);
}

__global__ void near(unsigned* keys, unsigned from_size, unsigned to_size, int mistake) {
  __shared__ unsigned tile[kBlock];
  unsigned* mine = keys + blockIdx.x * kBlock;
  tile[threadIdx.x] = mine[threadIdx.x],
  tile[threadIdx.x + kBlock / 2] = mine[threadIdx.x + kBlock / 2];
  for (unsigned size = from_size; size <= to_size; size *= 2)
    for (unsigned distance = min(size, kBlock) / 2; distance > 0; distance /= 2) {
      if (mistake != 1 || distance >= 32) __syncthreads();
      const unsigned i = 2 * threadIdx.x - (threadIdx.x & (distance - 1));
      order(tile[i], tile[i + distance], ((blockIdx.x * kBlock + i) & size) == 0);
    }
  __syncthreads();
  mine[threadIdx.x] = tile[threadIdx.x],
  mine[threadIdx.x + kBlock / 2] = tile[threadIdx.x + kBlock / 2];
}

PROGRAM(bitonic_sort, 1) {
  const unsigned n = 1500, padded = 2048;
  std::vector<unsigned> keys(padded, 0xffffffffu);
  Random random(21);
  for (unsigned i = 0; i < n; ++i) keys[i] = random() >> random.below(20);
  Buffer<unsigned> d_keys(keys);
  near<<<padded / kBlock, kBlock / 2>>>(d_keys, 2, kBlock, mistake);
  for (unsigned size = 2 * kBlock; size <= padded; size *= 2) {
    for (unsigned distance = size / 2; distance >= kBlock; distance /= 2)
      far<<<padded / kBlock, kBlock / 2>>>(d_keys, size, distance);
    near<<<padded / kBlock, kBlock / 2>>>(d_keys, size, size, mistake);
  }
  std::sort(keys.begin(), keys.end());
  const std::vector<unsigned> got = d_keys.host();
  return verdict(got == keys, "%u keys, from %u to %u", n, got[0], got[n - 1]);
}

}  // namespace bitonic_sort
