// A graph captured from a stream and launched many times, a graph of the same kernels built node
// by node, and a graph with a host function.
#include <unistd.h>

#include "check.h"

__global__ void add(int* x, int n, int what) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) x[i] += what;
}

// A launched graph executes without a further call of the program: a host function, then a kernel.
void host_function_without_a_further_call(cudaStream_t stream, int* x) {
  static volatile bool called = false;
  cudaGraph_t graph;
  CUDA(cudaGraphCreate(&graph, 0));
  cudaHostNodeParams host = {};
  host.fn = [](void*) { called = true; };
  cudaGraphNode_t function, addition;
  CUDA(cudaGraphAddHostNode(&function, graph, nullptr, 0, &host));
  int count = 1, what = 0;
  void* arguments[] = {&x, &count, &what};
  cudaKernelNodeParams kernel = {};
  kernel.func = reinterpret_cast<void*>(add);
  kernel.gridDim = kernel.blockDim = dim3(1);
  kernel.kernelParams = arguments;
  CUDA(cudaGraphAddKernelNode(&addition, graph, &function, 1, &kernel));
  cudaGraphExec_t exec;
  CUDA(cudaGraphInstantiate(&exec, graph, 0));
  CUDA(cudaGraphLaunch(exec, stream));
  for (int i = 0; i < 20'000 && !called; ++i) usleep(1000);
  EXPECT(called);
  CUDA(cudaStreamSynchronize(stream));
  CUDA(cudaGraphExecDestroy(exec));
  CUDA(cudaGraphDestroy(graph));
}

int main() {
  constexpr int n = 300, kLaunches = 20;
  int *x, host[n];
  CUDA(cudaMalloc(&x, n * sizeof(int)));
  CUDA(cudaMemset(x, 0, n * sizeof(int)));
  cudaStream_t stream;
  CUDA(cudaStreamCreate(&stream));

  CUDA(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal));
  for (int i = 1; i <= 4; ++i) add<<<3, 128, 0, stream>>>(x, n, i);
  CUDA(cudaMemcpyAsync(host, x, sizeof host, cudaMemcpyDeviceToHost, stream));
  cudaGraph_t graph;
  CUDA(cudaStreamEndCapture(stream, &graph));
  host[0] = -1;
  cudaGraphExec_t exec;
  CUDA(cudaGraphInstantiate(&exec, graph, 0));
  EXPECT(host[0] == -1);
  for (int i = 0; i < kLaunches; ++i) CUDA(cudaGraphLaunch(exec, stream));
  CUDA(cudaStreamSynchronize(stream));
  for (int v : host) EXPECT(v == 10 * kLaunches);
  CUDA(cudaGraphExecDestroy(exec));
  CUDA(cudaGraphDestroy(graph));

  CUDA(cudaGraphCreate(&graph, 0));
  cudaGraphNode_t zero, first, second, back;
  cudaMemsetParams set = {};
  set.dst = x;
  set.elementSize = 4;
  set.width = n;
  set.height = 1;
  set.value = 5;
  CUDA(cudaGraphAddMemsetNode(&zero, graph, nullptr, 0, &set));
  int count = n, what = 7;
  void* arguments[] = {&x, &count, &what};
  cudaKernelNodeParams kernel = {};
  kernel.func = reinterpret_cast<void*>(add);
  kernel.gridDim = dim3(3);
  kernel.blockDim = dim3(128);
  kernel.kernelParams = arguments;
  CUDA(cudaGraphAddKernelNode(&first, graph, &zero, 1, &kernel));
  what = 11;
  CUDA(cudaGraphAddKernelNode(&second, graph, &first, 1, &kernel));
  CUDA(cudaGraphAddMemcpyNode1D(&back, graph, &second, 1, host, x, sizeof host,
                                cudaMemcpyDeviceToHost));
  CUDA(cudaGraphInstantiate(&exec, graph, 0));
  CUDA(cudaGraphLaunch(exec, stream));
  CUDA(cudaStreamSynchronize(stream));
  for (int v : host) EXPECT(v == 5 + 7 + 11);
  what = 100;
  CUDA(cudaGraphExecKernelNodeSetParams(exec, second, &kernel));
  CUDA(cudaGraphLaunch(exec, stream));
  CUDA(cudaStreamSynchronize(stream));
  for (int v : host) EXPECT(v == 5 + 7 + 100);
  CUDA(cudaGraphExecDestroy(exec));
  CUDA(cudaGraphDestroy(graph));
  host_function_without_a_further_call(stream, x);
  CUDA(cudaStreamDestroy(stream));
  std::printf("PASSED\n");
  return 0;
}
