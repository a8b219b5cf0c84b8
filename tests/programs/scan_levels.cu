// Prefix sums of 64-bit integers over three levels: Blelloch's up and down sweeps in each block,
// then a scan of the blocks' sums.
#include "program.h"

namespace scan_levels {

constexpr int kBlock = 64;

__global__ void scan_blocks(long long* data, long long* sums, int n, int mistake) {
  __shared__ long long tree[kBlock];
  const int t = threadIdx.x, i = blockIdx.x * kBlock + t;
  tree[t] = i < n ? data[i] : 0;
  for (int d = 1; d < kBlock; d *= 2) {
    __syncthreads();
    if (t % (2 * d) == 2 * d - 1) tree[t] += tree[t - d];
  }
  if (t == kBlock - 1) {
    sums[blockIdx.x] = tree[t];
    if (mistake != 2) tree[t] = 0;
  }
  for (int d = kBlock / 2; d > 0; d /= 2) {
    if (mistake != 3 || d < 16) __syncthreads();
    if (t % (2 * d) == 2 * d - 1) {
      const long long left = tree[t - d];
      tree[t - d] = tree[t];
      tree[t] += left;
    }
  }
  __syncthreads();
  if (i < n) data[i] = tree[t];
}

__global__ void add_sums(long long* data, const long long* sums, int n, int mistake) {
  const int i = blockIdx.x * kBlock + threadIdx.x;
  if (i < n)
    data[i] += sums[mistake == 1 && i % kBlock == 0 && i > 0 ? blockIdx.x - 1 : blockIdx.x];
}

void scan(long long* data, int n, int mistake) {
  const int blocks = divide_up(n, kBlock);
  long long* sums;
  CUDA(cudaMalloc(&sums, blocks * sizeof(long long)));
  scan_blocks<<<blocks, kBlock>>>(data, sums, n, mistake);
  if (blocks > 1) {
    scan(sums, blocks, mistake);
    add_sums<<<blocks, kBlock>>>(data, sums, n, mistake);
  }
  CUDA(cudaFree(sums));
}

PROGRAM(scan_levels, 3) {
  const int n = 4500;
  std::vector<long long> data(n);
  Random random(25);
  for (long long& d : data) d = (static_cast<long long>(random()) << 20) - (1ll << 51);
  Buffer<long long> d_data(data);
  scan(d_data, n, mistake);
  const std::vector<long long> got = d_data.host();
  int wrong = got[0] != 0;
  for (int i = 1; i < n; ++i) wrong += got[i] - got[i - 1] != data[i - 1];
  return verdict(wrong == 0, "%d of %d wrong", wrong, n);
}

}  // namespace scan_levels
