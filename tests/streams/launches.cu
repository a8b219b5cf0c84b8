// Kernels that launch kernels: ordering between a grid and its child grids, and between children.
//
// Source: CUDA C++ Programming Guide, "CUDA Dynamic Parallelism". A child sees the earlier writes
// of the launching thread. A tail launch, and work that the host enqueues after the parent, see the
// writes of the child. Device streams order as host streams do. Each block has its own default
// stream.
#include "kernels.cuh"

namespace lockstep::streams {
namespace {

constexpr const char* kLaunches = "launches from kernels";

__device__ cudaStream_t new_stream() {
  cudaStream_t stream = nullptr;
  cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking);
  return stream;
}

__global__ void launch_in_two_streams(bool mistake, int* x, int* y, long long clocks) {
  const cudaStream_t a = new_stream(), b = new_stream();
  produce<<<1, kN, 0, a>>>(x, 7, clocks);
  consume<<<1, kN, 0, mistake ? b : a>>>(x, y);
}

CASE(kLaunches, children_in_two_streams, "produce", "consume") {
  Ints x(0), y(0);
  launch_in_two_streams<<<1, 1>>>(mistake, x, y, spin);
  want(y.holds(7));
}

__global__ void launch_with_event(bool mistake, int* x, int* y, long long clocks) {
  const cudaStream_t a = new_stream(), b = new_stream();
  cudaEvent_t event;
  cudaEventCreateWithFlags(&event, cudaEventDisableTiming);
  if (mistake) cudaEventRecord(event, a);
  produce<<<1, kN, 0, a>>>(x, 7, clocks);
  if (!mistake) cudaEventRecord(event, a);
  cudaStreamWaitEvent(b, event, 0);
  consume<<<1, kN, 0, b>>>(x, y);
}

CASE(kLaunches, event_of_a_kernel_too_early, "produce", "consume") {
  Ints x(0), y(0);
  launch_with_event<<<1, 1>>>(mistake, x, y, spin);
  want(y.holds(7));
}

__global__ void launch_and_forget(bool mistake, int* x, int* y, long long clocks) {
  produce<<<1, kN, 0, mistake ? cudaStreamFireAndForget : nullptr>>>(x, 7, clocks);
  consume<<<1, kN, 0, mistake ? cudaStreamFireAndForget : nullptr>>>(x, y);
}

CASE(kLaunches, fired_and_forgotten, "produce", "consume") {
  Ints x(0), y(0);
  launch_and_forget<<<1, 1>>>(mistake, x, y, spin);
  want(y.holds(7));
}

__global__ void launch_at_the_tail(bool mistake, int* x, int* y, long long clocks) {
  produce<<<1, kN, 0, cudaStreamFireAndForget>>>(x, 7, clocks);
  consume<<<1, kN, 0, mistake ? nullptr : cudaStreamTailLaunch>>>(x, y);
}

CASE(kLaunches, not_at_the_tail, "produce", "consume") {
  Ints x(0), y(0);
  launch_at_the_tail<<<1, 1>>>(mistake, x, y, spin);
  want(y.holds(7));
}

// Each of two blocks launches into its own default stream.
__global__ void launch_by_blocks(bool mistake, int* x, int* y, long long clocks) {
  if (blockIdx.x == 0) produce<<<1, kN>>>(x, 7, clocks);
  if (blockIdx.x == (mistake ? 1 : 0)) consume<<<1, kN>>>(x, y);
}

CASE(kLaunches, default_streams_of_two_blocks, "produce", "consume") {
  Ints x(0), y(0);
  launch_by_blocks<<<2, 1>>>(mistake, x, y, spin);
  want(y.holds(7));
}

// A child completes when its own children have completed.
__global__ void launch_producer(int* x, long long clocks) {
  produce<<<1, kN, 0, cudaStreamFireAndForget>>>(x, 7, clocks);
}
__global__ void launch_generations(bool mistake, int* x, int* y, long long clocks) {
  const cudaStream_t a = new_stream(), b = new_stream();
  launch_producer<<<1, 1, 0, a>>>(x, clocks);
  consume<<<1, kN, 0, mistake ? b : a>>>(x, y);
}

CASE(kLaunches, grandchild_and_child, "produce", "consume") {
  Ints x(0), y(0);
  launch_generations<<<1, 1>>>(mistake, x, y, spin);
  want(y.holds(7));
}

CASE(kLaunches, child_and_another_stream, "produce", "consume") {
  Ints x(0), y(0);
  Stream a(cudaStreamNonBlocking), b(cudaStreamNonBlocking);
  launch_producer<<<1, 1, 0, a>>>(x, spin);
  consume<<<1, kN, 0, mistake ? b : a>>>(x, y);
  want(y.holds(7));
}

__global__ void launch_copy(bool mistake, int* x, int* y, int* z) {
  const cudaStream_t a = new_stream(), b = new_stream();
  hold<<<1, 1, 0, a>>>(1);
  cudaMemcpyAsync(y, x, kBytes, cudaMemcpyDeviceToDevice, a);
  consume<<<1, kN, 0, mistake ? b : a>>>(y, z);
}

// A copy is a grid of its own. It takes so little time that a GPU may show the right result.
CASE(kLaunches, copy_of_a_kernel, "cudaMemcpyAsync|memcpy", "consume") {
  Ints x(7), y(0), z(0);
  launch_copy<<<1, 1>>>(mistake, x, y, z);
  want(z.holds(7));
}

// A parent that reads data of its child.
__global__ void read_of_child(bool mistake, int* x, int* y, long long clocks) {
  produce<<<1, kN, 0, cudaStreamFireAndForget>>>(x, 7, clocks);
  if (mistake)
    for (int i = 0; i < kN; ++i) y[i] = x[i];
  else
    consume<<<1, kN, 0, cudaStreamTailLaunch>>>(x, y);
}

CASE(kLaunches, parent_reads_what_its_child_writes, "produce", "read_of_child") {
  Ints x(0), y(0);
  read_of_child<<<1, 1>>>(mistake, x, y, spin);
  want(y.holds(7));
}

__global__ void written_behind_launch(bool mistake, int* x, int* y, long long clocks) {
  for (int i = 0; i < kN && !mistake; ++i) x[i] = 7 + i;
  consume<<<1, kN, 0, cudaStreamFireAndForget>>>(x, y);
  wait_for(clocks);
  for (int i = 0; i < kN && mistake; ++i) x[i] = 7 + i;
}

CASE(kLaunches, parent_writes_behind_the_launch, "written_behind_launch", "consume") {
  Ints x(0), y(0);
  written_behind_launch<<<1, 1>>>(mistake, x, y, spin);
  want(y.holds(7));
}

// Threads other than the launching one write the data.
__global__ void written_by_threads(bool mistake, int* x, int* y, long long clocks) {
  if (threadIdx.x != 0) wait_for(clocks);
  x[threadIdx.x] = 7 + threadIdx.x;
  if (!mistake) __syncthreads();
  if (threadIdx.x == 0) consume<<<1, kN>>>(x, y);
}

CASE(kLaunches, no_barrier_before_the_launch, "written_by_threads", "consume") {
  Ints x(0), y(0);
  written_by_threads<<<1, kN>>>(mistake, x, y, spin);
  want(y.holds(7));
}

__global__ void written_by_block(bool mistake, int* x, int* y, long long clocks) {
  if (blockIdx.x == 1) {
    wait_for(clocks);
    x[threadIdx.x] = 7 + threadIdx.x;
  } else if (threadIdx.x == 0) {
    consume<<<1, kN, 0, mistake ? cudaStreamFireAndForget : cudaStreamTailLaunch>>>(x, y);
  }
}

CASE(kLaunches, another_block_of_the_parent, "written_by_block", "consume") {
  Ints x(0), y(0);
  written_by_block<<<2, kN>>>(mistake, x, y, spin);
  want(y.holds(7));
}

}  // namespace
}  // namespace lockstep::streams
