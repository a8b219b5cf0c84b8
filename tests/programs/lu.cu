// LU decomposition in place (Doolittle, without pivots: the matrix is diagonally dominant), in
// double precision. Two launches for each column.
#include "program.h"

namespace lu {

__global__ void scale(double* a, int n, int k) {
  const int y = k + 1 + blockIdx.x * blockDim.x + threadIdx.x;
  if (y < n) a[y * n + k] /= a[k * n + k];
}

__global__ void update(double* a, int n, int k, int mistake) {
  const int x = k + 1 + blockIdx.x * blockDim.x + threadIdx.x,
            y = k + 1 + blockIdx.y * blockDim.y + threadIdx.y;
  if (x >= n || y >= n) return;
  if (mistake == 1 && x == k + 1) a[y * n + k] /= a[k * n + k];  // both steps in one launch
  a[y * n + x] -= a[y * n + k] * a[k * n + x];
}

PROGRAM(lu, 2) {
  const int n = 33;
  std::vector<double> a(n * n);
  Random random(71);
  for (double& v : a) v = random.unit() - 0.5;
  for (int i = 0; i < n; ++i) a[i * n + i] += n;
  Buffer<double> d_a(a);
  for (int k = 0; k < n - 1 - (mistake == 2); ++k) {
    if (mistake != 1) scale<<<divide_up(n - k - 1, 32), 32>>>(d_a, n, k);
    update<<<dim3(divide_up(n - k - 1, 8), divide_up(n - k - 1, 8)), dim3(8, 8)>>>(d_a, n, k,
                                                                                   mistake);
  }
  const std::vector<double> got = d_a.host();
  // Element by element |A - LU| <= gamma(n) |L| |U| (Higham, theorem 9.3). The product here adds n
  // roundings.
  const double unit = std::ldexp(1.0, -53), gamma = 2 * n * unit / (1 - 2 * n * unit);
  double worst = 0;
  for (int y = 0; y < n; ++y)
    for (int x = 0; x < n; ++x) {
      double sum = 0, size = 0;
      for (int k = 0; k <= std::min(x, y); ++k) {
        const double p = (k == y ? 1 : got[y * n + k]) * got[k * n + x];
        sum += p, size += std::abs(p);
      }
      worst = std::max(worst, std::abs(sum - a[y * n + x]) / (gamma * size));
    }
  return verdict(worst <= 1, "worst residual %g of its bound", worst);
}

}  // namespace lu
