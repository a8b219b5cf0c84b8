// Pairs in which a kernel may overtake a pending copy or fill of another stream.
#include <cstdlib>

#include "tests/checker/checker.h"

namespace {

using lockstep::checker::Buffer;

// A stream, destroyed at the end of the scope.
class Stream {
 public:
  explicit Stream(unsigned flags) { cudaStreamCreateWithFlags(&stream_, flags); }
  ~Stream() { cudaStreamDestroy(stream_); }
  Stream(const Stream&) = delete;
  Stream& operator=(const Stream&) = delete;
  operator cudaStream_t() const { return stream_; }

 private:
  cudaStream_t stream_ = nullptr;
};

constexpr int kCopied = 32;

// The copy returns when the bytes are in a staging buffer. A non-blocking stream may overtake the
// transfer from that buffer.
__global__ void after_copy_from_pageable_memory(const int* x, int* y) {
  // FAULT copy_from_pageable_memory
  y[threadIdx.x] = x[threadIdx.x] + 1;
}
PAIR(copy_from_pageable_memory, "race") {
  const std::vector<int> host(kCopied, 7);
  Buffer<int> x(kCopied), y(kCopied);
  const Stream s(cudaStreamNonBlocking);
  cudaMemcpy(x, host.data(), kCopied * sizeof(int), cudaMemcpyHostToDevice);
  if (!faulty) cudaStreamSynchronize(nullptr);
  after_copy_from_pageable_memory<<<1, kCopied, 0, s>>>(x, y);
  cudaStreamSynchronize(s);
}

// Such a copy first waits for the previous staged copy.
__global__ void after_second_copy_from_pageable_memory(const int* x, int* y) {
  // FAULT second_copy_from_pageable_memory
  y[threadIdx.x] = x[threadIdx.x] + 1;
}
PAIR(second_copy_from_pageable_memory, "race") {
  const std::vector<int> host(kCopied, 7);
  Buffer<int> first(kCopied), second(kCopied, 1), y(kCopied);
  const Stream s(cudaStreamNonBlocking);
  cudaDeviceSynchronize();
  cudaMemcpy(first, host.data(), kCopied * sizeof(int), cudaMemcpyHostToDevice);
  cudaMemcpy(second, host.data(), kCopied * sizeof(int), cudaMemcpyHostToDevice);
  after_second_copy_from_pageable_memory<<<1, kCopied, 0, s>>>(faulty ? second : first, y);
  cudaStreamSynchronize(s);
}

// It waits for earlier work of its own stream, but not for a copy in another stream that is not
// ordered before it.
__global__ void after_copy_before_a_staged_one(const int* x, int* y) {
  // FAULT copy_before_a_staged_one
  y[threadIdx.x] = x[threadIdx.x] + 1;
}
PAIR(copy_before_a_staged_one, "race") {
  const std::vector<int> host(kCopied, 7);
  Buffer<int> from(kCopied, 1), x(kCopied), staged(kCopied), y(kCopied);
  const Stream blocking(cudaStreamDefault), free(cudaStreamNonBlocking),
      kernels(cudaStreamNonBlocking);
  cudaDeviceSynchronize();
  cudaMemcpyAsync(x, from, kCopied * sizeof(int), cudaMemcpyDeviceToDevice,
                  faulty ? free : blocking);
  cudaMemcpy(staged, host.data(), kCopied * sizeof(int), cudaMemcpyHostToDevice);
  after_copy_before_a_staged_one<<<1, kCopied, 0, kernels>>>(x, y);
  cudaDeviceSynchronize();
}

// An asynchronous copy from pageable memory is staged too, and ordered only in its stream.
__global__ void after_async_copy_from_pageable_memory(const int* x, int* y) {
  // FAULT async_copy_from_pageable_memory
  y[threadIdx.x] = x[threadIdx.x] + 1;
}
PAIR(async_copy_from_pageable_memory, "race") {
  const std::vector<int> host(kCopied, 7);
  Buffer<int> x(kCopied), y(kCopied);
  const Stream copies(cudaStreamDefault), kernels(cudaStreamDefault);
  cudaMemcpyAsync(x, host.data(), kCopied * sizeof(int), cudaMemcpyHostToDevice, copies);
  after_async_copy_from_pageable_memory<<<1, kCopied, 0, faulty ? kernels : copies>>>(x, y);
  cudaDeviceSynchronize();
}

// A copy from pinned memory returns at once.
__global__ void after_copy_in_another_stream(const int* x, int* y) {
  // FAULT copy_in_another_stream
  y[threadIdx.x] = x[threadIdx.x] + 1;
}
PAIR(copy_in_another_stream, "race") {
  int* host = nullptr;
  cudaMallocHost(&host, kCopied * sizeof(int));
  for (int i = 0; i < kCopied; ++i) host[i] = i;
  {
    Buffer<int> x(kCopied), y(kCopied);
    const Stream copies(cudaStreamDefault), kernels(cudaStreamDefault);
    cudaEvent_t copied;
    cudaEventCreateWithFlags(&copied, cudaEventDisableTiming);
    cudaMemcpyAsync(x, host, kCopied * sizeof(int), cudaMemcpyHostToDevice, copies);
    cudaEventRecord(copied, copies);
    if (!faulty) cudaStreamWaitEvent(kernels, copied, 0);
    after_copy_in_another_stream<<<1, kCopied, 0, kernels>>>(x, y);
    cudaDeviceSynchronize();
    cudaEventDestroy(copied);
  }
  cudaFreeHost(host);
}

__global__ void after_copy_within_the_device(const int* x, int* y) {
  // FAULT copy_within_the_device
  y[threadIdx.x] = x[threadIdx.x] + 1;
}
PAIR(copy_within_the_device, "race") {
  Buffer<int> x(kCopied, 2), y(kCopied), from(kCopied, 1);
  const Stream blocking(cudaStreamDefault), free(cudaStreamNonBlocking);
  cudaDeviceSynchronize();
  cudaMemcpy(x, from, kCopied * sizeof(int), cudaMemcpyDeviceToDevice);
  after_copy_within_the_device<<<1, kCopied, 0, faulty ? free : blocking>>>(x, y);
  cudaDeviceSynchronize();
}

__global__ void after_fill_in_the_default_stream(int* counts) {
  // FAULT fill_in_the_default_stream
  atomicAdd(counts + threadIdx.x % 4, 1);
}
PAIR(fill_in_the_default_stream, "race") {
  Buffer<int> counts(4, 1);
  const Stream s(cudaStreamNonBlocking);
  cudaDeviceSynchronize();
  if (faulty) {
    cudaMemset(counts, 0, 4 * sizeof(int));
  } else {
    cudaMemsetAsync(counts, 0, 4 * sizeof(int), s);
  }
  after_fill_in_the_default_stream<<<1, kCopied, 0, s>>>(counts);
  cudaDeviceSynchronize();
}

// Freeing memory waits for the device; allocating memory does not (seen on an H200:
// docs/journal/silicon.md).
__global__ void after_fill_and_an_allocation(const int* x, int* y) {
  // FAULT fill_and_an_allocation
  y[threadIdx.x] = x[threadIdx.x] + 1;
}
PAIR(fill_and_an_allocation, "race") {
  std::vector<int> host(1024);
  Buffer<int> x(kCopied), y(kCopied);
  const Stream s(cudaStreamNonBlocking);
  if (!faulty) cudaHostRegister(host.data(), host.size() * sizeof(int), cudaHostRegisterDefault);
  cudaMemset(x, 0, kCopied * sizeof(int));
  if (faulty) {
    void* more = nullptr;
    cudaMalloc(&more, 1 << 20);
    after_fill_and_an_allocation<<<1, kCopied, 0, s>>>(x, y);
    cudaFree(more);
  } else {
    cudaHostUnregister(host.data());
    after_fill_and_an_allocation<<<1, kCopied, 0, s>>>(x, y);
  }
  cudaStreamSynchronize(s);
}

}  // namespace
