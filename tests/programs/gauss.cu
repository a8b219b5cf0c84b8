// Gaussian elimination with partial pivoting. Each block holds one matrix in shared memory; numbers
// modulo a prime are exact.
#include "program.h"

namespace gauss {

constexpr int kMax = 40;
constexpr unsigned kPrime = 65521;

__device__ unsigned inverse(unsigned a) {
  unsigned result = 1;
  for (unsigned e = kPrime - 2; e;
       e >>= 1, a = static_cast<unsigned>(static_cast<unsigned long long>(a) * a % kPrime))
    if (e & 1) result = static_cast<unsigned>(static_cast<unsigned long long>(result) * a % kPrime);
  return result;
}

// a has n rows of n + 1 elements; the last is the right-hand side. Each block solves one system.
__global__ void solve(const unsigned short* systems, int n, unsigned short* x, int mistake) {
  __shared__ unsigned short a[kMax][kMax + 1];
  __shared__ int pivot;
  __shared__ unsigned factor;
  const unsigned short* mine = systems + blockIdx.x * n * (n + 1);
  for (int i = threadIdx.x; i < n * (n + 1); i += blockDim.x) a[i / (n + 1)][i % (n + 1)] = mine[i];
  for (int k = 0; k < n; ++k) {
    if (threadIdx.x == 0) pivot = n;
    __syncthreads();
    for (int y = k + threadIdx.x; y < n; y += blockDim.x)
      if (a[y][k]) {
        if (mistake == 2)
          pivot = y;
        else
          atomicMin(&pivot, y);
      }
    __syncthreads();
    const int p = pivot;
    if (p == n) return;  // singular: all threads return
    if (threadIdx.x == 0) factor = inverse(a[p][k]);
    __syncthreads();
    for (int c = k + threadIdx.x; c <= n; c += blockDim.x) {
      const unsigned short t = a[p][c];
      a[p][c] = a[k][c];
      a[k][c] = static_cast<unsigned short>(static_cast<unsigned long long>(t) * factor % kPrime);
    }
    if (mistake != 1) __syncthreads();
    for (int y = threadIdx.x; y < n; y += blockDim.x) {
      if (y == k) continue;
      const unsigned f = a[y][k];
      for (int c = k; c <= n; ++c)
        a[y][c] = static_cast<unsigned short>(
            (a[y][c] + static_cast<unsigned long long>(kPrime - f) * a[k][c]) % kPrime);
    }
    __syncthreads();
  }
  for (int y = threadIdx.x; y < n; y += blockDim.x) x[blockIdx.x * n + y] = a[y][n];
}

PROGRAM(gauss, 2) {
  const int n = 37, systems = 3;
  std::vector<unsigned short> a(systems * n * (n + 1));
  Random random(72);
  for (unsigned short& v : a)
    v = static_cast<unsigned short>(random.below(3) ? random.below(kPrime) : 0);
  Buffer<unsigned short> d_a(a), d_x(systems * n);
  solve<<<systems, 64>>>(d_a, n, d_x, mistake);
  const std::vector<unsigned short> x = d_x.host();
  int wrong = 0;
  for (int s = 0; s < systems; ++s)
    for (int y = 0; y < n; ++y) {
      unsigned long long sum = 0;
      const unsigned short* row = &a[(s * n + y) * (n + 1)];
      for (int c = 0; c < n; ++c) sum += static_cast<unsigned long long>(row[c]) * x[s * n + c];
      wrong += sum % kPrime != row[n];
    }
  return verdict(wrong == 0, "%d of %d equations do not hold", wrong, systems * n);
}

}  // namespace gauss
