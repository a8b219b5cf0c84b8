// A stable radix sort with four bits in each pass, 32-bit keys and 16-bit values. Counts are stored
// digit by digit.
#include "program.h"

namespace radix_sort {

constexpr int kThreads = 64;

__global__ void count(const unsigned* keys, int n, int shift, int* counts, int mistake) {
  __shared__ int bins[16];
  if (threadIdx.x < 16) bins[threadIdx.x] = 0;
  __syncthreads();
  const int i = blockIdx.x * kThreads + threadIdx.x;
  if (i < n) atomicAdd(&bins[keys[i] >> shift & 15], 1);
  __syncthreads();
  if (threadIdx.x < 16)
    counts[mistake == 1 ? blockIdx.x * 16 + threadIdx.x : threadIdx.x * gridDim.x + blockIdx.x] =
        bins[threadIdx.x];
}

// An exclusive scan in place, by one warp.
__global__ void scan(int* counts, int n) {
  int carry = 0;
  for (int first = 0; first < n; first += 32) {
    const int i = first + threadIdx.x, mine = i < n ? counts[i] : 0;
    int sum = mine;
    for (int d = 1; d < 32; d *= 2) {
      const int other = __shfl_up_sync(0xffffffff, sum, d);
      if (threadIdx.x >= d) sum += other;
    }
    if (i < n) counts[i] = carry + sum - mine;
    carry += __shfl_sync(0xffffffff, sum, 31);
  }
}

__global__ void scatter(const unsigned* keys, const unsigned short* values, int n, int shift,
                        const int* counts, unsigned* to_keys, unsigned short* to_values) {
  __shared__ unsigned char digits[kThreads];
  const int i = blockIdx.x * kThreads + threadIdx.x;
  const int digit = i < n ? keys[i] >> shift & 15 : 16;
  digits[threadIdx.x] = digit;
  __syncthreads();
  if (i >= n) return;
  int rank = 0;
  for (int t = 0; t < threadIdx.x; ++t) rank += digits[t] == digit;
  const int at = counts[digit * gridDim.x + blockIdx.x] + rank;
  to_keys[at] = keys[i], to_values[at] = values[i];
}

PROGRAM(radix_sort, 1) {
  const int n = 777, blocks = divide_up(n, kThreads);
  std::vector<unsigned> keys(n);
  std::vector<unsigned short> values(n);
  Random random(22);
  for (int i = 0; i < n; ++i) keys[i] = random() & 0xffff00ff & (i % 3 ? ~0u : 0xff), values[i] = i;
  Buffer<unsigned> from(keys), to(n);
  Buffer<unsigned short> from_values(values), to_values(n);
  Buffer<int> counts(16 * blocks);
  for (int shift = 0; shift < 32; shift += 4) {
    count<<<blocks, kThreads>>>(from, n, shift, counts, mistake);
    scan<<<1, 32>>>(counts, 16 * blocks);
    scatter<<<blocks, kThreads>>>(from, from_values, n, shift, counts, to, to_values);
    from.swap(to), from_values.swap(to_values);
  }
  std::stable_sort(values.begin(), values.end(), [&](int a, int b) { return keys[a] < keys[b]; });
  std::sort(keys.begin(), keys.end());
  const bool sorted = from.host() == keys, stable = from_values.host() == values;
  return verdict(sorted && stable, "%d keys, %s, %s", n, sorted ? "in order" : "out of order",
                 stable ? "stable" : "not stable");
}

}  // namespace radix_sort
