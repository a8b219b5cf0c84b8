// The host accesses memory that unfinished operations access, or uses a result before its operation
// has completed.
#include <cstdlib>
#include <vector>

#include "kernels.cuh"

namespace lockstep::streams {
namespace {

// Reads the elements one by one; the compiler cannot remove the reads.
std::vector<int> read_now(const int* x) {
  std::vector<int> all(kN);
  for (int i = 0; i < kN; ++i) all[i] = static_cast<const volatile int*>(x)[i];
  return all;
}
void write_now(int* x, int value) {
  for (int i = 0; i < kN; ++i) static_cast<volatile int*>(x)[i] = value + i;
}

CASE("host", result_read_early, "cudaMemcpyAsync", "read_now") {
  Ints x(7);
  Pinned y(0);
  Stream a;
  hold<<<1, 1, 0, a>>>(spin);
  cudaMemcpyAsync(y, x, kBytes, cudaMemcpyDeviceToHost, a);
  if (!mistake) cudaStreamSynchronize(a);
  want(read_now(y) == from(7));
  cudaDeviceSynchronize();
}

CASE("host", source_overwritten, "cudaMemcpyAsync", "write_now") {
  Ints x(0);
  Pinned source(7);
  Stream a;
  hold<<<1, 1, 0, a>>>(spin);
  cudaMemcpyAsync(x, source, kBytes, cudaMemcpyHostToDevice, a);
  if (!mistake) cudaStreamSynchronize(a);
  write_now(source, 8);
  want(x.holds(7));
}

CASE("host", host_waits_for_the_wrong_stream, "cudaMemcpyAsync", "read_now") {
  Ints x(7);
  Pinned y(0);
  Stream a, b;
  hold<<<1, 1, 0, a>>>(spin);
  cudaMemcpyAsync(y, x, kBytes, cudaMemcpyDeviceToHost, a);
  cudaStreamSynchronize(mistake ? b : a);
  want(read_now(y) == from(7));
  cudaDeviceSynchronize();
}

CASE("host", managed_memory_read_early, "produce", "read_now") {
  int* x = nullptr;
  cudaMallocManaged(&x, kBytes);
  write_now(x, 0);
  Stream a;
  produce<<<1, kN, 0, a>>>(x, 7, spin);
  if (!mistake) cudaDeviceSynchronize();
  want(read_now(x) == from(7));
  cudaDeviceSynchronize();
  cudaFree(x);
}

CASE("host", managed_memory_written_early, "consume_late", "write_now") {
  int* x = nullptr;
  cudaMallocManaged(&x, kBytes);
  write_now(x, 7);
  Ints y(0);
  Stream a;
  consume_late<<<1, kN, 0, a>>>(x, y, spin);
  if (!mistake) cudaStreamSynchronize(a);
  write_now(x, 8);
  want(y.holds(7));
  cudaFree(x);
}

CASE("host", mapped_memory_read_early, "produce", "read_now") {
  Pinned x(0);
  Stream a;
  produce<<<1, kN, 0, a>>>(x, 7, spin);
  if (!mistake) cudaStreamSynchronize(a);
  want(read_now(x) == from(7));
  cudaDeviceSynchronize();
}

CASE("host", mapped_memory_written_early, "consume_late", "write_now") {
  Pinned x(7);
  Ints y(0);
  Stream a;
  consume_late<<<1, kN, 0, a>>>(x, y, spin);
  if (!mistake) cudaStreamSynchronize(a);
  write_now(x, 8);
  want(y.holds(7));
}

// Registers whole pages: the rest of a page may hold other data.
CASE("host", registered_source_overwritten, "cudaMemcpyAsync", "write_now") {
  constexpr size_t kPage = 4096;
  int* const source = static_cast<int*>(std::aligned_alloc(kPage, kPage));
  write_now(source, 7);
  cudaHostRegister(source, kPage, cudaHostRegisterDefault);
  {
    Ints x(0);
    Stream a;
    hold<<<1, 1, 0, a>>>(spin);
    cudaMemcpyAsync(x, source, kBytes, cudaMemcpyHostToDevice, a);
    if (!mistake) cudaStreamSynchronize(a);
    write_now(source, 8);
    want(x.holds(7));
  }
  cudaHostUnregister(source);
  std::free(source);
}

// The event was recorded before the copy.
CASE("host", waits_for_an_event_before_the_copy, "cudaMemcpyAsync", "read_now") {
  Ints x(7);
  Pinned y(0);
  Stream a;
  Event copied;
  if (mistake) cudaEventRecord(copied, a);
  hold<<<1, 1, 0, a>>>(spin);
  cudaMemcpyAsync(y, x, kBytes, cudaMemcpyDeviceToHost, a);
  if (!mistake) cudaEventRecord(copied, a);
  cudaEventSynchronize(copied);
  want(read_now(y) == from(7));
  cudaDeviceSynchronize();
}

// The program ignores the result of the query.
CASE("host", query_that_is_not_looked_at, "produce", "consume") {
  Ints x(0), y(0);
  Stream a(cudaStreamNonBlocking), b(cudaStreamNonBlocking);
  produce<<<1, kN, 0, a>>>(x, 7, spin);
  if (mistake) {
    cudaStreamQuery(a);
  } else {
    while (cudaStreamQuery(a) == cudaErrorNotReady) {
    }
  }
  consume<<<1, kN, 0, b>>>(x, y);
  want(y.holds(7));
}

CASE("host", event_query_that_is_not_looked_at, "produce", "consume") {
  Ints x(0), y(0);
  Stream a(cudaStreamNonBlocking), b(cudaStreamNonBlocking);
  Event produced;
  produce<<<1, kN, 0, a>>>(x, 7, spin);
  cudaEventRecord(produced, a);
  if (mistake) {
    cudaEventQuery(produced);
  } else {
    while (cudaEventQuery(produced) == cudaErrorNotReady) {
    }
  }
  consume<<<1, kN, 0, b>>>(x, y);
  want(y.holds(7));
}

// Enqueuing a host function is no wait.
void CUDART_CB do_nothing_for_the_host(void*) {}
CASE("host", function_put_and_not_waited_for, "produce", "consume") {
  Ints x(0), y(0);
  Stream a, b;
  produce<<<1, kN, 0, a>>>(x, 7, spin);
  cudaLaunchHostFunc(a, do_nothing_for_the_host, nullptr);
  if (!mistake) cudaStreamSynchronize(a);
  consume<<<1, kN, 0, b>>>(x, y);
  want(y.holds(7));
}

// A host function reads data copied by another stream.
struct Reading {
  const int* from;
  int sum;
};
void CUDART_CB read_in_a_function(void* argument) {
  Reading& reading = *static_cast<Reading*>(argument);
  for (const int x : read_now(reading.from)) reading.sum += x;
}
CASE("host", host_function_reads_early, "cudaMemcpyAsync", "read_in_a_function") {
  Ints x(7);
  Pinned y(0);
  Stream a, b;
  Reading reading = {y, 0};
  hold<<<1, 1, 0, a>>>(spin);
  cudaMemcpyAsync(y, x, kBytes, cudaMemcpyDeviceToHost, a);
  cudaLaunchHostFunc(mistake ? b : a, read_in_a_function, &reading);
  cudaDeviceSynchronize();
  want(reading.sum == 7 * kN + kN * (kN - 1) / 2);
}

}  // namespace
}  // namespace lockstep::streams
