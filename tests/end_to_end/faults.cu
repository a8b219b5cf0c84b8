#include "tests/end_to_end/faults.h"

namespace lockstep::end_to_end {
namespace {

__global__ void doubles_kernel(const float* x, float* y, int n) {
  const int i = threadIdx.x;
  if (i < n) y[i] = 2 * x[i];
}

__global__ void writes_past_the_end_kernel(const float* x, float* y, int n) {
  const int i = threadIdx.x;
  if (i < n) y[i] = 2 * x[i];
  if (i == 0) y[n] = 0;  // planted: out-of-bounds
}

__global__ void reads_misaligned_kernel(const float* x, float* y, int n) {
  const int i = threadIdx.x;
  const char* bytes = reinterpret_cast<const char*>(x);
  if (i == 0 && n > 0) y[0] = *reinterpret_cast<const float*>(bytes + 2);  // planted: misaligned
}

__global__ void reads_uninitialised_kernel(const float* x, float* y, int n) {
  __shared__ float cells[1024];
  const int i = threadIdx.x;
  if (i < n && i > 0) cells[i] = x[i];
  __syncthreads();
  if (i < n) y[i] = 2 * cells[i];  // planted: uninitialised
}

template <bool kBarrier>
__global__ void exchanges_kernel(const float* x, float* y, int n) {
  __shared__ float cells[1024];
  const int i = threadIdx.x;
  const int last = static_cast<int>(blockDim.x) - 1;
  cells[i] = i < n ? x[i] : 0;  // planted: race (write)
  if (kBarrier) __syncthreads();
  const float mirrored = cells[last - i];  // planted: race (read)
  __syncthreads();
  cells[last - i] = mirrored;
  __syncthreads();
  if (i < n) y[i] = 2 * cells[i];
}

__global__ void leaves_last_unwritten_kernel(const float* x, float* y, int n) {
  const int i = threadIdx.x;
  if (i < n - 1) y[i] = 2 * x[i];  // planted: unwritten
}

__global__ void leaves_beyond_32_unwritten_kernel(const float* x, float* y, int n) {
  const int i = threadIdx.x;
  if (i < n && i < 32) y[i] = 2 * x[i];
}

__global__ void changes_its_input_kernel(float* x, float* y, int n) {
  const int i = threadIdx.x;
  if (i < n) y[i] = 2 * x[i];
  if (i == 0 && n > 0) x[0] = 54;
}

__global__ void adds_one_beyond_100_kernel(const float* x, float* y, int n) {
  const int i = threadIdx.x;
  if (i < n) y[i] = 2 * x[i] + (i >= 100 ? 1 : 0);
}

__global__ void adds_to_its_output_kernel(const float* x, float* y, int n) {
  const int i = threadIdx.x;
  if (i < n) y[i] += 2 * x[i];  // planted: unwritten output
}

__global__ void writes_nowhere_kernel(float* y) {
  if (threadIdx.x == 0) *y = 0;  // planted: nowhere
}

__global__ void never_ends_kernel() {
  while (true) __nanosleep(1000);
}

cudaError_t finish() {
  const cudaError_t launch = cudaGetLastError();
  return launch != cudaSuccess ? launch : cudaDeviceSynchronize();
}

}  // namespace

cudaError_t doubles(const float* x, float* y, int n, int threads) {
  doubles_kernel<<<1, threads>>>(x, y, n);
  return finish();
}

cudaError_t writes_past_the_end(const float* x, float* y, int n, int threads) {
  writes_past_the_end_kernel<<<1, threads>>>(x, y, n);
  return finish();
}

cudaError_t reads_misaligned(const float* x, float* y, int n, int threads) {
  reads_misaligned_kernel<<<1, threads>>>(x, y, n);
  return finish();
}

cudaError_t reads_uninitialised(const float* x, float* y, int n, int threads) {
  reads_uninitialised_kernel<<<1, threads>>>(x, y, n);
  return finish();
}

cudaError_t races(const float* x, float* y, int n, int threads) {
  exchanges_kernel<false><<<1, threads>>>(x, y, n);
  return finish();
}

cudaError_t races_not(const float* x, float* y, int n, int threads) {
  exchanges_kernel<true><<<1, threads>>>(x, y, n);
  return finish();
}

cudaError_t leaves_last_unwritten(const float* x, float* y, int n, int threads) {
  leaves_last_unwritten_kernel<<<1, threads>>>(x, y, n);
  return finish();
}

cudaError_t leaves_beyond_32_unwritten(const float* x, float* y, int n, int threads) {
  leaves_beyond_32_unwritten_kernel<<<1, threads>>>(x, y, n);
  return finish();
}

cudaError_t changes_its_input(const float* x, float* y, int n, int threads) {
  changes_its_input_kernel<<<1, threads>>>(const_cast<float*>(x), y, n);
  return finish();
}

cudaError_t adds_one_beyond_100(const float* x, float* y, int n, int threads) {
  adds_one_beyond_100_kernel<<<1, threads>>>(x, y, n);
  return finish();
}

cudaError_t adds_to_its_output(const float* x, float* y, int n, int threads) {
  adds_to_its_output_kernel<<<1, threads>>>(x, y, n);
  return finish();
}

cudaError_t writes_nowhere(const float*, float*, int, int threads) {
  writes_nowhere_kernel<<<1, threads>>>(nullptr);
  return finish();
}

cudaError_t never_ends(const float*, float*, int, int threads) {
  never_ends_kernel<<<1, threads>>>();
  return finish();
}

}  // namespace lockstep::end_to_end
