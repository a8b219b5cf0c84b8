// A cooperative launch: all blocks of the kernel synchronise.
#include <cooperative_groups.h>

#include "check.h"

namespace cg = cooperative_groups;

__global__ void rotate(int* x, int n, int rounds) {
  const cg::grid_group grid = cg::this_grid();
  const int i = static_cast<int>(grid.thread_rank());
  for (int r = 0; r < rounds; ++r) {
    const int next = i < n ? x[(i + 1) % n] : 0;
    grid.sync();
    if (i < n) x[i] = next;
    grid.sync();
  }
}

int main() {
  int device = 0, cooperative = 0;
  CUDA(cudaGetDevice(&device));
  CUDA(cudaDeviceGetAttribute(&cooperative, cudaDevAttrCooperativeLaunch, device));
  EXPECT(cooperative == 1);
  int blocks = 0;
  CUDA(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, rotate, 64, 0));
  EXPECT(blocks > 0);
  int n = 250, rounds = 5, *x, host[250];
  for (int i = 0; i < n; ++i) host[i] = i;
  CUDA(cudaMalloc(&x, sizeof host));
  CUDA(cudaMemcpy(x, host, sizeof host, cudaMemcpyHostToDevice));
  void* arguments[] = {&x, &n, &rounds};
  CUDA(cudaLaunchCooperativeKernel(rotate, dim3(4), dim3(64), arguments));
  CUDA(cudaMemcpy(host, x, sizeof host, cudaMemcpyDeviceToHost));
  for (int i = 0; i < n; ++i) EXPECT(host[i] == (i + rounds) % n);
  std::printf("PASSED\n");
  return 0;
}
