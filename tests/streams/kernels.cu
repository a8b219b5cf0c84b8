// Two kernels in streams of every kind, with and without an ordering between them.
#include "kernels.cuh"

namespace lockstep::streams {
namespace {

CASE("kernels", two_streams, "produce", "consume") {
  Ints x(0), y(0);
  Stream a, b;
  produce<<<1, kN, 0, a>>>(x, 7, spin);
  consume<<<1, kN, 0, mistake ? b : a>>>(x, y);
  want(y.holds(7));
}

CASE("kernels", two_non_blocking_streams, "produce", "consume") {
  Ints x(0), y(0);
  Stream a(cudaStreamNonBlocking), b(cudaStreamNonBlocking);
  Event produced;
  produce<<<1, kN, 0, a>>>(x, 7, spin);
  cudaEventRecord(produced, a);
  if (!mistake) cudaStreamWaitEvent(b, produced);
  consume<<<1, kN, 0, b>>>(x, y);
  want(y.holds(7));
}

// Write after write: the first kernel's write comes last.
CASE("kernels", two_writers, "produce", "produce") {
  Ints x(0);
  Stream a, b;
  produce<<<1, kN, 0, a>>>(x, 7, spin);
  if (!mistake) cudaStreamSynchronize(a);
  produce<<<1, kN, 0, b>>>(x, 8, 0);
  want(x.holds(8));
}

// Write after read: the input is overwritten before it is read.
CASE("kernels", input_overwritten, "consume_late", "produce") {
  Ints x(7), y(0);
  Stream a, b;
  Event read;
  consume_late<<<1, kN, 0, a>>>(x, y, spin);
  cudaEventRecord(read, a);
  if (!mistake) cudaStreamWaitEvent(b, read);
  produce<<<1, kN, 0, b>>>(x, 8, 0);
  want(y.holds(7));
}

// "The legacy default stream ... synchronizes with other blocking streams", not with this one.
CASE("kernels", legacy_then_non_blocking, "produce", "consume") {
  Ints x(0), y(0);
  Stream b(mistake ? cudaStreamNonBlocking : cudaStreamDefault);
  produce<<<1, kN>>>(x, 7, spin);
  consume<<<1, kN, 0, b>>>(x, y);
  want(y.holds(7));
}

CASE("kernels", non_blocking_then_legacy, "produce", "consume") {
  Ints x(0), y(0);
  Stream a(mistake ? cudaStreamNonBlocking : cudaStreamDefault);
  produce<<<1, kN, 0, a>>>(x, 7, spin);
  consume<<<1, kN>>>(x, y);
  want(y.holds(7));
}

// Work of the legacy stream is ordered between work of two blocking streams.
CASE("kernels", legacy_between, "produce", "consume") {
  Ints x(0), y(0);
  Stream a(mistake ? cudaStreamNonBlocking : cudaStreamDefault), b;
  produce<<<1, kN, 0, a>>>(x, 7, spin);
  hold<<<1, 1>>>(0);
  consume<<<1, kN, 0, b>>>(x, y);
  want(y.holds(7));
}

// legacy_between, but the later stream is non-blocking.
CASE("kernels", legacy_between_and_non_blocking_after, "produce", "consume") {
  Ints x(0), y(0);
  Stream a, b(mistake ? cudaStreamNonBlocking : cudaStreamDefault);
  produce<<<1, kN, 0, a>>>(x, 7, spin);
  hold<<<1, 1>>>(0);
  consume<<<1, kN, 0, b>>>(x, y);
  want(y.holds(7));
}

// cudaStreamLegacy names the legacy stream.
CASE("kernels", named_legacy_stream, "produce", "consume") {
  Ints x(0), y(0);
  Stream b(mistake ? cudaStreamNonBlocking : cudaStreamDefault);
  produce<<<1, kN, 0, cudaStreamLegacy>>>(x, 7, spin);
  consume<<<1, kN, 0, b>>>(x, y);
  want(y.holds(7));
}

// cudaStreamPerThread is a blocking stream of its own.
CASE("kernels", named_per_thread_stream, "produce", "consume") {
  Ints x(0), y(0);
  Stream b;
  produce<<<1, kN, 0, cudaStreamPerThread>>>(x, 7, spin);
  consume<<<1, kN, 0, mistake ? static_cast<cudaStream_t>(b) : cudaStreamLegacy>>>(x, y);
  want(y.holds(7));
}

// A priority is a hint to the scheduler: it does not order.
CASE("kernels", priorities_are_no_order, "produce", "consume") {
  int least = 0, greatest = 0;
  cudaDeviceGetStreamPriorityRange(&least, &greatest);
  Ints x(0), y(0);
  Stream high(cudaStreamNonBlocking, greatest), low(cudaStreamNonBlocking, least);
  Event produced;
  produce<<<1, kN, 0, high>>>(x, 7, spin);
  cudaEventRecord(produced, high);
  if (!mistake) cudaStreamWaitEvent(low, produced);
  consume<<<1, kN, 0, low>>>(x, y);
  want(y.holds(7));
}

CASE("kernels", chain_of_three, "produce", "consume") {
  Ints x(0), y(0), z(0);
  Stream a(cudaStreamNonBlocking), b(cudaStreamNonBlocking), c(cudaStreamNonBlocking);
  Event first, second;
  produce<<<1, kN, 0, a>>>(x, 7, spin);
  cudaEventRecord(first, a);
  if (!mistake) cudaStreamWaitEvent(b, first);
  consume<<<1, kN, 0, b>>>(z, y);
  cudaEventRecord(second, b);
  cudaStreamWaitEvent(c, second);
  consume<<<1, kN, 0, c>>>(x, z);
  want(z.holds(7));
}

// b and c are ordered after a, but not with each other.
CASE("kernels", two_branches, "produce", "consume") {
  Ints x(0), y(0), z(0);
  Stream a, b, c;
  Event forked, written;
  produce<<<1, kN, 0, a>>>(z, 1, 0);
  cudaEventRecord(forked, a);
  cudaStreamWaitEvent(b, forked);
  cudaStreamWaitEvent(c, forked);
  produce<<<1, kN, 0, b>>>(x, 7, spin);
  cudaEventRecord(written, b);
  if (!mistake) cudaStreamWaitEvent(c, written);
  consume<<<1, kN, 0, c>>>(x, y);
  want(y.holds(7));
}

CASE("kernels", host_waits_for_another_stream, "produce", "consume") {
  Ints x(0), y(0);
  Stream a, b;
  produce<<<1, kN, 0, a>>>(x, 7, spin);
  cudaStreamSynchronize(mistake ? b : a);
  consume<<<1, kN, 0, b>>>(x, y);
  want(y.holds(7));
}

// cudaStreamSynchronize of the legacy stream also waits for blocking streams.
CASE("kernels", host_waits_for_legacy_stream, "produce", "consume") {
  Ints x(0), y(0);
  Stream a(mistake ? cudaStreamNonBlocking : cudaStreamDefault), b(cudaStreamNonBlocking);
  produce<<<1, kN, 0, a>>>(x, 7, spin);
  cudaStreamSynchronize(nullptr);
  consume<<<1, kN, 0, b>>>(x, y);
  want(y.holds(7));
}

// Work of a destroyed stream continues.
CASE("kernels", stream_destroyed, "produce", "consume") {
  Ints x(0), y(0);
  Stream a(cudaStreamNonBlocking), b(cudaStreamNonBlocking);
  produce<<<1, kN, 0, a>>>(x, 7, spin);
  if (!mistake) cudaStreamSynchronize(a);
  a.destroy();
  consume<<<1, kN, 0, b>>>(x, y);
  want(y.holds(7));
}

CASE("kernels", allocation_waits_for_nothing, "produce", "consume") {
  Ints x(0), y(0);
  Stream a(cudaStreamNonBlocking), b(cudaStreamNonBlocking);
  void* more = nullptr;
  produce<<<1, kN, 0, a>>>(x, 7, spin);
  cudaMalloc(&more, 1 << 20);
  if (!mistake) cudaDeviceSynchronize();
  consume<<<1, kN, 0, b>>>(x, y);
  want(y.holds(7));
  cudaFree(more);
}

// Two kernels add to the same elements: atomics need no ordering.
__global__ void add(int* x, int by, bool atomic, long long clocks) {
  int* const here = x + threadIdx.x;
  if (atomic) {
    wait_for(clocks);
    atomicAdd(here, by);
  } else {
    const int before = *here;
    wait_for(clocks);
    *here = before + by;
  }
}
CASE("kernels", sums_without_atomics, "add", "add") {
  Ints x(0);
  Stream a, b;
  add<<<1, kN, 0, a>>>(x, 3, !mistake, spin);
  add<<<1, kN, 0, b>>>(x, 4, !mistake, spin / 2);
  want(x.holds(7));
}

CASE("kernels", counter_read_early, "add", "consume") {
  Ints x(0), y(0);
  Stream a, b;
  Event counted;
  add<<<1, kN, 0, a>>>(x, 7, true, spin);
  cudaEventRecord(counted, a);
  if (!mistake) cudaStreamWaitEvent(b, counted);
  consume<<<1, kN, 0, b>>>(x, y);
  want(y.holds(7));
}

// Two halves; the second kernel starts one element too early.
CASE("kernels", halves_that_overlap, "produce", "produce") {
  Ints x(0, 2 * kN);
  Stream a, b;
  produce<<<1, kN, 0, a>>>(x, 0, spin);
  produce<<<1, kN, 0, b>>>(x + kN - mistake, kN - mistake + 5 * mistake, 0);
  want(mistake ? x.fetch()[kN - 1] == kN - 1 + 5 : x.holds(0));
}

// Two readers do not race.
CASE("kernels", one_reader_writes, "consume_late", "increment") {
  Ints x(7), y(0), z(0);
  Stream a, b;
  consume_late<<<1, kN, 0, a>>>(x, y, spin);
  if (mistake) {
    increment<<<1, kN, 0, b>>>(x, 0);
  } else {
    consume<<<1, kN, 0, b>>>(x, z);
  }
  want(y.holds(7));
}

// The buffer is overwritten while the other stream still reads it.
CASE("kernels", buffer_filled_again, "consume_late", "produce") {
  Ints buffer(0), y(0), z(0);
  Stream fill(cudaStreamNonBlocking), use(cudaStreamNonBlocking);
  Event full, empty;
  int* results[] = {y, z};
  for (int i = 0; i < 2; ++i) {
    if (i > 0 && !mistake) cudaStreamWaitEvent(fill, empty);
    produce<<<1, kN, 0, fill>>>(buffer, 7 + i, 0);
    cudaEventRecord(full, fill);
    cudaStreamWaitEvent(use, full);
    consume_late<<<1, kN, 0, use>>>(buffer, results[i], spin);
    cudaEventRecord(empty, use);
  }
  want(y.holds(7) && z.holds(8));
}

// Each step depends on the previous step, in any stream.
CASE("kernels", steps_in_turn, "increment", "increment") {
  Ints x(0);
  Stream streams[2];
  for (int i = 0; i < 4; ++i) increment<<<1, kN, 0, streams[mistake ? i % 2 : 0]>>>(x, spin / 4);
  want(x.holds(4));
}

// Many blocks write and one sums; only some blocks write late.
__global__ void partial_sums(int* sums, long long clocks) {
  if (blockIdx.x % 2 == 1) wait_for(clocks);
  if (threadIdx.x == 0) sums[blockIdx.x] = blockIdx.x;
}
__global__ void total(const int* sums, int n, int* result) {
  int sum = 0;
  for (int i = 0; i < n; ++i) sum += sums[i];
  *result = sum;
}
CASE("kernels", total_of_partial_sums, "partial_sums", "total") {
  constexpr int kBlocks = 8;
  Ints sums(100), y(0);
  Stream a, b;
  partial_sums<<<kBlocks, 32, 0, a>>>(sums, spin);
  total<<<1, 1, 0, mistake ? b : a>>>(sums, kBlocks, y);
  want(y.fetch()[0] == kBlocks * (kBlocks - 1) / 2);
}

// A __device__ variable instead of an argument.
__device__ int variable[kN];
__global__ void produce_variable(int value, long long clocks) {
  wait_for(clocks);
  variable[threadIdx.x] = value + threadIdx.x;
}
__global__ void consume_variable(int* y) { y[threadIdx.x] = variable[threadIdx.x]; }
CASE("kernels", module_variable, "produce_variable", "consume_variable") {
  Ints y(0);
  Stream a, b;
  produce_variable<<<1, kN>>>(0, 0);
  cudaDeviceSynchronize();
  produce_variable<<<1, kN, 0, a>>>(7, spin);
  consume_variable<<<1, kN, 0, mistake ? b : a>>>(y);
  want(y.holds(7));
}

// A flag released after the data and acquired before the read is a sufficient ordering.
__global__ void produce_with_flag(int* x, int* flag, bool fence) {
  x[threadIdx.x] = 7 + threadIdx.x;
  if (fence) __threadfence();
  __syncthreads();
  if (threadIdx.x == 0) *static_cast<volatile int*>(flag) = 1;
}
__global__ void consume_with_flag(const int* x, int* flag, int* y, bool fence) {
  if (threadIdx.x == 0) {
    while (*static_cast<volatile int*>(flag) != 1) {
    }
    if (fence) __threadfence();
  }
  if (fence) __syncthreads();
  y[threadIdx.x] = x[threadIdx.x];
}
CASE("kernels", flag_without_a_fence, "produce_with_flag", "consume_with_flag") {
  Ints x(0), y(0), flag(0);
  Stream a, b;
  produce_with_flag<<<1, kN, 0, a>>>(x, flag, !mistake);
  consume_with_flag<<<1, kN, 0, b>>>(x, flag, y, !mistake);
  want(y.holds(7));
}

// Managed memory follows the rules of other device memory.
CASE("kernels", managed_memory, "produce", "consume") {
  int* x = nullptr;
  cudaMallocManaged(&x, kBytes);
  cudaMemset(x, 0, kBytes);
  Ints y(0);
  Stream a, b;
  produce<<<1, kN, 0, a>>>(x, 7, spin);
  consume<<<1, kN, 0, mistake ? b : a>>>(x, y);
  want(y.holds(7));
  cudaFree(x);
}

// Two kernels exchange data through mapped host memory.
CASE("kernels", mapped_memory, "produce", "consume") {
  Pinned x(0);
  Ints y(0);
  Stream a, b;
  produce<<<1, kN, 0, a>>>(x, 7, spin);
  consume<<<1, kN, 0, mistake ? b : a>>>(x, y);
  want(y.holds(7));
}

}  // namespace
}  // namespace lockstep::streams
