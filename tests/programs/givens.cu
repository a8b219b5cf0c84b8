// Least squares by Givens rotations in double precision. One block with one thread for each column
// rotates rows from the bottom up.
#include "program.h"

namespace givens {

__global__ void reduce(double* a, int rows, int columns, int mistake) {
  __shared__ double c, s;
  const int x = threadIdx.x;
  for (int k = 0; k < columns - 1; ++k)
    for (int y = rows - 1; y > k; --y) {
      if (x == 0) {
        const double p = a[(y - 1) * columns + k], q = a[y * columns + k], r = hypot(p, q);
        if (mistake != 2) c = 1, s = 0;
        if (r > 0) c = p / r, s = q / r;
      }
      __syncthreads();
      if (x >= k && x < columns) {
        const double p = a[(y - 1) * columns + x], q = a[y * columns + x];
        a[(y - 1) * columns + x] = c * p + s * q;
        a[y * columns + x] = c * q - s * p;
      }
      if (mistake != 1) __syncthreads();
    }
}

PROGRAM(givens, 2) {
  const int rows = 30, columns = 8;  // the last column is the right-hand side
  std::vector<double> a(rows * columns);
  Random random(79);
  for (double& v : a) v = random.below(41) - 20;
  for (int y = 0; y < rows; ++y)
    a[y * columns] = y < rows - 2;  // the first rotation is the identity
  Buffer<double> d_a(a);
  reduce<<<1, 32>>>(d_a, rows, columns, mistake);
  const std::vector<double> r = d_a.host();
  // Rotations keep the products of columns: R'R = A'A. An element is rotated rows + columns times.
  // The error of a rotation is at most 6 roundings of the column's norm (Higham, lemma 19.7). A
  // product has two columns.
  const double unit = std::ldexp(1.0, -53);
  double worst = 0, below = 0;
  for (int i = 0; i < columns; ++i)
    for (int j = 0; j < columns; ++j) {
      double before = 0, after = 0, ni = 0, nj = 0;
      for (int y = 0; y < rows; ++y) {
        before += a[y * columns + i] * a[y * columns + j],
            after += r[y * columns + i] * r[y * columns + j];
        ni += a[y * columns + i] * a[y * columns + i],
            nj += a[y * columns + j] * a[y * columns + j];
      }
      worst = std::max(worst, std::abs(before - after) / (2 * 6 * (rows + columns) * unit *
                                                          std::sqrt(ni * nj) * std::sqrt(rows)));
    }
  for (int k = 0; k < columns - 1; ++k)
    for (int y = k + 1; y < rows; ++y) below = std::max(below, std::abs(r[y * columns + k]));
  return verdict(worst <= 1 && below < 1e-12, "%g of its bound, %g below the diagonal", worst,
                 below);
}

}  // namespace givens
