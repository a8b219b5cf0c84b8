// Programmatic dependent launches: a kernel may start before the previous kernel of its stream has
// ended. The faulty kernels access that kernel's data too early.
#include "tests/checker/checker.h"

namespace {

using lockstep::checker::Buffer;

constexpr int kThreads = 64;

__device__ void let_dependents_start() {
  asm volatile("griddepcontrol.launch_dependents;" ::: "memory");
}
__device__ void wait_for_grids() { asm volatile("griddepcontrol.wait;" ::: "memory"); }

// Launches a kernel of two arrays with programmatic stream serialization: it may start before the
// previous kernel ends. With `ordered`: without the attribute.
void launch(void (*kernel)(int*, int*), int* x, int* y, bool ordered = false,
            cudaStream_t stream = nullptr) {
  cudaLaunchAttribute attribute{};
  attribute.id = cudaLaunchAttributeProgrammaticStreamSerialization;
  attribute.val.programmaticStreamSerializationAllowed = ordered ? 0 : 1;
  cudaLaunchConfig_t config{};
  config.gridDim = dim3(2);
  config.blockDim = dim3(kThreads);
  config.stream = stream;
  config.attrs = &attribute;
  config.numAttrs = 1;
  void* arguments[] = {&x, &y};
  cudaLaunchKernelExC(&config, reinterpret_cast<const void*>(kernel), arguments);
}

__device__ int me() { return static_cast<int>(blockIdx.x * kThreads + threadIdx.x); }

__global__ void writes_and_lets_start(int* x, int*) {
  let_dependents_start();
  x[me()] = me();
}
__global__ void reads_and_lets_start(int* x, int* y) {
  let_dependents_start();
  y[me()] = x[me()];
}

template <bool faulty>
__global__ void read_before_the_wait(int* x, int* y) {
  if (!faulty) wait_for_grids();
  const int value = x[me()];  // FAULT read_before_the_wait
  wait_for_grids();
  y[me()] = value;
}
PAIR(read_before_the_wait, "race") {
  Buffer<int> x(2 * kThreads), y(2 * kThreads);
  launch(writes_and_lets_start, x, y);
  launch(read_before_the_wait<faulty>, x, y);
}

template <bool faulty>
__global__ void overwritten_before_it_is_read(int* x, int*) {
  if (!faulty) wait_for_grids();
  x[me()] = 1;  // FAULT overwritten_before_it_is_read
}
PAIR(overwritten_before_it_is_read, "race") {
  Buffer<int> x(2 * kThreads, 1), y(2 * kThreads);
  launch(reads_and_lets_start, x, y);
  launch(overwritten_before_it_is_read<faulty>, x, y);
}

// One thread waits, and a barrier passes the order on to the others; the faulty kernel omits it.
template <bool faulty>
__global__ void one_waits_for_all(int* x, int* y) {
  if (threadIdx.x == 0) wait_for_grids();
  if (!faulty) __syncthreads();
  y[me()] = x[me()];  // FAULT one_waits_for_all
}
PAIR(one_waits_for_all, "race") {
  Buffer<int> x(2 * kThreads), y(2 * kThreads);
  launch(writes_and_lets_start, x, y);
  launch(one_waits_for_all<faulty>, x, y);
}

// The second kernel does not use the data and does not wait. It may end before the first kernel,
// and the third kernel waits for the second only.
template <bool faulty>
__global__ void between(int*, int* y) {
  let_dependents_start();
  if (!faulty) wait_for_grids();
  if (y != nullptr) y[me()] = 1;
}
__global__ void third(int* x, int* y) {
  wait_for_grids();
  y[me()] = x[me()];  // FAULT the_kernel_between_does_not_wait
}
PAIR(the_kernel_between_does_not_wait, "race") {
  Buffer<int> x(2 * kThreads), y(2 * kThreads), z(2 * kThreads);
  launch(writes_and_lets_start, x, y);
  launch(between<faulty>, x, z);
  launch(third, x, y);
}

// Without the attribute a kernel starts after the previous kernel has ended, and its
// griddepcontrol.wait returns at once.
__global__ void does_not_wait(int* x, int* y) {
  y[me()] = x[me()];  // FAULT the_attribute_is_set
}
PAIR(the_attribute_is_set, "race") {
  Buffer<int> x(2 * kThreads), y(2 * kThreads);
  launch(writes_and_lets_start, x, y);
  launch(does_not_wait, x, y, !faulty);
}

// The dependent kernel may start only at the end of the first: no thread triggers it.
template <bool faulty>
__global__ void writes(int* x, int*) {
  if (faulty) let_dependents_start();
  x[me()] = me();
}
__global__ void trusts(int* x, int* y) {
  y[me()] = x[me()];  // FAULT the_kernel_before_lets_it_start
}
PAIR(the_kernel_before_lets_it_start, "race") {
  Buffer<int> x(2 * kThreads), y(2 * kThreads);
  launch(writes<faulty>, x, y);
  launch(trusts, x, y);
}

// read_before_the_wait, launched as a graph captured from a stream.
template <bool faulty>
__global__ void read_before_the_wait_in_a_graph(int* x, int* y) {
  if (!faulty) wait_for_grids();
  y[me()] = x[me()];  // FAULT read_before_the_wait_in_a_graph
}
PAIR(read_before_the_wait_in_a_graph, "race") {
  Buffer<int> x(2 * kThreads), y(2 * kThreads);
  cudaStream_t stream;
  cudaStreamCreate(&stream);
  cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal);
  launch(writes_and_lets_start, x, y, false, stream);
  launch(read_before_the_wait_in_a_graph<faulty>, x, y, false, stream);
  cudaGraph_t graph;
  cudaStreamEndCapture(stream, &graph);
  cudaGraphExec_t executable;
  cudaGraphInstantiate(&executable, graph, 0);
  cudaGraphLaunch(executable, stream);
  cudaStreamSynchronize(stream);
  cudaGraphExecDestroy(executable);
  cudaGraphDestroy(graph);
  cudaStreamDestroy(stream);
}

}  // namespace
