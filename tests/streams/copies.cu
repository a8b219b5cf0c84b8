// A kernel and a copy or fill, in either order; two copies.
#include "kernels.cuh"

namespace lockstep::streams {
namespace {

// Kernel first. -----------------------------------------------------------------------------------

CASE("kernel and copy", result_copied_in_another_stream, "produce", "cudaMemcpyAsync") {
  Ints x(0);
  Pinned y(0);
  Stream a, b;
  produce<<<1, kN, 0, a>>>(x, 7, spin);
  cudaMemcpyAsync(y, x, kBytes, cudaMemcpyDeviceToHost, mistake ? b : a);
  want(y.holds(7));
}

CASE("kernel and copy", input_overwritten_by_a_copy, "consume_late", "cudaMemcpyAsync") {
  Ints x(7), y(0);
  Pinned next(8);
  Stream a, b;
  Event read;
  consume_late<<<1, kN, 0, a>>>(x, y, spin);
  cudaEventRecord(read, a);
  if (!mistake) cudaStreamWaitEvent(b, read);
  cudaMemcpyAsync(x, next, kBytes, cudaMemcpyHostToDevice, b);
  want(y.holds(7));
}

CASE("kernel and copy", result_copied_within_the_device, "produce", "cudaMemcpyAsync") {
  Ints x(0), y(0);
  Stream a(cudaStreamNonBlocking), b(cudaStreamNonBlocking);
  produce<<<1, kN, 0, a>>>(x, 7, spin);
  cudaMemcpyAsync(y, x, kBytes, cudaMemcpyDeviceToDevice, mistake ? b : a);
  want(y.holds(7));
}

// A blocking copy synchronises with the legacy stream, and so with blocking streams.
CASE("kernel and copy", blocking_copy_of_a_non_blocking_result, "produce", "cudaMemcpy") {
  Ints x(0);
  Stream a(mistake ? cudaStreamNonBlocking : cudaStreamDefault);
  produce<<<1, kN, 0, a>>>(x, 7, spin);
  std::vector<int> y(kN);
  cudaMemcpy(y.data(), x, kBytes, cudaMemcpyDeviceToHost);
  want(y == from(7));
  cudaDeviceSynchronize();
}

CASE("kernel and copy", blocking_copy_over_an_input, "consume_late", "cudaMemcpy") {
  Ints x(7), y(0);
  Stream a(mistake ? cudaStreamNonBlocking : cudaStreamDefault);
  consume_late<<<1, kN, 0, a>>>(x, y, spin);
  cudaMemcpy(x, from(8).data(), kBytes, cudaMemcpyHostToDevice);
  want(y.holds(7));
}

CASE("kernel and copy", rows_copied_in_another_stream, "produce", "cudaMemcpy2DAsync") {
  Ints x(0);
  Pinned y(0);
  Stream a, b;
  produce<<<1, kN, 0, a>>>(x, 7, spin);
  cudaMemcpy2DAsync(y, 64, x, 64, 64, 4, cudaMemcpyDeviceToHost, mistake ? b : a);
  want(y.holds(7));
}

// The copy's rows are 48 of 64 bytes. The kernel writes a column inside or between the rows.
__global__ void produce_column(int* x, int pitch, int column, long long clocks) {
  wait_for(clocks);
  x[threadIdx.x * pitch + column] = -1;
}
CASE("kernel and copy", column_within_the_rows, "produce_column", "cudaMemcpy2DAsync") {
  Ints x(7);
  Pinned y(0);
  Stream a, b;
  produce_column<<<1, 4, 0, a>>>(x, 16, mistake ? 11 : 12, spin);
  cudaMemcpy2DAsync(y, 64, x, 64, 48, 4, cudaMemcpyDeviceToHost, b);
  cudaDeviceSynchronize();
  for (int i = 0; i < 4; ++i) want(y[i * 16 + 11] == (mistake ? -1 : 7 + i * 16 + 11));
}

CASE("kernel and copy", box_copied_in_another_stream, "produce", "cudaMemcpy3DAsync") {
  Ints x(0);
  Pinned y(0);
  Stream a, b;
  produce<<<1, kN, 0, a>>>(x, 7, spin);
  cudaMemcpy3DParms box = {};
  box.srcPtr = make_cudaPitchedPtr(x, 32, 32, 4);
  box.dstPtr = make_cudaPitchedPtr(y, 32, 32, 4);
  box.extent = make_cudaExtent(32, 4, 2);
  box.kind = cudaMemcpyDeviceToHost;
  cudaMemcpy3DAsync(&box, mistake ? b : a);
  want(y.holds(7));
}

CASE("kernel and copy", result_filled_over, "produce", "cudaMemsetAsync") {
  Ints x(0);
  Stream a, b;
  Event produced;
  produce<<<1, kN, 0, a>>>(x, 7, spin);
  cudaEventRecord(produced, a);
  if (!mistake) cudaStreamWaitEvent(b, produced);
  cudaMemsetAsync(x, 0, kBytes, b);
  want(x.fetch() == std::vector<int>(kN, 0));
}

CASE("kernel and copy", input_filled_over, "consume_late", "cudaMemset") {
  Ints x(7), y(0);
  Stream a(mistake ? cudaStreamNonBlocking : cudaStreamDefault);
  consume_late<<<1, kN, 0, a>>>(x, y, spin);
  cudaMemset(x, 0, kBytes);
  want(y.holds(7));
}

// Copy first. -------------------------------------------------------------------------------------

CASE("copy and kernel", copy_from_pinned_memory, "cudaMemcpyAsync", "consume") {
  Ints x(0), y(0);
  Pinned source(7);
  Stream a, b;
  hold<<<1, 1, 0, a>>>(spin);
  cudaMemcpyAsync(x, source, kBytes, cudaMemcpyHostToDevice, a);
  consume<<<1, kN, 0, mistake ? b : a>>>(x, y);
  want(y.holds(7));
}

CASE("copy and kernel", copy_from_the_device, "cudaMemcpyAsync", "consume") {
  Ints source(7), x(0), y(0);
  Stream a(cudaStreamNonBlocking), b(cudaStreamNonBlocking);
  Event copied;
  hold<<<1, 1, 0, a>>>(spin);
  cudaMemcpyAsync(x, source, kBytes, cudaMemcpyDeviceToDevice, a);
  cudaEventRecord(copied, a);
  if (!mistake) cudaStreamWaitEvent(b, copied);
  consume<<<1, kN, 0, b>>>(x, y);
  want(y.holds(7));
}

CASE("copy and kernel", source_overwritten_by_a_kernel, "cudaMemcpyAsync", "produce") {
  Ints x(7);
  Pinned y(0);
  Stream a, b;
  hold<<<1, 1, 0, a>>>(spin);
  cudaMemcpyAsync(y, x, kBytes, cudaMemcpyDeviceToHost, a);
  produce<<<1, kN, 0, mistake ? b : a>>>(x, 8, 0);
  want(y.holds(7));
}

CASE("copy and kernel", fill_and_kernel, "cudaMemsetAsync", "increment") {
  Ints x(7);
  Stream a, b;
  hold<<<1, 1, 0, a>>>(spin);
  cudaMemsetAsync(x, 0, kBytes, a);
  increment<<<1, kN, 0, mistake ? b : a>>>(x, 0);
  want(x.fetch() == std::vector<int>(kN, 1));
}

CASE("copy and kernel", fill_in_the_legacy_stream, "cudaMemset", "increment") {
  Ints x(7);
  Stream b(mistake ? cudaStreamNonBlocking : cudaStreamDefault);
  hold<<<1, 1>>>(spin);
  cudaMemset(x, 0, kBytes);
  increment<<<1, kN, 0, b>>>(x, 0);
  want(x.fetch() == std::vector<int>(kN, 1));
}

CASE("copy and kernel", rows_filled, "cudaMemset2DAsync", "increment") {
  Ints x(7);
  Stream a, b;
  hold<<<1, 1, 0, a>>>(spin);
  cudaMemset2DAsync(x, 64, 0, 64, 4, a);
  increment<<<1, kN, 0, mistake ? b : a>>>(x, 0);
  want(x.fetch() == std::vector<int>(kN, 1));
}

CASE("copy and kernel", box_filled, "cudaMemset3DAsync", "increment") {
  Ints x(7);
  Stream a, b;
  hold<<<1, 1, 0, a>>>(spin);
  cudaMemset3DAsync(make_cudaPitchedPtr(x, 32, 32, 4), 0, make_cudaExtent(32, 4, 2), a);
  increment<<<1, kN, 0, mistake ? b : a>>>(x, 0);
  want(x.fetch() == std::vector<int>(kN, 1));
}

CASE("copy and kernel", rows_copied, "cudaMemcpy2DAsync", "consume") {
  Ints x(0), y(0);
  Pinned source(7);
  Stream a, b;
  hold<<<1, 1, 0, a>>>(spin);
  cudaMemcpy2DAsync(x, 64, source, 64, 64, 4, cudaMemcpyHostToDevice, a);
  consume<<<1, kN, 0, mistake ? b : a>>>(x, y);
  want(y.holds(7));
}

CASE("copy and kernel", box_copied, "cudaMemcpy3DAsync", "consume") {
  Ints source(7), x(0), y(0);
  Stream a, b;
  cudaMemcpy3DParms box = {};
  box.srcPtr = make_cudaPitchedPtr(source, 32, 32, 4);
  box.dstPtr = make_cudaPitchedPtr(x, 32, 32, 4);
  box.extent = make_cudaExtent(32, 4, 2);
  box.kind = cudaMemcpyDeviceToDevice;
  hold<<<1, 1, 0, a>>>(spin);
  cudaMemcpy3DAsync(&box, a);
  consume<<<1, kN, 0, mistake ? b : a>>>(x, y);
  want(y.holds(7));
}

// "For transfers from pageable host memory to device memory ... The function will return once the
// pageable buffer has been copied to the staging memory ..., but the DMA to final destination may
// not have completed."
CASE("copy and kernel", blocking_copy_from_pageable_memory, "cudaMemcpy", "consume") {
  Ints x(0), y(0);
  const std::vector<int> source = from(7);
  Stream b(mistake ? cudaStreamNonBlocking : cudaStreamDefault);
  cudaMemcpy(x, source.data(), kBytes, cudaMemcpyHostToDevice);
  consume<<<1, kN, 0, b>>>(x, y);
  want(y.holds(7));
}

// The asynchronous copy from pageable memory may return before its data has been transferred.
CASE("copy and kernel", copy_from_pageable_memory, "cudaMemcpyAsync", "consume") {
  Ints x(0), y(0);
  const std::vector<int> source = from(7);
  Stream a, b;
  hold<<<1, 1, 0, a>>>(spin);
  cudaMemcpyAsync(x, source.data(), kBytes, cudaMemcpyHostToDevice, a);
  consume<<<1, kN, 0, mistake ? b : a>>>(x, y);
  want(y.holds(7));
}

// "For transfers from pinned host memory to device memory, the function is synchronous with respect
// to the host."
CASE("copy and kernel", blocking_and_other_copy_from_pinned_memory, "cudaMemcpyAsync", "consume") {
  Ints x(0), y(0);
  Pinned source(7);
  Stream b(cudaStreamNonBlocking);
  hold<<<1, 1>>>(spin);
  if (mistake) {
    cudaMemcpyAsync(x, source, kBytes, cudaMemcpyHostToDevice);
  } else {
    cudaMemcpy(x, source, kBytes, cudaMemcpyHostToDevice);
  }
  consume<<<1, kN, 0, b>>>(x, y);
  want(y.holds(7));
}

// "For transfers from device memory to device memory, no host-side synchronization is performed."
CASE("copy and kernel", blocking_copy_within_the_device, "cudaMemcpy", "consume") {
  Ints source(7), x(0), y(0);
  Stream b(cudaStreamNonBlocking);
  hold<<<1, 1>>>(spin);
  cudaMemcpy(x, source, kBytes, cudaMemcpyDeviceToDevice);
  if (!mistake) cudaStreamSynchronize(nullptr);
  consume<<<1, kN, 0, b>>>(x, y);
  want(y.holds(7));
}

// The API reference says of an asynchronous copy to pageable memory that it "might be synchronous
// with respect to host": no guarantee.
CASE("copy and kernel", copy_to_the_host_is_waited_for, "cudaMemcpyAsync", "produce") {
  Ints x(7);
  Pinned pinned(0);
  std::vector<int> pageable(kN);
  Stream a(cudaStreamNonBlocking), b(cudaStreamNonBlocking);
  hold<<<1, 1, 0, a>>>(spin);
  int* y = mistake ? static_cast<int*>(pinned) : pageable.data();
  cudaMemcpyAsync(y, x, kBytes, cudaMemcpyDeviceToHost, a);
  if (!mistake) cudaStreamSynchronize(a);
  produce<<<1, kN, 0, b>>>(x, 8, 0);
  cudaDeviceSynchronize();
  want(std::vector<int>(y, y + kN) == from(7));
}

// A prefetch moves pages without accessing values; a fill writes.
CASE("copy and kernel", prefetch_is_no_access, "cudaMemsetAsync", "produce") {
  int* x = nullptr;
  cudaMallocManaged(&x, kBytes);
  cudaMemset(x, 0, kBytes);
  cudaDeviceSynchronize();
  Stream a, b;
  cudaMemLocation here = {};
  here.type = cudaMemLocationTypeDevice;
  hold<<<1, 1, 0, a>>>(spin);
  if (mistake) {
    cudaMemsetAsync(x, 0, kBytes, a);
  } else {
    cudaMemPrefetchAsync(x, kBytes, here, 0, a);
  }
  produce<<<1, kN, 0, b>>>(x, 7, 0);
  cudaDeviceSynchronize();
  want(std::vector<int>(x, x + kN) == from(7));
  cudaFree(x);
}

// Symbols. ----------------------------------------------------------------------------------------

__device__ int symbol[kN];
__constant__ int constant[kN];
__global__ void consume_symbol(int* y) { y[threadIdx.x] = symbol[threadIdx.x]; }
__global__ void consume_constant(int* y) { y[threadIdx.x] = constant[threadIdx.x]; }
__global__ void produce_symbol(int value, long long clocks) {
  wait_for(clocks);
  symbol[threadIdx.x] = value + threadIdx.x;
}

CASE("symbols", copied_to_a_variable, "cudaMemcpyToSymbolAsync", "consume_symbol") {
  Ints y(0);
  Pinned source(7), old(0);
  Stream a, b;
  cudaMemcpyToSymbol(symbol, old, kBytes);
  cudaDeviceSynchronize();
  hold<<<1, 1, 0, a>>>(spin);
  cudaMemcpyToSymbolAsync(symbol, source, kBytes, 0, cudaMemcpyHostToDevice, a);
  consume_symbol<<<1, kN, 0, mistake ? b : a>>>(y);
  want(y.holds(7));
}

CASE("symbols", copied_to_constant_memory, "cudaMemcpyToSymbolAsync", "consume_constant") {
  Ints y(0);
  Pinned source(7), old(0);
  Stream a, b;
  cudaMemcpyToSymbol(constant, old, kBytes);
  cudaDeviceSynchronize();
  hold<<<1, 1, 0, a>>>(spin);
  cudaMemcpyToSymbolAsync(constant, source, kBytes, 0, cudaMemcpyHostToDevice, a);
  consume_constant<<<1, kN, 0, mistake ? b : a>>>(y);
  want(y.holds(7));
}

CASE("symbols", copied_from_a_variable, "produce_symbol", "cudaMemcpyFromSymbolAsync") {
  Pinned y(0);
  Stream a, b;
  produce_symbol<<<1, kN>>>(0, 0);
  cudaDeviceSynchronize();
  produce_symbol<<<1, kN, 0, a>>>(7, spin);
  cudaMemcpyFromSymbolAsync(y, symbol, kBytes, 0, cudaMemcpyDeviceToHost, mistake ? b : a);
  want(y.holds(7));
}

}  // namespace
}  // namespace lockstep::streams
