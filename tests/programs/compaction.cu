// Stream compaction: a ballot counts within a warp, and one atomicAdd reserves space for it. The
// order of warps is unspecified.
#include "program.h"

namespace compaction {

__global__ void keep_odd(const unsigned char* from, int n, unsigned char* to, int* size,
                         int mistake) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x, lane = threadIdx.x % 32;
  const unsigned char value = i < n || mistake == 2 ? from[i] : 0;
  const unsigned kept = __ballot_sync(0xffffffff, value & 1);
  int first = 0;
  if (lane == 0) {
    if (mistake == 1)
      first = *size, *size += __popc(kept);
    else
      first = atomicAdd(size, __popc(kept));
  }
  first = __shfl_sync(0xffffffff, first, 0);
  if (value & 1) to[first + __popc(kept & ((1u << lane) - 1))] = value;
}

PROGRAM(compaction, 2) {
  const int n = 3001;
  std::vector<unsigned char> from(n), expected;
  Random random(27);
  for (unsigned char& f : from) f = random() >> 9;
  Buffer<unsigned char> d_from(from), to(n);
  Buffer<int> size(1);
  size.zero();
  keep_odd<<<divide_up(n, 160), 160>>>(d_from, n, to, size, mistake);
  for (const unsigned char f : from)
    if (f % 2) expected.push_back(f);
  const int kept = size.host()[0];
  std::vector<unsigned char> got(std::min(std::max(kept, 0), n));
  CUDA(cudaMemcpy(got.data(), to, got.size(), cudaMemcpyDeviceToHost));
  std::sort(expected.begin(), expected.end());
  std::sort(got.begin(), got.end());
  return verdict(got == expected, "%d kept, %zu expected", kept, expected.size());
}

}  // namespace compaction
