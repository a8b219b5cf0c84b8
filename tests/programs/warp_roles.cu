// A pipeline of warps in a block: one warp fills slots of a ring, other warps use them; named
// barriers synchronise them.
#include "program.h"

namespace warp_roles {

constexpr int kSlots = 2, kUsers = 2, kThreads = 32 * (kUsers + 1);

__device__ void wait(int barrier) {
  asm volatile("bar.sync %0, %1;" ::"r"(barrier), "r"(kThreads) : "memory");
}
__device__ void arrive(int barrier) {
  asm volatile("bar.arrive %0, %1;" ::"r"(barrier), "r"(kThreads) : "memory");
}

// Barriers 1 and 2: the slot is full. Barriers 3 and 4: the slot is empty.
__global__ void run(const unsigned* in, int batches, unsigned long long* out, int mistake) {
  __shared__ unsigned ring[kSlots][32 * kUsers];
  const int warp = threadIdx.x / 32, lane = threadIdx.x % 32;
  const unsigned* mine = in + static_cast<size_t>(blockIdx.x) * batches * 32 * kUsers;
  if (warp == kUsers) {
    for (int b = 0; b < batches; ++b) {
      if (b >= kSlots && mistake != 1) wait(3 + b % kSlots);
      for (int u = 0; u < kUsers; ++u)
        ring[b % kSlots][32 * u + lane] = mine[(b * kUsers + u) * 32 + lane];
      arrive(1 + b % kSlots);
    }
    return;
  }
  unsigned long long sum = 0;
  for (int b = 0; b < batches; ++b) {
    wait(1 + b % kSlots);
    sum = sum * 3 + ring[b % kSlots][32 * warp + lane];
    if (mistake == 2 ? b + kSlots <= batches : b + kSlots < batches) arrive(3 + b % kSlots);
  }
  out[(blockIdx.x * kUsers + warp) * 32 + lane] = sum;
}

PROGRAM(warp_roles, 1) {
  const int blocks = 3, batches = 9, n = blocks * 32 * kUsers;
  std::vector<unsigned> in(n * batches);
  Random random(125);
  for (unsigned& v : in) v = random();
  Buffer<unsigned> d_in(in);
  Buffer<unsigned long long> out(n);
  run<<<blocks, kThreads>>>(d_in, batches, out, mistake);
  const std::vector<unsigned long long> got = out.host();
  int wrong = 0;
  for (int i = 0; i < n; ++i) {
    unsigned long long sum = 0;
    for (int b = 0; b < batches; ++b)
      sum = sum * 3 + in[(i / (32 * kUsers) * batches + b) * 32 * kUsers + i % (32 * kUsers)];
    wrong += got[i] != sum;
  }
  return verdict(wrong == 0, "%d of %d wrong", wrong, n);
}

}  // namespace warp_roles
