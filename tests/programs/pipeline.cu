// Pieces of work in two streams ordered by events, with pinned memory; then the last piece as a
// captured graph.
#include "program.h"

namespace pipeline {

__global__ void fill(int* a, int n, int seed) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) a[i] = seed * 31 + i;
}

__global__ void square(const int* a, long long* b, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) b[i] = static_cast<long long>(a[i]) * a[i];
}

__global__ void add(const long long* b, int n, unsigned long long* sum) {
  unsigned long long mine = 0;
  for (int i = threadIdx.x; i < n; i += blockDim.x) mine += b[i];
  for (int d = 16; d > 0; d >>= 1) mine += __shfl_down_sync(~0u, mine, d);
  if (threadIdx.x % 32 == 0) atomicAdd(sum, mine);
}

PROGRAM(pipeline, 2) {
  const int n = 700, pieces = 4;
  cudaStream_t streams[2];
  cudaEvent_t filled, summed;
  for (cudaStream_t& s : streams) CUDA(cudaStreamCreateWithFlags(&s, cudaStreamNonBlocking));
  CUDA(cudaEventCreateWithFlags(&filled, cudaEventDisableTiming));
  CUDA(cudaEventCreateWithFlags(&summed, cudaEventDisableTiming));
  int* a;
  long long* b;
  unsigned long long *sums, *host;
  CUDA(cudaMalloc(&a, n * sizeof(int)));
  CUDA(cudaMallocAsync(&b, n * sizeof(long long), streams[1]));
  CUDA(cudaMalloc(&sums, pieces * sizeof *sums));
  CUDA(cudaMallocHost(&host, pieces * sizeof *host));
  CUDA(cudaMemsetAsync(sums, 0, pieces * sizeof *sums, streams[0]));
  for (int p = 0; p < pieces; ++p) {
    fill<<<divide_up(n, 128), 128, 0, streams[0]>>>(a, mistake == 1 ? n - 1 : n, p);
    CUDA(cudaEventRecord(filled, streams[0]));
    CUDA(cudaStreamWaitEvent(streams[1], filled, 0));
    if (mistake == 2 && p == pieces - 1) CUDA(cudaFreeAsync(b, streams[1]));
    square<<<divide_up(n, 64), 64, 0, streams[1]>>>(a, b, n);
    add<<<1, 96, 0, streams[1]>>>(b, n, sums + p);
    CUDA(cudaEventRecord(summed, streams[1]));
    CUDA(cudaStreamWaitEvent(streams[0], summed, 0));
  }
  CUDA(cudaMemcpyAsync(host, sums, pieces * sizeof *host, cudaMemcpyDeviceToHost, streams[1]));
  CUDA(cudaStreamSynchronize(streams[1]));
  int wrong = 0;
  for (int p = 0; p < pieces; ++p) {
    unsigned long long expected = 0;
    for (long long i = 0; i < n; ++i) expected += (p * 31 + i) * (p * 31 + i);
    wrong += host[p] != expected;
  }

  // Launches the last piece as a graph three times: each launch adds the same amount.
  const unsigned long long once = host[pieces - 1];
  cudaGraph_t graph;
  cudaGraphExec_t run;
  CUDA(cudaStreamBeginCapture(streams[1], cudaStreamCaptureModeGlobal));
  square<<<divide_up(n, 64), 64, 0, streams[1]>>>(a, b, n);
  add<<<1, 96, 0, streams[1]>>>(b, n, sums + pieces - 1);
  CUDA(cudaStreamEndCapture(streams[1], &graph));
  CUDA(cudaGraphInstantiate(&run, graph, 0));
  for (int i = 0; i < 3; ++i) CUDA(cudaGraphLaunch(run, streams[1]));
  CUDA(cudaMemcpyAsync(host, sums, pieces * sizeof *host, cudaMemcpyDeviceToHost, streams[1]));
  CUDA(cudaStreamSynchronize(streams[1]));
  wrong += host[pieces - 1] != 4 * once;
  CUDA(cudaGraphExecDestroy(run));
  CUDA(cudaGraphDestroy(graph));
  CUDA(cudaFreeAsync(b, streams[1]));
  CUDA(cudaFree(a));
  CUDA(cudaFree(sums));
  CUDA(cudaFreeHost(host));
  for (const cudaStream_t s : streams) CUDA(cudaStreamDestroy(s));
  CUDA(cudaEventDestroy(filled));
  CUDA(cudaEventDestroy(summed));
  return verdict(wrong == 0, "%d wrong, %llu in a piece", wrong, once);
}

}  // namespace pipeline
