// Recursive quicksort on the device: each thread sorts its own piece; short pieces by insertion;
// the comparison is a function pointer.
#include "program.h"

namespace quicksort {

using Less = bool (*)(double, double);

__device__ bool ascending(double a, double b) { return a < b; }
__device__ bool by_size(double a, double b) {
  return fabs(a) < fabs(b) || (fabs(a) == fabs(b) && a < b);
}

__device__ __noinline__ void sort(double* a, int low, int high, Less less, int mistake) {
  if (mistake != 1 && high - low < 6) {
    for (int i = low + 1; i <= high; ++i) {
      const double v = a[i];
      int k = i;
      for (; (mistake == 2 || k > low) && less(v, a[k - 1]); --k) a[k] = a[k - 1];
      a[k] = v;
    }
    return;
  }
  const double pivot = a[low + (high - low) / 2];
  int i = low, j = high;
  while (i <= j) {
    while (less(a[i], pivot)) ++i;
    while (less(pivot, a[j])) --j;
    if (i > j) break;
    const double t = a[i];
    a[i++] = a[j], a[j--] = t;
  }
  sort(a, low, j, less, mistake);
  sort(a, i, high, less, mistake);
}

__global__ void pieces(double* a, int piece, int n, bool absolute, int mistake) {
  const int first = (blockIdx.x * blockDim.x + threadIdx.x) * piece;
  if (first < n) sort(a, first, min(first + piece, n) - 1, absolute ? by_size : ascending, mistake);
}

PROGRAM(quicksort, 2) {
  const int n = 640, piece = 55;
  CUDA(cudaDeviceSetLimit(cudaLimitStackSize, 16 << 10));  // recursion up to a piece's length
  std::vector<double> a(n);
  Random random(92);
  for (double& v : a) v = random.below(400) - 200;
  for (const bool absolute : {false, true}) {
    Buffer<double> d_a(a);
    pieces<<<2, 32>>>(d_a, piece, n, absolute, mistake);
    const std::vector<double> got = d_a.host();
    for (int i = 0; i < n; i += piece)
      std::sort(a.begin() + i, a.begin() + std::min(n, i + piece), [&](double p, double q) {
        return absolute && std::abs(p) != std::abs(q) ? std::abs(p) < std::abs(q) : p < q;
      });
    if (got != a) return verdict(false, "out of order");
  }
  return verdict(true, "%d numbers twice", n);
}

}  // namespace quicksort
