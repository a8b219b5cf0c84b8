// Prefix sums with cub: of a block, and of the whole device.
#include <cub/block/block_scan.cuh>
#include <cub/device/device_scan.cuh>

#include <vector>

#include "check.h"

__global__ void scan_block(const int* from, int* to) {
  using Scan = cub::BlockScan<int, 128>;
  __shared__ typename Scan::TempStorage storage;
  int prefix;
  Scan(storage).InclusiveSum(from[threadIdx.x], prefix);
  to[threadIdx.x] = prefix;
}

int main() {
  constexpr int n = 5000;
  std::vector<int> host(n), result(n);
  for (int i = 0; i < n; ++i) host[i] = i % 7;
  int *from, *to;
  CUDA(cudaMalloc(&from, n * sizeof(int)));
  CUDA(cudaMalloc(&to, n * sizeof(int)));
  CUDA(cudaMemcpy(from, host.data(), n * sizeof(int), cudaMemcpyHostToDevice));

  scan_block<<<1, 128>>>(from, to);
  CUDA(cudaMemcpy(result.data(), to, 128 * sizeof(int), cudaMemcpyDeviceToHost));
  for (int i = 0, sum = 0; i < 128; ++i) EXPECT(result[i] == (sum += host[i]));

  void* scratch = nullptr;
  size_t bytes = 0;
  CUDA(cub::DeviceScan::ExclusiveSum(scratch, bytes, from, to, n));
  CUDA(cudaMalloc(&scratch, bytes));
  CUDA(cub::DeviceScan::ExclusiveSum(scratch, bytes, from, to, n));
  CUDA(cudaMemcpy(result.data(), to, n * sizeof(int), cudaMemcpyDeviceToHost));
  for (int i = 0, sum = 0; i < n; sum += host[i++]) EXPECT(result[i] == sum);
  CUDA(cudaFree(scratch));
  std::printf("PASSED\n");
}
