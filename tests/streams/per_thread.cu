// Compiled with --default-stream per-thread: stream 0 is the per-thread blocking stream.
#include <thread>

#include "kernels.cuh"

namespace lockstep::streams {
namespace {

CASE("per-thread streams", default_and_created_stream, "produce", "consume") {
  Ints x(0), y(0);
  Stream b;
  Event produced;
  produce<<<1, kN>>>(x, 7, spin);
  cudaEventRecord(produced);
  if (!mistake) cudaStreamWaitEvent(b, produced);
  consume<<<1, kN, 0, b>>>(x, y);
  want(y.holds(7));
}

// The legacy stream synchronises with per-thread streams, as with all blocking streams.
CASE("per-thread streams", legacy_and_non_blocking_stream, "produce", "consume") {
  Ints x(0), y(0);
  Stream b(cudaStreamNonBlocking);
  produce<<<1, kN>>>(x, 7, spin);
  consume<<<1, kN, 0, mistake ? static_cast<cudaStream_t>(b) : cudaStreamLegacy>>>(x, y);
  want(y.holds(7));
}

// Each host thread has its own stream.
CASE("per-thread streams", two_host_threads, "produce", "consume") {
  Ints x(0), y(0);
  std::thread([&] {
    produce<<<1, kN>>>(x, 7, spin);
    if (!mistake) cudaStreamSynchronize(nullptr);
  }).join();
  consume<<<1, kN>>>(x, y);
  want(y.holds(7));
}

// Both threads use one created stream, or each its default stream.
CASE("per-thread streams", one_stream_of_two_host_threads, "produce", "consume") {
  Ints x(0), y(0);
  Stream shared;
  cudaStream_t stream = mistake ? cudaStream_t(nullptr) : shared;
  std::thread([&] { produce<<<1, kN, 0, stream>>>(x, 7, spin); }).join();
  consume<<<1, kN, 0, stream>>>(x, y);
  want(y.holds(7));
}

// cudaStreamSynchronize waits for the calling thread's stream only.
CASE("per-thread streams", host_waits_for_its_own, "produce", "consume") {
  Ints x(0), y(0);
  std::thread([&] { produce<<<1, kN>>>(x, 7, spin); }).join();
  if (mistake) {
    cudaStreamSynchronize(nullptr);
  } else {
    cudaDeviceSynchronize();
  }
  consume<<<1, kN>>>(x, y);
  want(y.holds(7));
}

CASE("per-thread streams", copy_and_kernel, "cudaMemcpyAsync", "consume") {
  Ints x(0), y(0);
  Pinned source(7);
  Stream b;
  hold<<<1, 1>>>(spin);
  cudaMemcpyAsync(x, source, kBytes, cudaMemcpyHostToDevice);
  consume<<<1, kN, 0, mistake ? static_cast<cudaStream_t>(b) : cudaStreamPerThread>>>(x, y);
  want(y.holds(7));
}

CASE("per-thread streams", fill_and_kernel_in_another_stream, "cudaMemset", "increment") {
  Ints x(7);
  Stream b;
  hold<<<1, 1>>>(spin);
  cudaMemset(x, 0, kBytes);
  if (!mistake) cudaStreamSynchronize(cudaStreamPerThread);
  increment<<<1, kN, 0, b>>>(x, 0);
  want(x.fetch() == std::vector<int>(kN, 1));
}

// A blocking copy waits for the thread's default stream, not for a created stream.
CASE("per-thread streams", blocking_copy_of_a_result, "produce", "cudaMemcpy") {
  Ints x(0);
  Stream a;
  produce<<<1, kN, 0, mistake ? static_cast<cudaStream_t>(a) : nullptr>>>(x, 7, spin);
  std::vector<int> y(kN);
  cudaMemcpy(y.data(), x, kBytes, cudaMemcpyDeviceToHost);
  want(y == from(7));
  cudaDeviceSynchronize();
}

}  // namespace
}  // namespace lockstep::streams
