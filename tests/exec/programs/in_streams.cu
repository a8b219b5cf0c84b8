// Streams, events and a graph. With the argument `needed` each wait, event and edge orders two
// operations on common bytes, and results are checked. Without it no operation needs the order.
#include <cstring>

#include "check.h"

constexpr int kN = 32;
constexpr std::size_t kBytes = kN * sizeof(int);

__global__ void fill(int* x, int value) { x[threadIdx.x] = value; }
__global__ void copy(const int* x, int* y) { y[threadIdx.x] = x[threadIdx.x]; }

bool needed = false;
cudaStream_t a, b;
cudaEvent_t event;

// cudaFree waits for all work.
void wait_for_all_work() {
  int* all = nullptr;
  CUDA(cudaMalloc(&all, sizeof *all));
  CUDA(cudaFree(all));
}

struct Buffers {
  int *x = nullptr, *y = nullptr, *seen = nullptr;
  Buffers() {
    CUDA(cudaMalloc(&x, kBytes));
    CUDA(cudaMalloc(&y, kBytes));
    CUDA(cudaHostAlloc(&seen, kBytes, cudaHostAllocDefault));
    CUDA(cudaMemset(x, 0, kBytes));
    CUDA(cudaMemset(y, 0, kBytes));
    wait_for_all_work();
    for (int i = 0; i < kN; ++i) seen[i] = 0;
  }
  ~Buffers() {
    CUDA(cudaFree(x));
    CUDA(cudaFree(y));
    CUDA(cudaFreeHost(seen));
  }
  // The input of an operation; another array if the order is not needed.
  int* source() const { return needed ? x : y; }
  void expect(const int* host, int value) const {
    for (int i = 0; needed && i < kN; ++i) EXPECT(host[i] == value);
  }
};

void wait_for_a_stream() {
  Buffers m;
  fill<<<1, kN, 0, a>>>(m.x, 1);
  CUDA(cudaMemcpyAsync(m.seen, m.source(), kBytes, cudaMemcpyDeviceToHost, a));
  CUDA(cudaStreamSynchronize(a));
  m.expect(m.seen, 1);
}

void wait_for_an_event() {
  Buffers m;
  fill<<<1, kN, 0, a>>>(m.x, 2);
  CUDA(cudaMemcpyAsync(m.seen, m.source(), kBytes, cudaMemcpyDeviceToHost, a));
  CUDA(cudaEventRecord(event, a));
  CUDA(cudaEventSynchronize(event));
  m.expect(m.seen, 2);
}

void wait_for_the_device() {
  Buffers m;
  fill<<<1, kN, 0, a>>>(m.x, 3);
  CUDA(cudaMemcpyAsync(m.seen, m.source(), kBytes, cudaMemcpyDeviceToHost, a));
  CUDA(cudaDeviceSynchronize());
  m.expect(m.seen, 3);
}

void stream_waits_for_an_event() {
  Buffers m;
  fill<<<1, kN, 0, a>>>(m.x, 4);
  CUDA(cudaEventRecord(event, a));
  CUDA(cudaStreamWaitEvent(b, event));
  copy<<<1, kN, 0, b>>>(m.source(), m.seen);
  CUDA(cudaStreamSynchronize(b));
  m.expect(m.seen, 4);
}

void run(cudaGraph_t graph) {
  cudaGraphExec_t exec;
  CUDA(cudaGraphInstantiate(&exec, graph, 0));
  CUDA(cudaGraphLaunch(exec, a));
  wait_for_all_work();
  CUDA(cudaGraphExecDestroy(exec));
  CUDA(cudaGraphDestroy(graph));
}

void captured_streams() {
  Buffers m;
  cudaGraph_t graph;
  CUDA(cudaStreamBeginCapture(a, cudaStreamCaptureModeThreadLocal));
  CUDA(cudaEventRecord(event, a));
  CUDA(cudaStreamWaitEvent(b, event));
  fill<<<1, kN, 0, b>>>(m.x, 5);
  CUDA(cudaEventRecord(event, b));
  CUDA(cudaStreamWaitEvent(a, event));
  copy<<<1, kN, 0, a>>>(m.source(), m.seen);
  CUDA(cudaStreamEndCapture(a, &graph));
  run(graph);
  m.expect(m.seen, 5);
}

cudaGraphNode_t add(cudaGraph_t graph, void* kernel, void** arguments, const cudaGraphNode_t* after,
                    std::size_t count) {
  cudaKernelNodeParams p{};
  p.func = kernel;
  p.gridDim = 1;
  p.blockDim = kN;
  p.kernelParams = arguments;
  cudaGraphNode_t node;
  CUDA(cudaGraphAddKernelNode(&node, graph, after, count, &p));
  return node;
}

void edges_of_a_graph() {
  Buffers m;
  int value = 6;
  const int* from = m.source();
  void *fills[] = {&m.x, &value}, *copies[] = {&from, &m.seen};
  for (const bool later : {false, true}) {
    cudaGraph_t graph;
    CUDA(cudaGraphCreate(&graph, 0));
    cudaGraphNode_t first = add(graph, reinterpret_cast<void*>(fill), fills, nullptr, 0);
    if (later) {
      cudaGraphNode_t second = add(graph, reinterpret_cast<void*>(copy), copies, nullptr, 0);
      CUDA(cudaGraphAddDependencies(graph, &first, &second, nullptr, 1));
    } else {
      add(graph, reinterpret_cast<void*>(copy), copies, &first, 1);
    }
    run(graph);
    m.expect(m.seen, 6);
  }
}

int main(int argc, char** argv) {
  needed = argc > 1 && std::strcmp(argv[1], "needed") == 0;
  CUDA(cudaStreamCreateWithFlags(&a, cudaStreamNonBlocking));
  CUDA(cudaStreamCreateWithFlags(&b, cudaStreamNonBlocking));
  CUDA(cudaEventCreateWithFlags(&event, cudaEventDisableTiming));
  wait_for_a_stream();
  wait_for_an_event();
  wait_for_the_device();
  stream_waits_for_an_event();
  captured_streams();
  edges_of_a_graph();
  std::printf("PASSED\n");
}
