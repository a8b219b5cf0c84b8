// Primality of 64-bit numbers by the Miller-Rabin test, with 128-bit products and Montgomery
// reduction.
#include "program.h"

namespace miller_rabin {

using Word = unsigned long long;

__device__ Word montgomery(Word a, Word b, Word n, Word inverse, int mistake) {
  const Word low = a * b, high = mistake == 1
                                     ? static_cast<unsigned>(a) * static_cast<unsigned>(b >> 32)
                                     : __umul64hi(a, b);
  const Word m = low * inverse, t = __umul64hi(m, n);
  return high >= t ? high - t : high - t + n;
}

__device__ Word doubled(Word a, Word n) { return a >= n - a ? a - (n - a) : a + a; }

__global__ void test(const Word* numbers, bool* prime, int count, int mistake) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= count) return;
  const Word n = numbers[i];
  Word inverse = n;  // inverse of n modulo 2^64, by Newton's method
  for (int k = 0; k < 5; ++k) inverse *= 2 - n * inverse;
  Word one = 1;
  for (int k = 0; k < 64; ++k) one = doubled(one, n);
  const int twos = __ffsll(n - 1) - 1;
  const Word odd = (n - 1) >> twos, minus_one = n - one;
  bool maybe = true;
  for (const int base : {2, 3, 5, 7, 11, 13, 17, 19, 23, 29, 31, 37}) {
    Word x = one, power = 0;
    for (int k = 0; k < base; ++k) power = power >= n - one ? power - (n - one) : power + one;
    for (Word e = odd; e; e >>= 1) {
      if (e & 1) x = montgomery(x, power, n, inverse, mistake);
      power = montgomery(power, power, n, inverse, mistake);
    }
    if (x == one || x == minus_one) continue;
    bool passes = false;
    for (int k = 1; k < twos && !passes; ++k)
      passes = (x = montgomery(x, x, n, inverse, mistake)) == minus_one;
    if (!passes) {
      maybe = false;
      break;
    }
  }
  prime[i] = maybe;
}

PROGRAM(miller_rabin, 1) {
  // Known primes, and composites that weaker tests accept: Carmichael numbers, strong pseudoprimes
  // to many bases, squares of primes.
  const std::vector<Word> primes = {1000003,
                                    2147483647,
                                    4294967291ull,
                                    4294967311ull,
                                    999999999989ull,
                                    18446744073709551557ull,
                                    2305843009213693951ull,
                                    9223372036854775783ull,
                                    18446744073709551533ull};
  const std::vector<Word> others = {3215031751ull,
                                    3474749660383ull,
                                    341550071728321ull,
                                    3825123056546413051ull,
                                    4294967291ull * 4294967291ull,
                                    4294967291ull * 4294967279ull,
                                    825265ull,
                                    1000003ull * 1000003ull,
                                    18446744073709551555ull};
  std::vector<Word> numbers = primes;
  numbers.insert(numbers.end(), others.begin(), others.end());
  for (Word n = 41; n < 1000; n += 2) numbers.push_back(n);
  const int count = static_cast<int>(numbers.size());
  Buffer<Word> d_numbers(numbers);
  Buffer<bool> prime(count);
  test<<<divide_up(count, 64), 64>>>(d_numbers, prime, count, mistake);
  bool* got = new bool[count];
  CUDA(cudaMemcpy(got, prime, count, cudaMemcpyDeviceToHost));
  int wrong = 0;
  for (int i = 0; i < count; ++i) {
    bool expected = i < static_cast<int>(primes.size());
    if (numbers[i] < 1000) {
      expected = true;
      for (Word d = 2; d * d <= numbers[i]; ++d) expected &= numbers[i] % d != 0;
    }
    wrong += got[i] != expected;
  }
  delete[] got;
  return verdict(wrong == 0, "%d of %d wrong", wrong, count);
}

}  // namespace miller_rabin
