// Integrals of several functions by Simpson's rule. The functions are called through a table of
// device function pointers.
#include "program.h"

namespace integration {

using Function = double (*)(double);

__device__ double cube(double x) { return x * x * x; }
__device__ double line(double x) { return 2 * x + 1; }
__device__ double bump(double x) { return x < 0.5 ? 0 : 4 * (x - 0.5); }
__device__ Function table[3] = {cube, line, bump};

// Block f integrates function f over [0, 1]; n intervals, even.
__global__ void simpson(int n, double* out, int mistake) {
  __shared__ double total;
  if (threadIdx.x == 0 && mistake != 2) total = 0;
  __syncthreads();
  const Function f = table[blockIdx.x];
  double sum = 0;
  for (int i = threadIdx.x; mistake == 1 ? i < n : i <= n; i += blockDim.x)
    sum += (i == 0 || i == n ? 1 : i % 2 ? 4 : 2) * f(static_cast<double>(i) / n);
  atomicAdd(&total, sum);
  __syncthreads();
  if (threadIdx.x == 0) out[blockIdx.x] = total / (3 * n);
}

PROGRAM(integration, 2) {
  const int n = 64;  // all terms are multiples of 2^-18: sums are exact in any order
  Buffer<double> out(3);
  simpson<<<3, 40>>>(n, out, mistake);
  const std::vector<double> got = out.host();
  // Simpson's rule is exact for polynomials of degree three and less, also piecewise. The last
  // division rounds once.
  const double expected[3] = {0.25, 2, 0.5};
  double error = 0;
  for (int f = 0; f < 3; ++f) error = std::max(error, std::abs(got[f] - expected[f]));
  return verdict(error <= std::ldexp(1.0, -52), "%.17g %.17g %.17g", got[0], got[1], got[2]);
}

}  // namespace integration
