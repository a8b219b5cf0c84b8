// Radix-2 FFTs of 128 points and their inverses in shared memory; each block transforms one
// signal.
#include "program.h"

namespace fft {

constexpr int kPoints = 128, kStages = 7;

__global__ void transform(const float2* in, float2* out, const float2* roots, bool back,
                          int mistake) {
  __shared__ float2 x[kPoints];
  const int t = threadIdx.x;
  const float2* mine = in + blockIdx.x * kPoints;
  for (int i = t; i < kPoints; i += kPoints / 2)
    x[mistake == 1 ? i : __brev(i) >> (32 - kStages)] = mine[i];
  for (int half = 1; half < kPoints; half *= 2) {
    if (mistake != 2 || half < 64) __syncthreads();
    const int k = t % half, i = t / half * 2 * half + k;
    float2 w = roots[k * (kPoints / 2 / half)];
    if (back) w.y = -w.y;
    const float2 a = x[i], b = x[i + half];
    const float2 wb = {b.x * w.x - b.y * w.y, b.x * w.y + b.y * w.x};
    x[i] = {a.x + wb.x, a.y + wb.y};
    x[i + half] = {a.x - wb.x, a.y - wb.y};
  }
  __syncthreads();
  const float scale = back ? 1.0f / kPoints : 1;
  for (int i = t; i < kPoints; i += kPoints / 2)
    out[blockIdx.x * kPoints + i] = {x[i].x * scale, x[i].y * scale};
}

PROGRAM(fft, 2) {
  const int signals = 3;
  std::vector<float2> signal(signals * kPoints), roots(kPoints / 2);
  Random random(78);
  for (float2& s : signal)
    s = {static_cast<float>(random.unit() - 0.5), static_cast<float>(random.unit() - 0.5)};
  for (int k = 0; k < kPoints / 2; ++k)
    roots[k] = {static_cast<float>(std::cos(2 * M_PI * k / kPoints)),
                static_cast<float>(-std::sin(2 * M_PI * k / kPoints))};
  Buffer<float2> in(signal), out(signal.size()), again(signal.size()), d_roots(roots);
  transform<<<signals, kPoints / 2>>>(in, out, d_roots, false, mistake);
  transform<<<signals, kPoints / 2>>>(out, again, d_roots, true, mistake);
  const std::vector<float2> got = out.host(), back = again.host();
  // The error: |error| <= stages * eta / (1 - stages * eta) |x|, in the 2-norm, with eta = mu +
  // gamma(4) (sqrt 2 + mu) and roots whose error is mu = 2^-24 (Higham, theorem 24.2). Forward and
  // inverse double it; the scaling adds one rounding.
  const double mu = std::ldexp(1.0, -24), eta = mu + 4 * mu / (1 - 4 * mu) * (std::sqrt(2.0) + mu),
               relative = kStages * eta / (1 - kStages * eta);
  double worst = 0, worst_back = 0;
  for (int s = 0; s < signals; ++s) {
    double error = 0, error_back = 0, size = 0, size_in = 0;
    for (int k = 0; k < kPoints; ++k) {
      double re = 0, im = 0;
      for (int i = 0; i < kPoints; ++i) {
        const double angle = -2 * M_PI * (i * k % kPoints) / kPoints;
        const float2 v = signal[s * kPoints + i];
        re += v.x * std::cos(angle) - v.y * std::sin(angle),
            im += v.x * std::sin(angle) + v.y * std::cos(angle);
      }
      const auto square = [](double a, double b) { return a * a + b * b; };
      const float2 f = got[s * kPoints + k], o = signal[s * kPoints + k], b = back[s * kPoints + k];
      error += square(f.x - re, f.y - im), size += square(re, im);
      error_back += square(b.x - o.x, b.y - o.y), size_in += square(o.x, o.y);
    }
    worst = std::max(worst, std::sqrt(error / size) / relative);
    worst_back = std::max(worst_back, std::sqrt(error_back / size_in) / (2.01 * relative + 2 * mu));
  }
  return verdict(worst <= 1 && worst_back <= 1, "errors %g and, there and back, %g of their bounds",
                 worst, worst_back);
}

}  // namespace fft
