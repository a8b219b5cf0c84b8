// Run-length coding of bytes: ballots count the starts of runs, a block scan positions
// them.
#include "program.h"

namespace run_lengths {

constexpr int kBlock = 1024;

// One block processes the text. starts[r]: the begin of run r. *runs: the number of runs.
__global__ void find_starts(const unsigned char* text, int n, int* starts, int* runs, int mistake) {
  __shared__ int before_warp[kBlock / 32], carry;
  if (threadIdx.x == 0) carry = 0;
  for (int first = 0; first < n; first += kBlock) {
    const int i = first + threadIdx.x, lane = threadIdx.x % 32, warp = threadIdx.x / 32;
    const bool start = i < n && (i == 0 || text[i] != text[i - 1]);
    const unsigned votes = __ballot_sync(~0u, start);
    if (lane == 0) before_warp[warp] = __popc(votes);
    const int in_block = i < n || mistake != 2 ? __syncthreads_count(start) : 0, base = carry;
    if (warp == 0) {
      int sum = before_warp[lane];
      const int mine = sum;
      for (int d = 1; d < 32; d *= 2) {
        const int other = __shfl_up_sync(~0u, sum, d);
        sum += lane >= d ? other : 0;
      }
      before_warp[lane] = sum - mine;
    }
    __syncthreads();
    if (start) starts[base + before_warp[warp] + __popc(votes & ((1u << lane) - 1))] = i;
    if (threadIdx.x == 0) carry = base + in_block;
    __syncthreads();
  }
  if (threadIdx.x == 0) *runs = carry;
}

__global__ void write_runs(const unsigned char* text, int n, const int* starts, const int* runs,
                           uchar2* out, int mistake) {
  for (int r = blockIdx.x * blockDim.x + threadIdx.x; r < *runs; r += gridDim.x * blockDim.x) {
    const int end = r + 1 < *runs || mistake == 1 ? starts[r + 1] : n;
    out[r] = make_uchar2(text[starts[r]], static_cast<unsigned char>(end - starts[r]));
  }
}

PROGRAM(run_lengths, 2) {
  const int n = 2700;
  std::vector<unsigned char> text;
  Random random(31);
  while (text.size() < n)
    text.insert(text.end(), 1 + random.below(9) * random.below(9),
                static_cast<unsigned char>('a' + random.below(3)));
  text.resize(n);
  for (int i = 200; i < n; i += 200) text[i] = '#';  // no run is longer than 199
  Buffer<unsigned char> d_text(text);
  Buffer<int> starts(n), runs(1);
  Buffer<uchar2> out(n);
  find_starts<<<1, kBlock>>>(d_text, n, starts, runs, mistake);
  write_runs<<<4, 64>>>(d_text, n, starts, runs, out, mistake);
  const int count = runs.host()[0];
  std::vector<uchar2> coded(count);
  CUDA(cudaMemcpy(coded.data(), out, count * sizeof(uchar2), cudaMemcpyDeviceToHost));
  std::vector<unsigned char> back;
  bool longest = true;  // neighbouring runs differ
  for (int r = 0; r < count; ++r) {
    back.insert(back.end(), coded[r].y, coded[r].x);
    longest &= r == 0 || coded[r].x != coded[r - 1].x;
  }
  return verdict(back == text && longest, "%d runs, %zu of %d bytes back", count, back.size(), n);
}

}  // namespace run_lengths
