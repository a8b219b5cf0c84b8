// Inputs and expected results of kernels that are timed by themselves, as plain C++: for the CUDA
// program and the OpenCL program alike.
#pragma once

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "benchmarks/workload.h"

#ifdef __CUDACC__
#define LOCKSTEP_EVERYWHERE __host__ __device__
#else
#define LOCKSTEP_EVERYWHERE
#endif

namespace lockstep::benchmarks {

inline constexpr int kReduced = 1 << 20;
inline std::vector<int> summands() { return ints(kReduced, 10); }
inline int sum_of(const std::vector<int>& x) {
  int sum = 0;
  for (const int v : x) sum += v;
  return sum;
}

inline constexpr int kScanned = 1 << 19;
inline std::vector<int> scan_input() { return ints(kScanned, 11); }
inline std::vector<int> scanned(std::vector<int> x) {
  for (std::size_t i = 1; i < x.size(); ++i) x[i] += x[i - 1];
  return x;
}

inline constexpr int kRows = 1024;
inline std::vector<float> square() { return floats(kRows * kRows, 12); }
inline std::vector<float> transposed(const std::vector<float>& x) {
  std::vector<float> y(x.size());
  for (std::size_t r = 0; r < kRows; ++r)
    for (std::size_t c = 0; c < kRows; ++c) y[c * kRows + r] = x[r * kRows + c];
  return y;
}

// Compressed sparse rows of 0 to 31 elements, and the vector to multiply with.
inline constexpr int kMatrixRows = 1 << 14;
struct SparseMatrix {
  std::vector<int> begins{0}, columns;
  std::vector<float> values, x;
};
inline SparseMatrix sparse_matrix() {
  SparseMatrix m;
  std::uint32_t state = 13;
  for (int row = 0; row < kMatrixRows; ++row) {
    for (std::uint32_t n = next(state) >> 27; n > 0; --n)
      m.columns.push_back(static_cast<int>(next(state) >> 8) % kMatrixRows);
    m.begins.push_back(static_cast<int>(m.columns.size()));
  }
  m.values = floats(static_cast<int>(m.columns.size()), 14);
  m.x = floats(kMatrixRows, 15);
  return m;
}
// Exact: sums of multiples of 1/256 below 2^14.
inline std::vector<float> product(const SparseMatrix& m) {
  std::vector<float> y(kMatrixRows);
  for (std::size_t row = 0; row < y.size(); ++row)
    for (auto i = static_cast<std::size_t>(m.begins[row]);
         i < static_cast<std::size_t>(m.begins[row + 1]); ++i)
      y[row] += m.values[i] * m.x[static_cast<std::size_t>(m.columns[i])];
  return y;
}

// Operations that no compiler merges or splits: host and device compute the same bits.
LOCKSTEP_EVERYWHERE inline float times(float a, float b) {
#ifdef __CUDA_ARCH__
  return __fmul_rn(a, b);
#else
  return a * b;
#endif
}
LOCKSTEP_EVERYWHERE inline float dot(const float* a, const float* b) {
  return fmaf(a[2], b[2], fmaf(a[1], b[1], times(a[0], b[0])));
}
inline constexpr int kImage = 128, kSpheres = 8, kBounces = 3;
// The brightness of a ray through pixel (x, y), which spheres reflect. A sphere: its centre, and
// its radius.
LOCKSTEP_EVERYWHERE inline float trace(const float (*spheres)[4], int x, int y) {
  float from[3] = {0, 0, -4}, to[3] = {(x - kImage / 2) / 64.f, (y - kImage / 2) / 64.f, 2};
  const float scale = 1 / sqrtf(dot(to, to));
  for (float& t : to) t = times(t, scale);
  float light = 0, share = 1;
  for (int bounce = 0; bounce < kBounces; ++bounce) {
    int hit = -1;
    float nearest = 1e30f;
    for (int s = 0; s < kSpheres; ++s) {
      const float rel[3] = {spheres[s][0] - from[0], spheres[s][1] - from[1],
                            spheres[s][2] - from[2]};
      const float along = dot(rel, to),
                  square = fmaf(spheres[s][3], spheres[s][3], fmaf(along, along, -dot(rel, rel)));
      if (square < 0) continue;
      const float at = along - sqrtf(square);
      if (at > 1e-3f && at < nearest) nearest = at, hit = s;
    }
    if (hit < 0) {
      light = fmaf(share, fmaf(0.5f, to[1], 0.5f), light);
      break;
    }
    float normal[3];
    for (int k = 0; k < 3; ++k) {
      from[k] = fmaf(nearest, to[k], from[k]);
      normal[k] = (from[k] - spheres[hit][k]) / spheres[hit][3];
    }
    const float turn = times(-2, dot(normal, to));
    for (int k = 0; k < 3; ++k) to[k] = fmaf(turn, normal[k], to[k]);
    share = times(share, 0.6f);
  }
  return light;
}
inline std::vector<float> scene() {
  std::vector<float> spheres;
  std::uint32_t state = 16;
  for (int s = 0; s < kSpheres; ++s) {
    for (int k = 0; k < 3; ++k)
      spheres.push_back(static_cast<float>(static_cast<int>(next(state) >> 24) - 128) / 100);
    spheres.push_back(0.3f + static_cast<float>(next(state) >> 24) / 512);
  }
  return spheres;
}
inline std::vector<float> traced(const std::vector<float>& spheres) {
  std::vector<float> image(kImage * kImage);
  for (int y = 0; y < kImage; ++y)
    for (int x = 0; x < kImage; ++x)
      image[static_cast<std::size_t>(y * kImage + x)] =
          trace(reinterpret_cast<const float(*)[4]>(spheres.data()), x, y);
  return image;
}

inline constexpr int kIterated = 1 << 14, kIterations = 64;
LOCKSTEP_EVERYWHERE inline double iterate(double x) {
  for (int i = 0; i < kIterations; ++i) x = fma(-3.75 * x, x, 3.75 * x);
  return x;
}
inline std::vector<double> seeds() {
  std::vector<double> x(kIterated);
  for (std::size_t i = 0; i < x.size(); ++i) x[i] = (static_cast<double>(i) + 0.5) / kIterated;
  return x;
}

// Pairs of small integers, which f16 represents exactly: each is multiplied and added to, in turn.
struct Pairs {
  std::vector<float> x, scales, terms;
};
inline Pairs pairs() {
  Pairs p;
  std::uint32_t state = 17;
  for (int i = 0; i < 2 * kIterated; ++i) p.x.push_back(static_cast<float>(next(state) >> 26));
  for (int k = 0; k < 2 * kIterations; ++k) {
    p.scales.push_back(k % 4 < 2 ? -1.f : 1.f);
    p.terms.push_back(static_cast<float>(next(state) >> 30) - 1);
  }
  return p;
}
inline std::vector<float> iterated(const Pairs& p, int launches) {
  std::vector<float> x = p.x;
  for (int n = 0; n < launches; ++n)
    for (std::size_t i = 0; i < x.size(); ++i)
      for (std::size_t k = i % 2; k < p.scales.size(); k += 2)
        x[i] = x[i] * p.scales[k] + p.terms[k];
  return x;
}

inline constexpr int kPlaces = 1 << 14, kCounted = 1 << 18;
inline std::vector<int> places() {
  std::vector<int> at(kCounted);
  std::uint32_t state = 18;
  for (int& p : at) p = static_cast<int>(next(state) >> 18);
  return at;
}
inline std::vector<unsigned> counted(const std::vector<int>& at) {
  std::vector<unsigned> counts(kPlaces);
  for (const int p : at) ++counts[static_cast<std::size_t>(p)];
  return counts;
}

inline constexpr int kTinyLaunches = 10000;

// Two square matrices of small integers, whose product f32 represents exactly.
inline constexpr int kProduct = 256;
struct Factors {
  std::vector<float> a, b;
};
inline Factors factors() {
  Factors f;
  std::uint32_t state = 19;
  for (int i = 0; i < kProduct * kProduct; ++i) {
    f.a.push_back(static_cast<float>(next(state) >> 29) - 4);
    f.b.push_back(static_cast<float>(next(state) >> 29) - 4);
  }
  return f;
}
inline std::vector<float> product(const Factors& f) {
  std::vector<float> c(f.a.size());
  for (std::size_t i = 0; i < kProduct; ++i)
    for (std::size_t k = 0; k < kProduct; ++k)
      for (std::size_t j = 0; j < kProduct; ++j)
        c[i * kProduct + j] += f.a[i * kProduct + k] * f.b[k * kProduct + j];
  return c;
}

inline constexpr int kGathered = 1 << 19;
struct Gathered {
  std::vector<float> x;
  std::vector<int> index;
};
inline Gathered gathered() {
  Gathered g{floats(kGathered, 5), std::vector<int>(kGathered)};
  std::uint32_t state = 6;
  for (int& i : g.index) i = static_cast<int>(next(state) >> 8) % kGathered;
  return g;
}
inline std::vector<float> taken(const Gathered& g) {
  std::vector<float> y;
  for (const int i : g.index) y.push_back(g.x[static_cast<std::size_t>(i)]);
  return y;
}

// The steps that the Collatz sequence of each number takes to 1: lanes part at each of them.
inline constexpr int kSequences = 1 << 13;
LOCKSTEP_EVERYWHERE inline int collatz_steps(std::uint32_t start) {
  int steps = 0;
  for (std::uint64_t n = start; n != 1; ++steps) {
    if (n % 2 == 0)
      n /= 2;
    else
      n = 3 * n + 1;
  }
  return steps;
}
// Each lane has its own case of a switch, and its own number of turns.
LOCKSTEP_EVERYWHERE inline std::uint32_t interpret(std::uint32_t state, int turns) {
  std::uint32_t x = state | 1;
  for (int t = 0; t < turns; ++t) {
    switch (x >> 29) {
      case 0: x = x * 5 + 3; break;
      case 1: x ^= x << 13; break;
      case 2: x = x * 9 - t; break;
      case 3: x ^= x >> 17; break;
      case 4: x += 0x9e3779b9u; break;
      case 5: x = (x << 7) | (x >> 25); break;
      case 6: x = ~x * 3; break;
      default: x -= x >> 3; break;
    }
    x += 0x7f4a7c15u;
  }
  return x;
}
inline int turns_of(std::uint32_t start) { return 16 + static_cast<int>(start & 31); }
inline std::vector<std::uint32_t> starts() {
  std::vector<std::uint32_t> s(kSequences);
  std::uint32_t state = 9;
  for (std::uint32_t& v : s) v = (next(state) >> 12) + 1;
  return s;
}
inline std::vector<int> steps_of(const std::vector<std::uint32_t>& s) {
  std::vector<int> steps;
  for (const std::uint32_t v : s) steps.push_back(collatz_steps(v));
  return steps;
}
inline std::vector<std::uint32_t> interpreted(const std::vector<std::uint32_t>& s) {
  std::vector<std::uint32_t> results;
  for (const std::uint32_t v : s) results.push_back(interpret(v, turns_of(v)));
  return results;
}

}  // namespace lockstep::benchmarks
