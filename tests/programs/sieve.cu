// Primes by a segmented sieve: each block has a segment of odd numbers as bits in shared memory.
#include "program.h"

namespace sieve {

constexpr int kWords = 32, kOdds = 32 * kWords;

// Bit i of segment b is the odd number 2 (b kOdds + i) + 1.
__global__ void segment(const unsigned short* primes, int count, unsigned limit, unsigned* found,
                        int mistake) {
  __shared__ unsigned composite[kWords];
  if (threadIdx.x < kWords) composite[threadIdx.x] = 0;
  __syncthreads();
  const unsigned first = blockIdx.x * kOdds;
  for (int k = threadIdx.x; k < count; k += blockDim.x) {
    const unsigned p = primes[k], square = (p * p - 1) / 2;
    unsigned i = square >= first ? square - first : (p - (first - square) % p) % p;
    for (; i < kOdds; i += p) {
      if (mistake == 1)
        composite[i / 32] |= 1u << i % 32;
      else
        atomicOr(&composite[i / 32], 1u << i % 32);
    }
  }
  __syncthreads();
  if (threadIdx.x >= kWords) return;
  unsigned bits = ~composite[threadIdx.x];
  const unsigned begin = first + 32 * threadIdx.x,
                 odds = (limit + 1) / 2;  // odd numbers up to the limit
  if (begin >= odds)
    bits = 0;
  else if (odds - begin < 32 && mistake != 2)
    bits &= (1u << (odds - begin)) - 1;
  const int sum = __reduce_add_sync(0xffffffff, __popc(bits));
  if (threadIdx.x == 0) atomicAdd(found, sum);
}

PROGRAM(sieve, 2) {
  const unsigned limit = 10000;
  std::vector<unsigned short> primes;
  for (int n = 3; n <= 100; n += 2) {
    bool prime = true;
    for (const int p : primes) prime &= n % p != 0;
    if (prime) primes.push_back(static_cast<unsigned short>(n));
  }
  Buffer<unsigned short> d_primes(primes);
  Buffer<unsigned> found(1);
  found.zero();
  segment<<<divide_up((limit + 1) / 2, kOdds), 64>>>(d_primes, static_cast<int>(primes.size()),
                                                     limit, found, mistake);
  const unsigned count = found.host()[0];  // the bit of 1 is set and counts for the prime 2
  return verdict(count == 1229, "%u primes up to %u, 1229 expected", count, limit);
}

}  // namespace sieve
