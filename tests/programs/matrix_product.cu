// The product of integer matrices of any size: tiles in shared memory, rows read as vectors of
// four, two result rows for each thread.
#include "program.h"

namespace matrix_product {

constexpr int kTile = 16;

__global__ void multiply(const int* a, const int* b, int* c, int m, int n, int k, int pitch,
                         int mistake) {
  __shared__ __align__(16) int ta[kTile][kTile], tb[kTile][kTile];
  const int tx = threadIdx.x, ty = threadIdx.y, x = blockIdx.x * kTile + tx,
            y = blockIdx.y * kTile + 2 * ty;
  int sum0 = 0, sum1 = 0;
  for (int at = 0; at < k; at += kTile) {
    const int id = ty * kTile + tx;
    if (id < kTile * kTile / 4) {  // rows of a; the pitch is a multiple of four
      const int row = blockIdx.y * kTile + id / 4, column = at + id % 4 * 4;
      *reinterpret_cast<int4*>(&ta[id / 4][id % 4 * 4]) =
          row < m && column < pitch
              ? *reinterpret_cast<const int4*>(&a[row * (mistake == 1 ? k : pitch) + column])
              : make_int4(0, 0, 0, 0);
    }
    for (int i = ty; i < kTile; i += kTile / 2)
      tb[i][tx] = at + i < k && x < n ? b[(at + i) * n + x] : 0;
    if (mistake != 2 && (mistake != 3 || x < n)) __syncthreads();
#pragma unroll
    for (int i = 0; i < kTile; ++i)
      sum0 += ta[2 * ty][i] * tb[i][tx], sum1 += ta[2 * ty + 1][i] * tb[i][tx];
    __syncthreads();
  }
  if (x >= n) return;
  if (y < m) c[y * n + x] = sum0;
  if (y + 1 < m) c[(y + 1) * n + x] = sum1;
}

PROGRAM(matrix_product, 3) {
  const int m = 43, n = 37, k = 50, pitch = 52;
  std::vector<int> a(m * pitch, 0), b(k * n);
  Random random(100);
  for (int y = 0; y < m; ++y)
    for (int x = 0; x < k; ++x) a[y * pitch + x] = random.below(2001) - 1000;
  for (int& v : b) v = random.below(2001) - 1000;
  Buffer<int> d_a(a), d_b(b), d_c(m * n);
  multiply<<<dim3(divide_up(n, kTile), divide_up(m, kTile)), dim3(kTile, kTile / 2)>>>(
      d_a, d_b, d_c, m, n, k, pitch, mistake);
  const std::vector<int> c = d_c.host();
  // C v = A (B v) for two kinds of vectors v (Freivalds), and one element computed directly.
  int wrong = 0;
  for (int t = 0; t < 3; ++t) {
    std::vector<long long> v(n), bv(k, 0);
    for (int x = 0; x < n; ++x) v[x] = t == 0 ? 1 : random.below(1000);
    for (int i = 0; i < k; ++i)
      for (int x = 0; x < n; ++x) bv[i] += b[i * n + x] * v[x];
    for (int y = 0; y < m; ++y) {
      long long left = 0, right = 0;
      for (int x = 0; x < n; ++x) left += c[y * n + x] * v[x];
      for (int i = 0; i < k; ++i) right += a[y * pitch + i] * bv[i];
      wrong += left != right;
    }
  }
  long long last = 0;
  for (int i = 0; i < k; ++i) last += a[(m - 1) * pitch + i] * b[i * n + n - 1];
  return verdict(wrong == 0 && c[m * n - 1] == last, "%d rows wrong, the last element %d", wrong,
                 c[m * n - 1]);
}

}  // namespace matrix_product
