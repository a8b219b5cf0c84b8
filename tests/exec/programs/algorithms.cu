// The libraries of algorithms that come with the toolkit: sorting and summing with thrust, prefix sums of a block and of the device with cub.
#include <thrust/device_vector.h>
#include <thrust/host_vector.h>
#include <thrust/reduce.h>
#include <thrust/sort.h>

#include <algorithm>
#include <cub/block/block_scan.cuh>
#include <cub/device/device_scan.cuh>
#include <vector>

#include "check.h"

static void sort_and_sum() {
  thrust::host_vector<int> host(3000);
  unsigned state = 12345;
  for (int& v : host) v = static_cast<int>((state = state * 1664525u + 1013904223u) >> 12);
  thrust::device_vector<int> device = host;
  long long expected = 0;
  for (int v : host) expected += v;
  EXPECT(thrust::reduce(device.begin(), device.end(), 0ll) == expected);
  thrust::sort(device.begin(), device.end());
  thrust::host_vector<int> sorted = device;
  std::sort(host.begin(), host.end());
  EXPECT(sorted == host);
}

__global__ void scan_block(const int* from, int* to) {
  using Scan = cub::BlockScan<int, 128>;
  __shared__ typename Scan::TempStorage storage;
  int prefix;
  Scan(storage).InclusiveSum(from[threadIdx.x], prefix);
  to[threadIdx.x] = prefix;
}

static void scan() {
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
}

int main() {
  sort_and_sum();
  scan();
  std::printf("PASSED\n");
}
