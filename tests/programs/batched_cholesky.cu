// Cholesky decompositions of many small matrices in double precision. Each warp decomposes one
// matrix, a packed triangle in shared memory.
#include "program.h"

namespace batched_cholesky {

constexpr int kMax = 12, kWarps = 4;

__device__ int at(int y, int x) { return y * (y + 1) / 2 + x; }

__global__ void factor(double* matrices, int n, int count, int* failed, int mistake) {
  __shared__ double all[kWarps][kMax * (kMax + 1) / 2];
  const int warp = threadIdx.x / 32, lane = threadIdx.x % 32, which = blockIdx.x * kWarps + warp,
            size = n * (n + 1) / 2;
  if (which >= count) return;
  double *a = all[warp], *mine = matrices + which * size;
  for (int i = lane; i < size; i += 32) a[i] = mine[i];
  __syncwarp();
  for (int k = 0; k < n; ++k) {
    const double pivot = a[at(k, k)];
    if (!(pivot > 0)) {
      if (lane == 0) failed[which] = 1;
      return;
    }
    __syncwarp();
    if (lane == 0) a[at(k, k)] = sqrt(pivot);
    if (lane > k && lane < n) a[at(lane, k)] /= mistake == 2 ? pivot : sqrt(pivot);
    if (mistake != 1) __syncwarp();
    if (lane > k && lane < n)
      for (int x = k + 1; x <= lane; ++x) a[at(lane, x)] -= a[at(lane, k)] * a[at(x, k)];
    __syncwarp();
  }
  for (int i = lane; i < size; i += 32) mine[i] = a[i];
}

PROGRAM(batched_cholesky, 2) {
  const int n = 11, count = 9, size = n * (n + 1) / 2;
  std::vector<double> matrices(count * size), roots(count * size);
  Random random(77);
  // The triangles are integers: their products, the matrices, and every step back are exact.
  for (int m = 0; m < count; ++m) {
    double* l = &roots[m * size];
    for (int y = 0; y < n; ++y)
      for (int x = 0; x <= y; ++x)
        l[y * (y + 1) / 2 + x] = x == y ? 1 << random.below(4) : random.below(21) - 10;
    for (int y = 0; y < n; ++y)
      for (int x = 0; x <= y; ++x)
        for (int k = 0; k <= x; ++k)
          matrices[m * size + y * (y + 1) / 2 + x] +=
              l[y * (y + 1) / 2 + k] * l[x * (x + 1) / 2 + k];
  }
  matrices[3 * size] = -1;  // not positive definite
  Buffer<double> d_matrices(matrices);
  Buffer<int> failed(count);
  failed.zero();
  factor<<<divide_up(count, kWarps), 32 * kWarps>>>(d_matrices, n, count, failed, mistake);
  const std::vector<double> got = d_matrices.host();
  const std::vector<int> bad = failed.host();
  int wrong = 0;
  for (int m = 0; m < count; ++m) {
    wrong += bad[m] != (m == 3);
    for (int i = 0; i < size && m != 3; ++i) wrong += got[m * size + i] != roots[m * size + i];
  }
  return verdict(wrong == 0, "%d wrong", wrong);
}

}  // namespace batched_cholesky
