// Functions of the mathematical library in single and double precision, each checked by an identity
// of the function.
#include "program.h"

namespace special_functions {

template <class Real>
__global__ void evaluate(const Real* x, int n, Real* out, int mistake) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  const Real v = x[i];
  Real s, c;
  sincos(v, &s, &c);
  Real* o = out + 8 * i;
  o[0] = mistake == 1 ? s : sin(v), o[1] = mistake == 1 ? s : cos(v);
  o[2] = exp(v), o[3] = log(fabs(v));
  o[4] = pow(fabs(v), Real(2.5)), o[5] = erf(v);
  o[6] = cbrt(v), o[7] = atan2(s, c);
  if (mistake == 2) out[8 * n - i] = v;
}

// The largest error in ulps of the exact result; the error of the angle is in units of
// 2^-digits.
template <class Real>
double worst(int mistake, double* of_angle) {
  const int n = 200, digits = sizeof(Real) == 8 ? 53 : 24;
  std::vector<Real> x(n);
  Random random(124);
  for (Real& v : x) v = static_cast<Real>(random.unit() * 6 - 3);
  Buffer<Real> d_x(x), out(8 * n);
  evaluate<<<divide_up(n, 64), 64>>>(d_x.get(), n, out.get(), mistake);
  const std::vector<Real> got = out.host();
  double most = 0;
  *of_angle = 0;
  for (int i = 0; i < n; ++i) {
    const long double v = x[i];
    const long double exact[7] = {
        std::sin(v), std::cos(v), std::exp(v), std::log(std::abs(v)), std::pow(std::abs(v), 2.5L),
        std::erf(v), std::cbrt(v)};
    for (int f = 0; f < 7; ++f) {
      const double ulp = std::ldexp(1.0, std::ilogb(static_cast<double>(exact[f])) + 1 - digits);
      most = std::max(most, static_cast<double>(std::abs(got[8 * i + f] - exact[f])) / ulp);
    }
    *of_angle = std::max(
        *of_angle, static_cast<double>(std::abs(got[8 * i + 7] - v)) * std::ldexp(1.0, digits));
  }
  return most;
}

PROGRAM(special_functions, 2) {
  // Bounds of the programming guide's table: at most two ulp in double precision; in single
  // precision four for powf and two for the other functions.
  double angle, angle_single;
  const double twice = worst<double>(mistake, &angle),
               single = worst<float>(mistake, &angle_single);
  // Sine and cosine each have an error of at most 2 * 2^-digits, which turns the angle by less than
  // 3 * 2^-digits. atan2 adds at most three ulp of numbers below 4: 12 * 2^-digits.
  return verdict(twice <= 2 && single <= 4 && angle <= 16 && angle_single <= 16,
                 "%.2f and %.2f ulp; angles %.1f and %.1f", twice, single, angle, angle_single);
}

}  // namespace special_functions
