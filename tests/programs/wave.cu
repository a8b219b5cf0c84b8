// A wave on a string, in place: the new height replaces the second last. Integers, so that the
// simulation reverses exactly.
#include "program.h"

namespace wave {

// next[i] = 2 now[i] - before[i] + c (now[i-1] - 2 now[i] + now[i+1]), with c = 1/2 rounded down:
// still reversible.
__global__ void step(const long long* now, long long* before, int n, int mistake) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x + 1;
  if (i > n - 2) return;
  const long long* neighbours = mistake == 1 ? before : now;
  const long long bend = neighbours[i - 1] - 2 * now[i] + neighbours[i + 1];
  before[i] = 2 * now[i] - before[i] + (bend >> 1);
}

PROGRAM(wave, 1) {
  const int n = 1001, steps = 20;
  std::vector<long long> start(n, 0);
  for (int i = 400; i < 600; ++i) start[i] = 1000 - 10 * std::abs(i - 500);
  Buffer<long long> now(start), before(start);
  for (int s = 0; s < steps; ++s) {
    step<<<divide_up(n - 2, 96), 96>>>(now, before, n, mistake);
    now.swap(before);
  }
  const std::vector<long long> there = now.host();
  now.swap(before);  // backwards in time
  for (int s = 0; s < steps; ++s) {
    step<<<divide_up(n - 2, 96), 96>>>(now, before, n, mistake);
    now.swap(before);
  }
  std::vector<long long> a = start, b = start;
  for (int s = 0; s < steps; ++s) {
    for (int i = 1; i < n - 1; ++i)
      b[i] = 2 * a[i] - b[i] + ((a[i - 1] + a[i + 1] - 2 * a[i]) >> 1);
    a.swap(b);
  }
  const bool back = now.host() == start;
  return verdict(back && there == a && a != start, "%s, and %s after time was turned",
                 there == a ? "as expected" : "wrong", back ? "back at the start" : "elsewhere");
}

}  // namespace wave
