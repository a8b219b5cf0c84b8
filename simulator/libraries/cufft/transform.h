// A discrete Fourier transform of n complex numbers in double precision, for any n.
#pragma once

#include <complex>
#include <cstddef>
#include <vector>

namespace lockstep::cufft {

// X[k] = sum over j of x[j] exp(-2 pi i j k / n), without a factor: cuFFT's forward transform.
//
// n with no prime factor above 61 is computed by mixed radix (Cooley and Tukey, 1965), any other by
// a convolution of a power of two (Bluestein, 1970). Roots of unity are rounded once from 80 bits.
// The error grows as log n: ||error|| <= c log2(n) 2^-53 ||X|| with a small c (Higham, *Accuracy
// and Stability of Numerical Algorithms*, 24.1).
class Transform {
 public:
  using Value = std::complex<double>;

  explicit Transform(std::size_t n);
  std::size_t size() const { return n_; }
  // n values, in place.
  void forward(Value* x) const;
  // The same with the opposite sign in the exponent.
  void inverse(Value* x) const;

 private:
  void by_factors(Value* to, const Value* from, std::size_t n, std::size_t step,
                  std::size_t factor) const;
  void by_convolution(Value* x) const;

  std::size_t n_;
  std::vector<std::size_t> factors_;  // empty: computed by convolution
  std::vector<Value> roots_;          // exp(-2 pi i k / n)
  // For the convolution: exp(-pi i k^2 / n), and the transform of its conjugate.
  std::vector<Value> chirp_, spectrum_;
};

}  // namespace lockstep::cufft
