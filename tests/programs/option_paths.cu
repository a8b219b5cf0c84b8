// Paths of a price that is multiplied by exp of a rate in every step. Every step is stored: a
// pointer advances along the path's column.
#include "program.h"

namespace option_paths {

__global__ void paths(int steps, int n, double start, double dt, const double* __restrict__ rate,
                      double* __restrict__ price, int mistake) {
  int o = blockIdx.x * blockDim.x + threadIdx.x;
  if (o >= n) return;
  double s = start;
  for (int t = 0; t < steps - 1; ++t, o += n) {
    s *= exp(dt * rate[o]);
    price[o] = s;
  }
  s *= exp(dt * rate[mistake == 1 ? o + n : o]);
  price[o] = s;
}

// The payoff of an average-price option; each thread computes one path, each block sums.
__global__ void payoff(int steps, int n, double strike, const double* price, double* sums,
                       int mistake) {
  __shared__ double part[64];
  const int p = blockIdx.x * blockDim.x + threadIdx.x;
  double total = 0;
  if (p < n)
    for (int t = 0; t < steps; ++t) total += price[t * n + p];
  if (p < n || mistake != 2) part[threadIdx.x] = p < n ? fmax(total / steps - strike, 0.0) : 0;
  __syncthreads();
  for (int half = 32; half > 0; half /= 2) {
    if (threadIdx.x < half) part[threadIdx.x] += part[threadIdx.x + half];
    __syncthreads();
  }
  if (threadIdx.x == 0) sums[blockIdx.x] = part[0];
}

PROGRAM(option_paths, 2) {
  const int steps = 13, n = 150, blocks = divide_up(n, 64);
  const double start = 3.6, dt = 0.01, strike = 3.55;
  std::vector<double> rate(steps * n);
  Random random(82);
  for (double& r : rate) r = 4 * random.unit() - 2;
  Buffer<double> d_rate(rate), price(steps * n), sums(blocks);
  paths<<<blocks, 64>>>(steps, n, start, dt, d_rate, price, mistake);
  payoff<<<blocks, 64>>>(steps, n, strike, price, sums, mistake);
  const std::vector<double> got = price.host(), parts = sums.host();
  // The reference computes a price as exp of one sum: each step adds at most 0.02, with one
  // rounding. The kernel's step has a product and an exp with an error of one ulp, of a rounded
  // argument below 0.02. This is less than four roundings a step.
  const double relative = 4 * (steps + 1) * std::ldexp(1.0, -53);
  double worst = 0, expected = 0, sum = 0;
  for (int p = 0; p < n; ++p) {
    long double power = 0, total = 0;
    for (int t = 0; t < steps; ++t) {
      power += static_cast<long double>(dt) * rate[t * n + p];
      const double exact = static_cast<double>(start * std::exp(power));
      total += exact,
          worst = std::max(worst, std::abs(got[t * n + p] - exact) / (relative * exact));
    }
    expected += std::max(static_cast<double>(total / steps) - strike, 0.0);
  }
  for (const double s : parts) sum += s;
  const double bound =
      n * 5 * (relative + (steps + n) * std::ldexp(1.0, -53));  // no price is above 5
  return verdict(worst <= 1 && std::abs(sum - expected) <= bound,
                 "%g of its bound, payoff %.12g, %.12g expected", worst, sum, expected);
}

}  // namespace option_paths
