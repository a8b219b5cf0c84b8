// Conjugate gradients for Poisson's equation on a square. The last block completes each scalar
// product and resets its counter.
#include "program.h"

namespace conjugate_gradients {

__device__ unsigned done = 0;

__global__ void laplace(const double* p, double* q, int side) {
  const int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y;
  if (x >= side) return;
  const int i = y * side + x;
  double sum = 4 * p[i];
  if (x > 0) sum -= p[i - 1];
  if (x < side - 1) sum -= p[i + 1];
  if (y > 0) sum -= p[i - side];
  if (y < side - 1) sum -= p[i + side];
  q[i] = sum;
}

__global__ void dot(const double* a, const double* b, int n, double* parts, double* result,
                    int mistake) {
  double sum = 0;
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x)
    sum += a[i] * b[i];
  for (int d = 16; d > 0; d /= 2) sum += __shfl_xor_sync(0xffffffff, sum, d);
  if (threadIdx.x != 0) return;
  parts[blockIdx.x] = sum;
  if (mistake != 1) __threadfence();
  if (atomicAdd(&done, 1) != gridDim.x - 1) return;
  if (mistake != 1) __threadfence();
  double all = 0;
  for (int b = 0; b < gridDim.x; ++b) all += parts[b];
  *result = all;
  if (mistake != 2) done = 0;
}

// x += s p and r -= s q with s = rr / pq; the scalars stay on the device.
__global__ void advance(double* x, double* r, const double* p, const double* q, const double* rr,
                        const double* pq, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  const double s = *rr / *pq;
  x[i] += s * p[i], r[i] -= s * q[i];
}

__global__ void turn(double* p, const double* r, const double* now, const double* before, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) p[i] = r[i] + *now / *before * p[i];
}

PROGRAM(conjugate_gradients, 2) {
  const int side = 19, n = side * side, blocks = divide_up(n, 64);
  std::vector<double> b(n);
  Random random(75);
  for (double& v : b) v = random.below(7) - 3;
  Buffer<double> x(n), r(b), p(b), q(n), parts(5), rr(1), next(1), pq(1);
  x.zero();
  dot<<<5, 32>>>(r, r, n, parts, rr, mistake);
  double norm = 1;
  int steps = 0;
  while (norm > 1e-20 && ++steps < 90) {
    laplace<<<dim3(divide_up(side, 32), side), 32>>>(p, q, side);
    dot<<<5, 32>>>(p, q, n, parts, pq, mistake);
    advance<<<blocks, 64>>>(x, r, p, q, rr, pq, n);
    dot<<<5, 32>>>(r, r, n, parts, next, mistake);
    turn<<<blocks, 64>>>(p, r, next, rr, n);
    rr.swap(next);
    norm = rr.host()[0];
  }
  // The residual itself: r drifts from b - A x by some 10 roundings of numbers below 8 max |x| in
  // each step.
  const std::vector<double> got = x.host();
  double most = 0, residual = 0;
  for (const double v : got) most = std::max(most, std::abs(v));
  for (int i = 0; i < n; ++i) {
    double sum = b[i] - 4 * got[i];
    if (i % side > 0) sum += got[i - 1];
    if (i % side < side - 1) sum += got[i + 1];
    if (i >= side) sum += got[i - side];
    if (i < n - side) sum += got[i + side];
    residual = std::max(residual, std::abs(sum));
  }
  const double bound = 1e-10 + 80 * 90 * std::max(1.0, most) * std::ldexp(1.0, -53);
  return verdict(residual <= bound && steps < 90, "residual %g of %g after %d steps", residual,
                 bound, steps);
}

}  // namespace conjugate_gradients
