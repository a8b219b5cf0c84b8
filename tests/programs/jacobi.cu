// Jacobi's iteration for A x = b until no element changes by more than a given step. Every thread
// may set the flag for another iteration.
#include "program.h"

namespace jacobi {

__device__ int moved;

__global__ void iterate(const float* __restrict__ a, const float* __restrict__ b, const float* from,
                        float* to, int n, float least) {
  const int row = blockIdx.x * blockDim.x + threadIdx.x;
  bool mine = false;
  if (row < n) {
    float sum = b[row];
    for (int c = 0; c < n; ++c)
      if (c != row) sum -= a[row * n + c] * from[c];
    to[row] = sum / a[row * n + row];
    mine = fabsf(to[row] - from[row]) > least;
  }
  if (__syncthreads_or(mine) && threadIdx.x == 0) moved = 1;
}

PROGRAM(jacobi, 2) {
  const int n = 90;
  std::vector<float> a(n * n), b(n, 0);
  Random random(73);
  for (int i = 0; i < n * n; ++i) a[i] = static_cast<float>(random.below(9) - 4);
  std::vector<double> solution(n);
  for (int y = 0; y < n; ++y) {
    a[y * n + y] = 512;  // >= 1.4 times the sum of the others, which is at most 4 * 89
    solution[y] = random.below(33) - 16;
  }
  for (int y = 0; y < n; ++y) {
    double sum = 0;
    for (int x = 0; x < n; ++x) sum += a[y * n + x] * solution[x];
    b[y] = static_cast<float>(sum);  // an integer below 2^24
  }
  Buffer<float> d_a(a), d_b(b), from(n), to(n);
  if (mistake != 2) from.zero();
  const float least = std::ldexp(1.0f, -12);
  int steps = 0, again;
  do {
    const int zero = 0;
    CUDA(cudaMemcpyToSymbol(moved, &zero, sizeof zero));
    iterate<<<divide_up(n, 64), 64>>>(d_a, d_b, from, mistake == 1 ? from : to, n, least);
    CUDA(cudaMemcpyFromSymbol(&again, moved, sizeof again));
    if (mistake != 1) from.swap(to);
  } while (again && ++steps < 100);
  const std::vector<float> got = from.host();
  // The iteration multiplies errors by q = 356 / 512 < 0.7: the error is at most q / (1 - q) < 2.4
  // times the last step. A step has n + 2 roundings of sums of at most 512 * 16 + 356 * 16, divided
  // by 512; they add up to at most 1 / (1 - q) times that.
  const double bound = 2.4 * least + (n + 2) * std::ldexp(1.0, -24) * 28 * 3.4;
  double error = 0;
  for (int i = 0; i < n; ++i) error = std::max(error, std::abs(got[i] - solution[i]));
  return verdict(error <= bound && steps < 100, "error %g of %g after %d steps", error, bound,
                 steps);
}

}  // namespace jacobi
