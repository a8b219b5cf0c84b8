// Programmatic dependent launches: a kernel that may start before the one before it in its stream
// has ended, and touches too early what that one leaves.
#include "tests/checker/checker.h"

namespace {

using lockstep::checker::Buffer;

constexpr int kThreads = 64;

__device__ void let_dependents_start() {
  asm volatile("griddepcontrol.launch_dependents;" ::: "memory");
}
__device__ void wait_for_grids() { asm volatile("griddepcontrol.wait;" ::: "memory"); }

// Launches a kernel of two arrays so that it may start before the one before it has ended, or, when
// `ordered`, as ever.
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

// One thread waits, and the others for it: or not.
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

// The kernel between has nothing to do with the data and does not wait: it ends before the first,
// and the third waits for it alone.
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

// Without the attribute a kernel starts when the one before has ended, and its griddepcontrol.wait
// has nothing to wait for.
__global__ void does_not_wait(int* x, int* y) {
  y[me()] = x[me()];  // FAULT the_attribute_is_set
}
PAIR(the_attribute_is_set, "race") {
  Buffer<int> x(2 * kThreads), y(2 * kThreads);
  launch(writes_and_lets_start, x, y);
  launch(does_not_wait, x, y, !faulty);
}

// Of the kernel before only its end lets this one start.
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

// The same through a graph that two launches in a captured stream became.
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
