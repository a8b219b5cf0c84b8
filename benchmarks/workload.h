// The three kernels that the speed claims rest on, as plain C++: shapes, inputs and the expected
// results.
//
// Both programs (CUDA and OpenCL) include this. So they compute the same results from the same data
// with the same launch geometry. Neither reports a time for a wrong result.
#pragma once

#include <chrono>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <ctime>
#include <string>
#include <vector>

namespace lockstep::benchmarks {

inline constexpr int kBlock = 256;            // threads a block, stencil and histogram
inline constexpr int kStencilSize = 1 << 20;  // floats
inline constexpr int kRadius = 4;
inline constexpr float kCoefficients[kRadius + 1] = {0.f, 0.8f, -0.2f, 0.038095238f,
                                                     -0.0035714286f};
inline constexpr int kMatrix = 256;  // N x N floats
inline constexpr int kTile = 16;
inline constexpr int kHistogramSize = 1 << 20;  // ints
inline constexpr int kBins = 256;
inline constexpr int kHistogramBlocks = 256;  // each thread counts 16 elements

// Small, repeatable pseudo-random numbers (a linear congruential generator is enough to defeat
// constant folding).
inline std::uint32_t next(std::uint32_t& state) { return state = state * 1664525u + 1013904223u; }

inline std::vector<float> floats(int n, std::uint32_t seed) {
  std::vector<float> v(n);
  for (float& x : v) x = static_cast<float>(static_cast<int>(next(seed) >> 24) - 128) / 16;
  return v;
}

inline std::vector<int> ints(int n, std::uint32_t seed) {
  std::vector<int> v(n);
  for (int& x : v)
    x = static_cast<int>(next(seed) >> 8) % (kBins + 32) -
        16;  // some fall outside the bins on either side
  return v;
}

// Zero outside the array on both sides.
inline std::vector<float> stencil(const std::vector<float>& x) {
  const int n = static_cast<int>(x.size());
  std::vector<float> y(n);
  auto at = [&](int i) { return i < 0 || i >= n ? 0.0 : double{x[i]}; };
  for (int i = 0; i < n; ++i) {
    double sum = 0;
    for (int k = 1; k <= kRadius; ++k) sum += double{kCoefficients[k]} * (at(i + k) - at(i - k));
    y[i] = static_cast<float>(sum);
  }
  return y;
}

inline std::vector<float> matmul(const std::vector<float>& a, const std::vector<float>& b) {
  std::vector<float> c(kMatrix * kMatrix);
  for (int i = 0; i < kMatrix; ++i)
    for (int j = 0; j < kMatrix; ++j) {
      double sum = 0;
      for (int k = 0; k < kMatrix; ++k) sum += double{a[i * kMatrix + k]} * b[k * kMatrix + j];
      c[i * kMatrix + j] = static_cast<float>(sum);
    }
  return c;
}

inline std::vector<int> histogram(const std::vector<int>& values) {
  std::vector<int> bins(kBins);
  for (int v : values) ++bins[v < 0 ? 0 : v >= kBins ? kBins - 1 : v];
  return bins;
}

// Enough to distinguish a wrong kernel from rounding. The matrix products are exact (multiples of
// 1/256 below 2^14), the counts too, and a stencil value is a sum of 8 terms below 16.
template <class T>
bool same(const std::vector<T>& got, const std::vector<T>& want, const char* kernel) {
  for (std::size_t i = 0; i < want.size(); ++i)
    if (!(std::fabs(double(got[i]) - double(want[i])) <= 1e-4)) {
      std::fprintf(stderr, "%s: element %zu is %g, expected %g\n", kernel, i, double(got[i]),
                   double(want[i]));
      return false;
    }
  return true;
}

// Seconds of processor time of this process, all threads together.
inline double processor_seconds() {
  timespec t{};
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
  return static_cast<double>(t.tv_sec) + 1e-9 * static_cast<double>(t.tv_nsec);
}

// Of every launch.
struct Seconds {
  std::vector<double> wall, processor;
};

// Times `launches` calls of `launch`, which return when the work is done.
template <class Launch>
Seconds time_each(int launches, const Launch& launch) {
  Seconds seconds;
  for (int i = 0; i < launches; ++i) {
    const auto start = std::chrono::steady_clock::now();
    const double before = processor_seconds();
    launch();
    seconds.processor.push_back(processor_seconds() - before);
    seconds.wall.push_back(
        std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count());
  }
  return seconds;
}

// One line a kernel on standard output: name, then the seconds of every launch. True, to follow
// same().
inline bool report(const char* kernel, const std::vector<double>& seconds) {
  std::printf("%s", kernel);
  for (double s : seconds) std::printf(" %.6f", s);
  std::printf("\n");
  std::fflush(stdout);
  return true;
}

// Two lines: `NAME` and the seconds on the wall, and `NAME:processor`.
inline bool report(const std::string& kernel, const Seconds& seconds) {
  return report(kernel.c_str(), seconds.wall) &&
         report((kernel + ":processor").c_str(), seconds.processor);
}

}  // namespace lockstep::benchmarks
