// Sums of segments of any length: a segmented scan by shuffles within each warp, and atomics for
// segments that span warps.
#include "program.h"

namespace segmented_sum {

__global__ void sum(const int* values, const unsigned short* segment, int n, int* sums,
                    int mistake) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x, lane = threadIdx.x % 32;
  const bool inside = i < n;
  if (mistake == 1 && !inside) return;
  const int mine = inside ? segment[i] : -1;
  int total = inside ? values[i] : 0;
  for (int d = 1; d < 32; d *= 2) {
    const int before = __shfl_up_sync(0xffffffff, total, d),
              whose = __shfl_up_sync(0xffffffff, mine, d);
    if (lane >= d && whose == mine) total += before;
  }
  const int next = __shfl_down_sync(0xffffffff, mine, 1);
  if (inside && (lane == 31 || next != mine)) atomicAdd(&sums[mine], total);
}

PROGRAM(segmented_sum, 2) {
  const int n = 2021, segments = 300;
  std::vector<int> values(n);
  std::vector<unsigned short> segment(n);
  Random random(28);
  for (int i = 0; i < n; ++i)
    values[i] = random.below(2001) - 1000,
    segment[i] =
        static_cast<unsigned short>(i == 0            ? 0
                                    : random.below(7) ? segment[i - 1]
                                                      : std::min(segments - 1, segment[i - 1] + 1));
  Buffer<int> d_values(values), sums(segments);
  Buffer<unsigned short> d_segment(segment);
  if (mistake != 2) sums.zero();
  sum<<<divide_up(n, 128), 128>>>(d_values, d_segment, n, sums, mistake);
  std::vector<int> expected(segments, 0);
  for (int i = 0; i < n; ++i) expected[segment[i]] += values[i];
  const std::vector<int> got = sums.host();
  int wrong = 0;
  for (int s = 0; s < segments; ++s) wrong += got[s] != expected[s];
  return verdict(wrong == 0, "%d of %d wrong, the last segment %d", wrong, segments,
                 segment[n - 1]);
}

}  // namespace segmented_sum
