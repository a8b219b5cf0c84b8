// Not named *_test.cc: such files include GoogleTest (.bazelrc), which this test does not need.
//
// On the simulated GPU this is a real test of the kernel. As a test for silicon it passes with and
// without a GPU, which no other test may: only the cache key then keeps its result from machines
// without that GPU.
#include "sample.h"

#include <cuda_runtime_api.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>

namespace {

bool doubles_on_the_device() {
  constexpr int kCount = 1000;
  float host[kCount], *device = nullptr;
  for (int i = 0; i < kCount; ++i) host[i] = static_cast<float>(i);
  if (cudaMalloc(reinterpret_cast<void**>(&device), sizeof host) != cudaSuccess) return false;
  cudaMemcpy(device, host, sizeof host, cudaMemcpyHostToDevice);
  double_each(device, kCount);
  cudaMemcpy(host, device, sizeof host, cudaMemcpyDeviceToHost);
  cudaFree(device);
  for (int i = 0; i < kCount; ++i) {
    if (host[i] != 2.0f * i) return false;
  }
  return true;
}

}  // namespace

int main() {
  if (const char* const status = std::getenv("TEST_SHARD_STATUS_FILE"))
    std::ofstream(status).put('\n');
  // Without this file Bazel creates one in a further action.
  if (const char* const report = std::getenv("XML_OUTPUT_FILE"))
    std::ofstream(report) << "<testsuites/>\n";
  const char* const gpu = std::getenv("LOCKSTEP_GPU");
  if (gpu == nullptr) return 2;
  if (std::strcmp(gpu, "simulated") == 0) return doubles_on_the_device() ? 0 : 1;
  std::printf("ran where the GPU is: %s\n", std::getenv("LOCKSTEP_GPU_IDENTITY"));
  return 0;
}
