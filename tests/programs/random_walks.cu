// Random walks on a ring. Visits of each position are counted in 64 bits, and in 16-bit counters
// packed into words.
#include "program.h"

namespace random_walks {

__host__ __device__ unsigned next(unsigned& s) { return s = s * 1664525u + 1013904223u; }

__global__ void walk(int walkers, int steps, int ring, unsigned long long* visits, unsigned* packed,
                     short* last, int mistake) {
  const int w = blockIdx.x * blockDim.x + threadIdx.x;
  if (w >= walkers) return;
  unsigned state = w * 747796405u + 1;
  int place = w % ring;
  for (int i = 0; i < steps; ++i) {
    const int step = static_cast<int>(next(state) >> 29) - 4;  // -4 .. 3
    place = mistake == 1 ? (place + step) % ring : (place + step + ring) % ring;
    atomicAdd(&visits[place], 1ull);
    if (mistake == 2)
      reinterpret_cast<unsigned short*>(packed)[place] += 1;
    else
      atomicAdd(&packed[place / 2], place % 2 ? 0x10000u : 1u);
  }
  last[w] = static_cast<short>(place);
}

PROGRAM(random_walks, 2) {
  const int walkers = 333, steps = 50, ring = 47;
  Buffer<unsigned long long> visits(ring);
  Buffer<unsigned> packed((ring + 1) / 2);
  Buffer<short> last(walkers);
  visits.zero(), packed.zero();
  walk<<<divide_up(walkers, 96), 96>>>(walkers, steps, ring, visits, packed, last, mistake);
  const std::vector<unsigned long long> got = visits.host();
  const std::vector<unsigned> pairs = packed.host();
  const std::vector<short> ends = last.host();
  std::vector<unsigned long long> expected(ring, 0);
  int wrong = 0;
  for (int w = 0; w < walkers; ++w) {
    unsigned state = w * 747796405u + 1;
    long long sum = w;  // reduced only when it is compared
    for (int i = 0; i < steps; ++i)
      sum += static_cast<int>(next(state) >> 29) - 4, ++expected[(sum % ring + ring) % ring];
    wrong += ends[w] != (sum % ring + ring) % ring;
  }
  for (int p = 0; p < ring; ++p)
    wrong += (got[p] != expected[p]) + ((pairs[p / 2] >> 16 * (p % 2) & 0xffff) != expected[p]);
  return verdict(wrong == 0, "%d wrong, %llu visits to the first place", wrong, got[0]);
}

}  // namespace random_walks
