// Copies and kernels in several streams, ordered by events; a host function at the end of each.
#include "check.h"

__global__ void scale(int* x, int n, int by) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) x[i] *= by;
}

void CUDART_CB count(void* counter) { ++*static_cast<int*>(counter); }

int main() {
  constexpr int kStreams = 4, kPart = 1000, n = kStreams * kPart;
  int *host, *device, done = 0;
  CUDA(cudaHostAlloc(&host, n * sizeof(int), cudaHostAllocDefault));
  CUDA(cudaMalloc(&device, n * sizeof(int)));
  for (int i = 0; i < n; ++i) host[i] = i;
  cudaStream_t streams[kStreams];
  cudaEvent_t begin, end;
  CUDA(cudaEventCreate(&begin));
  CUDA(cudaEventCreate(&end));
  for (auto& s : streams) CUDA(cudaStreamCreateWithFlags(&s, cudaStreamNonBlocking));
  CUDA(cudaEventRecord(begin, streams[0]));
  for (int i = 0; i < kStreams; ++i) {
    int* part = device + i * kPart;
    CUDA(cudaStreamWaitEvent(streams[i], begin));
    CUDA(cudaMemcpyAsync(part, host + i * kPart, kPart * sizeof(int), cudaMemcpyHostToDevice,
                         streams[i]));
    scale<<<(kPart + 127) / 128, 128, 0, streams[i]>>>(part, kPart, i + 2);
    CUDA(cudaMemcpyAsync(host + i * kPart, part, kPart * sizeof(int), cudaMemcpyDeviceToHost,
                         streams[i]));
    CUDA(cudaLaunchHostFunc(streams[i], count, &done));
    CUDA(cudaStreamSynchronize(streams[i]));
  }
  CUDA(cudaEventRecord(end, streams[kStreams - 1]));
  CUDA(cudaEventSynchronize(end));
  float ms = -1;
  CUDA(cudaEventElapsedTime(&ms, begin, end));
  EXPECT(ms > 0);
  EXPECT(done == kStreams);
  for (int i = 0; i < n; ++i) EXPECT(host[i] == i * (i / kPart + 2));
  for (auto& s : streams) CUDA(cudaStreamDestroy(s));
  CUDA(cudaFree(device));
  CUDA(cudaFreeHost(host));
  std::printf("PASSED\n");
  return 0;
}
