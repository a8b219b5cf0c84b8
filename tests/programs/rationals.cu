// Exact sums of fractions: structures with padding, passed by reference and by value, and
// returned.
#include "program.h"

namespace rationals {

struct Rational {
  long long p, q;
  bool exact;  // seven bytes of padding follow
};

__device__ long long divisor(long long a, long long b) {
  while (b) {
    const long long t = a % b;
    a = b, b = t;
  }
  return a < 0 ? -a : a;
}

__device__ __noinline__ Rational add(const Rational& a, Rational b, int mistake) {
  const long long d = mistake == 1 ? 1 : divisor(a.q, b.q);
  b.exact = b.exact && a.exact && llabs(a.p) < 1ll << 31 && llabs(b.p) < 1ll << 31;
  b.p = a.p * (b.q / d) + b.p * (a.q / d);
  b.q = a.q / d * b.q;
  const long long common = mistake == 1 ? 1 : divisor(b.p, b.q);
  b.p /= common, b.q /= common;
  return b;
}

// Thread i: 1 - 1/2 + 1/3 - ... up to the ith term; not alternating: all terms positive.
__global__ void series(Rational* out, int n, bool alternating, int mistake) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  Rational sum = {0, 1, true};
  for (int k = 1; k <= (mistake == 2 ? n : i + 1); ++k) {
    Rational term;
    term.p = alternating && k % 2 == 0 ? -1 : 1, term.q = k, term.exact = true;
    sum = add(term, sum, mistake);
  }
  out[i] = sum;
}

PROGRAM(rationals, 2) {
  const int n = 20;
  int wrong = 0;
  Rational last = {};
  for (const bool alternating : {false, true}) {
    Buffer<Rational> out(n);
    series<<<3, 8>>>(out, n, alternating, mistake);
    const std::vector<Rational> got = out.host();
    long long all = 1;  // a multiple of all denominators
    for (const int prime : {16, 9, 5, 7, 11, 13, 17, 19}) all *= prime;
    long long sum = 0;
    for (int i = 0; i < n; ++i) {
      sum += all / (i + 1) * (alternating && i % 2 ? -1 : 1);
      wrong += !got[i].exact || got[i].q <= 0 || all % got[i].q != 0 ||
               got[i].p * (all / got[i].q) != sum;
    }
    last = got[n - 1];
  }
  return verdict(wrong == 0, "%d of %d wrong, the last %lld / %lld", wrong, 2 * n, last.p, last.q);
}

}  // namespace rationals
