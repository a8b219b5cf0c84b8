// Atomics that hardware lacks: minimum and maximum of floats by integer atomics; a product of
// doubles and a byte counter by CAS loops.
#include "program.h"

namespace extremes {

__device__ void atomic_max(float* at, float value) {
  if (value >= 0)
    atomicMax(reinterpret_cast<int*>(at), __float_as_int(value));
  else
    atomicMin(reinterpret_cast<unsigned*>(at), __float_as_uint(value));
}

__device__ void atomic_min(float* at, float value, int mistake) {
  if (value >= 0 || mistake == 1)
    atomicMin(reinterpret_cast<int*>(at), __float_as_int(value));
  else
    atomicMax(reinterpret_cast<unsigned*>(at), __float_as_uint(value));
}

__device__ void atomic_multiply(double* at, double factor) {
  auto* word = reinterpret_cast<unsigned long long*>(at);
  unsigned long long old = *static_cast<volatile unsigned long long*>(word), seen;
  do {
    seen = old;
    old = atomicCAS(word, seen, __double_as_longlong(__longlong_as_double(seen) * factor));
  } while (old != seen);
}

// A saturating counter in one byte of a word.
__device__ void count_byte(unsigned char* bytes, int i, int mistake) {
  unsigned* word = reinterpret_cast<unsigned*>(mistake == 2 ? bytes + i : bytes + i / 4 * 4);
  unsigned old = atomicAdd(word, 0), seen;
  do {
    seen = old;
    const unsigned byte = __byte_perm(seen, 0, 0x4440 + i % 4);
    old = atomicCAS(word, seen,
                    __byte_perm(seen, min(byte + 1, 255u), 0x3210 ^ (4 ^ i % 4) << 4 * (i % 4)));
  } while (old != seen);
}

__global__ void gather(const float* x, int n, float* most, float* least, double* product,
                       unsigned char* counts, int mistake) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  atomic_max(most, x[i]);
  atomic_min(least, x[i], mistake);
  if (i % 16 == 0) atomic_multiply(product, i % 32 ? 2.0 : -0.5);
  count_byte(counts, i % 7 ? i % 5 : 6, mistake);
}

PROGRAM(extremes, 2) {
  const int n = 900;
  std::vector<float> x(n);
  Random random(98);
  for (float& v : x) v = static_cast<float>(random.unit() * 1000 - 700);
  Buffer<float> d_x(x), most(std::vector<float>{-INFINITY}), least(std::vector<float>{INFINITY});
  Buffer<double> product(std::vector<double>{1});
  Buffer<unsigned char> counts(8);
  counts.zero();
  gather<<<divide_up(n, 128), 128>>>(d_x, n, most, least, product, counts, mistake);
  const std::vector<unsigned char> got = counts.host();
  std::vector<int> expected(8, 0);
  double p = 1;
  for (int i = 0; i < n; ++i) {
    int& c = expected[i % 7 ? i % 5 : 6];
    c = std::min(c + 1, 255);
    if (i % 16 == 0) p *= i % 32 ? 2.0 : -0.5;
  }
  int wrong = 0;
  for (int b = 0; b < 8; ++b) wrong += got[b] != expected[b];
  const float high = most.host()[0], low = least.host()[0];
  const bool right = high == *std::max_element(x.begin(), x.end()) &&
                     low == *std::min_element(x.begin(), x.end()) && product.host()[0] == p;
  return verdict(right && wrong == 0, "%g to %g, product %g, %d counters wrong", low, high, p,
                 wrong);
}

}  // namespace extremes
