// Pi by random points: each thread has its own xorshift generator; hits are integers.
#include "program.h"

namespace pi {

struct Generator {
  unsigned long long state;
  __host__ __device__ explicit Generator(unsigned seed)
      : state((seed + 1) * 0x9e3779b97f4a7c15ull) {}
  __host__ __device__ unsigned next() {  // the upper half of xorshift64*
    state ^= state >> 12, state ^= state << 25, state ^= state >> 27;
    return static_cast<unsigned>(state * 2685821657736338717ull >> 32);
  }
};

__global__ void darts(int throws, unsigned* hits, int mistake) {
  Generator g(mistake == 1 ? threadIdx.x : blockIdx.x * blockDim.x + threadIdx.x);
  unsigned mine = 0;
  for (int i = 0; i < throws; ++i) {
    const unsigned long long x = g.next(), y = g.next();
    if (mistake == 2 ? static_cast<unsigned>(x * x + y * y) < 0x80000000u
                     : (x * x >> 1) + (y * y >> 1) < 1ull << 63)
      ++mine;
  }
  atomicAdd(hits, mine);
}

PROGRAM(pi, 2) {
  const int blocks = 6, threads = 100, throws = 40;
  Buffer<unsigned> hits(1);
  hits.zero();
  darts<<<blocks, threads>>>(throws, hits, mistake);
  unsigned expected = 0;
  for (int t = 0; t < blocks * threads; ++t) {
    Generator g(t);
    for (int i = 0; i < throws; ++i) {
      const long double x = g.next(),
                        y = g.next();  // 64 bits: the squares are exact, the sum almost
      expected += x * x + y * y < 18446744073709551616.0L;
    }
  }
  const unsigned got = hits.host()[0];
  return verdict(got == expected, "%u hits, %u expected, pi = %g", got, expected,
                 4.0 * got / (blocks * threads * throws));
}

}  // namespace pi
