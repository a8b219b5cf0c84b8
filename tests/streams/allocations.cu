// Stream-ordered allocation: memory used before its allocation or after its release.
#include "kernels.cuh"

namespace lockstep::streams {
namespace {

// Allocates memory from the pool and sets element i to value + i.
int* allocate(cudaStream_t stream, int value) {
  int* x = nullptr;
  cudaMallocAsync(&x, kBytes, stream);
  produce<<<1, kN, 0, stream>>>(x, value, 0);
  cudaStreamSynchronize(stream);
  return x;
}

CASE("allocations", freed_in_another_stream, "consume_late", "cudaFreeAsync") {
  Ints y(0);
  Stream a, b;
  int* x = allocate(a, 7);
  Event used;
  consume_late<<<1, kN, 0, a>>>(x, y, spin);
  cudaEventRecord(used, a);
  if (!mistake) cudaStreamWaitEvent(b, used);
  cudaFreeAsync(x, b);
  // The pool may return the same memory.
  int* next = nullptr;
  cudaMallocAsync(&next, kBytes, b);
  produce<<<1, kN, 0, b>>>(next, 8, 0);
  want(y.holds(7));
  cudaFreeAsync(next, b);
  cudaStreamSynchronize(b);
}

CASE("allocations", freed_by_the_side_of_a_writer, "produce", "cudaFreeAsync") {
  Stream a(cudaStreamNonBlocking), b(cudaStreamNonBlocking);
  int* x = allocate(a, 7);
  produce<<<1, kN, 0, a>>>(x, 8, spin);
  if (!mistake) cudaStreamSynchronize(a);
  cudaFreeAsync(x, b);
  int* next = nullptr;
  cudaMallocAsync(&next, kBytes, b);
  produce<<<1, kN, 0, b>>>(next, 9, 0);
  std::vector<int> result(kN);
  cudaDeviceSynchronize();
  cudaMemcpy(result.data(), next, kBytes, cudaMemcpyDeviceToHost);
  want(result == from(9));
  cudaFreeAsync(next, b);
  cudaStreamSynchronize(b);
}

CASE("allocations", freed_while_it_is_copied, "cudaMemcpyAsync", "cudaFreeAsync") {
  Pinned y(0);
  Stream a, b;
  int* x = allocate(a, 7);
  Event copied;
  hold<<<1, 1, 0, a>>>(spin);
  cudaMemcpyAsync(y, x, kBytes, cudaMemcpyDeviceToHost, a);
  cudaEventRecord(copied, a);
  if (!mistake) cudaStreamWaitEvent(b, copied);
  cudaFreeAsync(x, b);
  int* next = nullptr;
  cudaMallocAsync(&next, kBytes, b);
  produce<<<1, kN, 0, b>>>(next, 8, 0);
  want(y.holds(7));
  cudaFreeAsync(next, b);
  cudaStreamSynchronize(b);
}

// The allocation is an operation of its stream; uses in other streams must be ordered after it.
CASE("allocations", used_before_it_is_allocated, "cudaMallocAsync", "produce") {
  Ints y(0);
  Stream a, b;
  Event allocated;
  int* x = nullptr;
  hold<<<1, 1, 0, a>>>(spin);
  cudaMallocAsync(&x, kBytes, a);
  cudaEventRecord(allocated, a);
  if (!mistake) cudaStreamWaitEvent(b, allocated);
  produce<<<1, kN, 0, b>>>(x, 7, 0);
  consume<<<1, kN, 0, b>>>(x, y);
  want(y.holds(7));
  cudaFreeAsync(x, b);
  cudaStreamSynchronize(b);
}

// The free comes first and is not ordered with the later use.
CASE("allocations", used_after_the_free, "cudaFreeAsync", "consume") {
  Ints y(0);
  Stream a, b;
  int* x = allocate(a, 7);
  Event used;
  if (!mistake) {
    consume<<<1, kN, 0, b>>>(x, y);
    cudaEventRecord(used, b);
    cudaStreamWaitEvent(a, used);
  }
  cudaFreeAsync(x, a);
  int* next = nullptr;
  cudaMallocAsync(&next, kBytes, a);
  produce<<<1, kN, 0, a>>>(next, 8, 0);
  if (mistake) {
    hold<<<1, 1, 0, b>>>(spin);
    consume<<<1, kN, 0, b>>>(x, y);
  }
  want(y.holds(7));
  cudaFreeAsync(next, a);
  cudaStreamSynchronize(a);
}

// cudaFree of pool memory does not synchronise: the caller must.
CASE("allocations", pool_memory_freed_by_cudafree, "consume_late", "cudaFree") {
  Ints y(0);
  Stream a(cudaStreamNonBlocking);
  int* x = allocate(a, 7);
  consume_late<<<1, kN, 0, a>>>(x, y, spin);
  if (!mistake) cudaStreamSynchronize(a);
  cudaFree(x);
  want(y.holds(7));
}

CASE("allocations", freed_in_the_legacy_stream, "consume_late", "cudaFreeAsync") {
  Ints y(0);
  Stream a(mistake ? cudaStreamNonBlocking : cudaStreamDefault);
  int* x = allocate(a, 7);
  consume_late<<<1, kN, 0, a>>>(x, y, spin);
  cudaFreeAsync(x, nullptr);
  int* next = nullptr;
  cudaMallocAsync(&next, kBytes, nullptr);
  produce<<<1, kN>>>(next, 8, 0);
  want(y.holds(7));
  cudaFreeAsync(next, nullptr);
  cudaStreamSynchronize(nullptr);
}

// Memory of a pool that the program creates.
CASE("allocations", from_a_pool_of_its_own, "consume_late", "cudaFreeAsync") {
  cudaMemPool_t pool;
  cudaMemPoolProps properties = {};
  properties.allocType = cudaMemAllocationTypePinned;
  properties.location.type = cudaMemLocationTypeDevice;
  cudaMemPoolCreate(&pool, &properties);
  {
    Ints y(0);
    Stream a, b;
    int* x = nullptr;
    cudaMallocFromPoolAsync(&x, kBytes, pool, a);
    produce<<<1, kN, 0, a>>>(x, 7, 0);
    cudaStreamSynchronize(a);
    consume_late<<<1, kN, 0, a>>>(x, y, spin);
    cudaFreeAsync(x, mistake ? b : a);
    int* next = nullptr;
    cudaMallocFromPoolAsync(&next, kBytes, pool, mistake ? b : a);
    produce<<<1, kN, 0, mistake ? b : a>>>(next, 8, 0);
    want(y.holds(7));
    cudaFreeAsync(next, b);
    cudaStreamSynchronize(b);
  }
  cudaMemPoolDestroy(pool);
}

}  // namespace
}  // namespace lockstep::streams
