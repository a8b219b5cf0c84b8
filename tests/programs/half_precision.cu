// Sums and products in half precision and bfloat16, two numbers at a time. All values are chosen so
// that the results are exact.
#include <cuda_bf16.h>
#include <cuda_fp16.h>

#include "program.h"

namespace half_precision {

__global__ void axpy(int pairs, __half a, const __half* x, __half* y, int mistake) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= pairs) return;
  const __half2* from = reinterpret_cast<const __half2*>(x + (mistake == 1 ? 1 : 0));
  __half2* to = reinterpret_cast<__half2*>(y);
  to[i] = __hfma2(__half2half2(a), from[i], to[i]);
}

__global__ void dot(const __nv_bfloat16* a, const __nv_bfloat16* b, int n, float* out,
                    int mistake) {
  float sum = 0;
  for (int i = threadIdx.x; i < n; i += 32) {
    if (mistake == 2)
      sum = __bfloat162float(
          __hadd(__float2bfloat16(sum), __hmul(a[i], b[i])));  // eight bits cannot hold the sum
    else
      sum += __bfloat162float(a[i]) * __bfloat162float(b[i]);
  }
  for (int d = 16; d > 0; d /= 2) sum += __shfl_xor_sync(0xffffffff, sum, d);
  if (threadIdx.x == 0) *out = sum;
}

// The maximum by numeric comparison, and conversions to 16-bit integers and back.
__global__ void clamp(__half* x, int n, __half most, short* rounded) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  x[i] = __hgt(x[i], most) ? most : x[i];
  rounded[i] = __half2short_rn(x[i]);
}

PROGRAM(half_precision, 2) {
  const int n = 502;
  std::vector<__half> x(n + 2), y(n);
  std::vector<__nv_bfloat16> p(n), q(n);
  std::vector<int> xi(n), yi(n);
  Random random(91);
  int expected = 0;
  for (int i = 0; i < n; ++i) {
    xi[i] = random.below(33) - 16, yi[i] = random.below(1001) - 500;  // quarters
    x[i] = __float2half(xi[i] / 4.0f), y[i] = __float2half(yi[i] / 4.0f);
    const int a = random.below(201) - 100, b = random.below(201) - 100;
    p[i] = __float2bfloat16(static_cast<float>(a)), q[i] = __float2bfloat16(static_cast<float>(b)),
    expected += a * b;
  }
  x[n] = x[n + 1] = __float2half(0);
  Buffer<__half> d_x(x), d_y(y);
  Buffer<__nv_bfloat16> d_p(p), d_q(q);
  Buffer<float> sum(1);
  Buffer<short> rounded(n);
  axpy<<<divide_up(n / 2, 64), 64>>>(n / 2, __float2half(6), d_x, d_y, mistake);
  dot<<<1, 32>>>(d_p, d_q, n, sum, mistake);
  clamp<<<divide_up(n, 64), 64>>>(d_y, n, __float2half(100), rounded);
  const std::vector<__half> got = d_y.host();
  const std::vector<short> whole = rounded.host();
  int wrong = 0;
  for (int i = 0; i < n; ++i) {
    const int quarters = std::min(yi[i] + 6 * xi[i], 400);
    wrong += __half2float(got[i]) != quarters / 4.0f;
    wrong += whole[i] != static_cast<short>(std::nearbyint(quarters / 4.0));
  }
  const float total = sum.host()[0];
  return verdict(wrong == 0 && total == expected, "%d wrong, scalar product %g of %d", wrong, total,
                 expected);
}

}  // namespace half_precision
