// One kernel on every device, each with its own memory, stream and variables; copies results
// between devices.
#include <vector>

#include "check.h"

__device__ int launches;

__global__ void add(int* x, int n, int what) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) x[i] += what;
  if (i == 0) ++launches;
}

int main() {
  constexpr int n = 1000;
  int count = 0;
  CUDA(cudaGetDeviceCount(&count));
  std::vector<int*> memory(count);
  std::vector<cudaStream_t> streams(count);
  for (int d = 0; d < count; ++d) {
    CUDA(cudaSetDevice(d));
    CUDA(cudaMalloc(&memory[d], n * sizeof(int)));
    CUDA(cudaStreamCreate(&streams[d]));
  }
  CUDA(cudaSetDevice(0));
  CUDA(cudaMemset(memory[0], 0, n * sizeof(int)));
  for (int d = 0; d < count; ++d) {
    CUDA(cudaSetDevice(d));
    if (d > 0) {
      int can = 0;
      CUDA(cudaDeviceCanAccessPeer(&can, d, d - 1));
      EXPECT(can == 1);
      CUDA(cudaDeviceEnablePeerAccess(d - 1, 0));
      CUDA(cudaMemcpyPeerAsync(memory[d], d, memory[d - 1], d - 1, n * sizeof(int), streams[d]));
    }
    add<<<(n + 255) / 256, 256, 0, streams[d]>>>(memory[d], n, d + 1);
    CUDA(cudaStreamSynchronize(streams[d]));
    int own = 0;
    CUDA(cudaMemcpyFromSymbol(&own, launches, sizeof own));
    EXPECT(own == 1);
  }
  cudaPointerAttributes attributes;
  CUDA(cudaPointerGetAttributes(&attributes, memory[count - 1]));
  EXPECT(attributes.device == count - 1);
  std::vector<int> host(n);
  CUDA(cudaMemcpy(host.data(), memory[count - 1], n * sizeof(int), cudaMemcpyDefault));
  for (int v : host) EXPECT(v == count * (count + 1) / 2);
  if (count > 1) {
    CUDA(cudaSetDevice(0));
    add<<<1, 1, 0, streams[1]>>>(memory[0], n, 1);
    EXPECT(cudaGetLastError() == cudaErrorInvalidResourceHandle);  // a stream of another device
  }
  std::printf("%d devices\nPASSED\n", count);
  return 0;
}
