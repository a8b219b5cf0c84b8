// Captured graphs with forks or joins that come too early; programmatic dependent launches.
#include "graph.cuh"

namespace lockstep::streams {
namespace {

// A stream forks to another and joins it; the fork comes before or after the producer.
CASE("captures", fork_too_early, "produce", "consume") {
  Ints x(0), y(0);
  Stream a, b;
  Event forked, joined;
  cudaStreamBeginCapture(a, cudaStreamCaptureModeGlobal);
  if (mistake) cudaEventRecord(forked, a);
  produce<<<1, kN, 0, a>>>(x, 7, spin);
  if (!mistake) cudaEventRecord(forked, a);
  cudaStreamWaitEvent(b, forked);
  consume<<<1, kN, 0, b>>>(x, y);
  cudaEventRecord(joined, b);
  cudaStreamWaitEvent(a, joined);
  execute_capture(a);
  want(y.holds(7));
}

CASE("captures", join_too_late, "produce", "consume") {
  Ints x(0), y(0), z(0);
  Stream a, b;
  Event forked, joined;
  cudaStreamBeginCapture(a, cudaStreamCaptureModeGlobal);
  produce<<<1, kN, 0, a>>>(z, 7, 0);
  cudaEventRecord(forked, a);
  cudaStreamWaitEvent(b, forked);
  produce<<<1, kN, 0, b>>>(x, 7, spin);
  cudaEventRecord(joined, b);
  if (!mistake) cudaStreamWaitEvent(a, joined);
  consume<<<1, kN, 0, a>>>(x, y);
  if (mistake) cudaStreamWaitEvent(a, joined);
  execute_capture(a);
  want(y.holds(7));
}

// The event is recorded before the last kernel of the branch.
CASE("captures", joined_too_early, "produce", "consume") {
  Ints x(0), y(0), z(0);
  Stream a, b;
  Event forked, early, joined;
  cudaStreamBeginCapture(a, cudaStreamCaptureModeGlobal);
  cudaEventRecord(forked, a);
  cudaStreamWaitEvent(b, forked);
  produce<<<1, kN, 0, b>>>(z, 7, 0);
  cudaEventRecord(early, b);
  produce<<<1, kN, 0, b>>>(x, 7, spin);
  cudaEventRecord(joined, b);
  cudaStreamWaitEvent(a, mistake ? early : joined);
  consume<<<1, kN, 0, a>>>(x, y);
  cudaStreamWaitEvent(a, joined);
  execute_capture(a);
  want(y.holds(7));
}

CASE("captures", two_branches_that_write, "produce", "produce") {
  Ints x(0);
  Stream a, b, c;
  Event forked, first, second;
  cudaStreamBeginCapture(a, cudaStreamCaptureModeGlobal);
  cudaEventRecord(forked, a);
  cudaStreamWaitEvent(b, forked);
  cudaStreamWaitEvent(c, forked);
  produce<<<1, kN, 0, b>>>(x, 7, spin);
  cudaEventRecord(first, b);
  if (!mistake) cudaStreamWaitEvent(c, first);
  produce<<<1, kN, 0, c>>>(x, 8, 0);
  cudaEventRecord(second, c);
  cudaStreamWaitEvent(a, first);
  cudaStreamWaitEvent(a, second);
  execute_capture(a);
  want(x.holds(8));
}

CASE("captures", copy_in_a_branch, "produce", "cudaMemcpy|copy|cudaGraph") {
  Ints x(0);
  Pinned y(0);
  Stream a, b;
  Event forked, joined;
  cudaStreamBeginCapture(a, cudaStreamCaptureModeGlobal);
  if (mistake) cudaEventRecord(forked, a);
  produce<<<1, kN, 0, a>>>(x, 7, spin);
  if (!mistake) cudaEventRecord(forked, a);
  cudaStreamWaitEvent(b, forked);
  cudaMemcpyAsync(y, x, kBytes, cudaMemcpyDeviceToHost, b);
  cudaEventRecord(joined, b);
  cudaStreamWaitEvent(a, joined);
  execute_capture(a);
  want(y.holds(7));
}

CASE("captures", fill_in_a_branch, "cudaMemset|fill|cudaGraph", "increment") {
  Ints x(7);
  Stream a, b;
  Event forked, joined;
  cudaStreamBeginCapture(a, cudaStreamCaptureModeGlobal);
  cudaEventRecord(forked, a);
  cudaStreamWaitEvent(b, forked);
  hold<<<1, 1, 0, b>>>(spin);
  cudaMemsetAsync(x, 0, kBytes, b);
  cudaEventRecord(joined, b);
  if (!mistake) cudaStreamWaitEvent(a, joined);
  increment<<<1, kN, 0, a>>>(x, 0);
  if (mistake) cudaStreamWaitEvent(a, joined);
  execute_capture(a);
  want(x.fetch() == std::vector<int>(kN, 1));
}

void CUDART_CB do_nothing(void*) {}
CASE("captures", host_function_in_a_branch, "produce", "consume") {
  Ints x(0), y(0);
  Stream a, b;
  Event forked, joined;
  cudaStreamBeginCapture(a, cudaStreamCaptureModeGlobal);
  if (mistake) cudaEventRecord(forked, a);
  produce<<<1, kN, 0, a>>>(x, 7, spin);
  cudaLaunchHostFunc(a, do_nothing, nullptr);
  if (!mistake) cudaEventRecord(forked, a);
  cudaStreamWaitEvent(b, forked);
  consume<<<1, kN, 0, b>>>(x, y);
  cudaEventRecord(joined, b);
  cudaStreamWaitEvent(a, joined);
  execute_capture(a);
  want(y.holds(7));
}

// Operations of a stream before its capture are not in the graph.
CASE("captures", work_before_the_capture, "produce", "consume") {
  Ints x(0), y(0);
  Stream a(cudaStreamNonBlocking), b(cudaStreamNonBlocking);
  produce<<<1, kN, 0, a>>>(x, 7, spin);
  cudaStreamBeginCapture(a, cudaStreamCaptureModeThreadLocal);
  consume<<<1, kN, 0, a>>>(x, y);
  cudaGraph_t captured = nullptr;
  cudaStreamEndCapture(a, &captured);
  const Graph g(captured);
  const Executable consumer(g);
  cudaGraphLaunch(consumer, mistake ? b : a);
  want(y.holds(7));
}

// Programmatic dependent launch: the second kernel may start when all blocks of the first have
// triggered it. Before its wait it must not access data of the first.
__global__ void primary(int* x, int value, long long clocks) {
  cudaTriggerProgrammaticLaunchCompletion();
  wait_for(clocks);
  x[threadIdx.x] = value + threadIdx.x;
}
__global__ void reading_primary(const int* x, int* y, long long clocks) {
  cudaTriggerProgrammaticLaunchCompletion();
  wait_for(clocks);
  y[threadIdx.x] = x[threadIdx.x];
}
__global__ void secondary(const int* x, int* y, bool wait) {
  if (wait) cudaGridDependencySynchronize();
  y[threadIdx.x] = x[threadIdx.x];
}
__global__ void writing_secondary(int* x, bool wait) {
  if (wait) cudaGridDependencySynchronize();
  x[threadIdx.x] = 0;
}

// Launches a kernel of one block that may start before the previous kernel has ended.
template <class... Parameters, class... Arguments>
void launch_dependent(cudaStream_t stream, void (*kernel)(Parameters...),
                      const Arguments&... arguments) {
  cudaLaunchAttribute attribute = {};
  attribute.id = cudaLaunchAttributeProgrammaticStreamSerialization;
  attribute.val.programmaticStreamSerializationAllowed = 1;
  cudaLaunchConfig_t config = {};
  config.gridDim = dim3(1);
  config.blockDim = dim3(kN);
  config.stream = stream;
  config.attrs = &attribute;
  config.numAttrs = 1;
  cudaLaunchKernelEx(&config, kernel, static_cast<Parameters>(arguments)...);
}

CASE("dependent launches", secondary_that_does_not_wait, "primary", "secondary") {
  Ints x(0), y(0);
  Stream a;
  primary<<<1, kN, 0, a>>>(x, 7, spin);
  launch_dependent(a, secondary, x, y, !mistake);
  want(y.holds(7));
}

CASE("dependent launches", input_of_the_primary_overwritten, "reading_primary",
     "writing_secondary") {
  Ints x(7), y(0);
  Stream a;
  reading_primary<<<1, kN, 0, a>>>(x, y, spin);
  launch_dependent(a, writing_secondary, x, !mistake);
  want(y.holds(7));
}

// The wait covers the previous kernel of the same stream only.
CASE("dependent launches", primary_in_another_stream, "primary", "secondary") {
  Ints x(0), y(0);
  Stream a(cudaStreamNonBlocking), b(cudaStreamNonBlocking);
  primary<<<1, kN, 0, a>>>(x, 7, spin);
  launch_dependent(mistake ? b : a, secondary, x, y, true);
  want(y.holds(7));
}

// Without the attribute the second kernel starts after the first has ended.
CASE("dependent launches", launched_with_the_attribute, "primary", "secondary") {
  Ints x(0), y(0);
  Stream a;
  primary<<<1, kN, 0, a>>>(x, 7, spin);
  if (mistake) {
    launch_dependent(a, secondary, x, y, false);
  } else {
    secondary<<<1, kN, 0, a>>>(x, y, false);
  }
  want(y.holds(7));
}

// A captured edge is programmatic too.
CASE("dependent launches", captured_secondary_that_does_not_wait, "primary", "secondary") {
  Ints x(0), y(0);
  Stream a;
  cudaStreamBeginCapture(a, cudaStreamCaptureModeGlobal);
  primary<<<1, kN, 0, a>>>(x, 7, spin);
  launch_dependent(a, secondary, x, y, !mistake);
  execute_capture(a);
  want(y.holds(7));
}

}  // namespace
}  // namespace lockstep::streams
