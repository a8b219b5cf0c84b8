// Transforms of the simulated cuFFT compared with their definition, and calls with a mistake each.
#include <cmath>
#include <complex>
#include <cstring>
#include <vector>

#include "check.h"

// Declarations of cuFFT's headers, which this project's build does not fetch.
extern "C" {
int cufftCreate(int*);
int cufftDestroy(int);
int cufftPlan1d(int*, int, int, int);
int cufftPlan2d(int*, int, int, int);
int cufftPlan3d(int*, int, int, int, int);
int cufftPlanMany(int*, int, int*, int*, int, int, int*, int, int, int, int);
int cufftMakePlan1d(int, int, int, int, size_t*);
int cufftSetAutoAllocation(int, int);
int cufftSetWorkArea(int, void*);
int cufftSetStream(int, cudaStream_t);
int cufftExecC2C(int, void*, void*, int);
int cufftExecZ2Z(int, void*, void*, int);
int cufftExecR2C(int, void*, void*);
int cufftExecD2Z(int, void*, void*);
int cufftExecC2R(int, void*, void*);
int cufftExecZ2D(int, void*, void*);
int cufftXtSetGPUs(int, int, int*);
}

static const int kR2C = 0x2a, kC2R = 0x2c, kC2C = 0x29, kD2Z = 0x6a, kZ2D = 0x6c, kZ2Z = 0x69;
static const int kForward = -1, kInverse = 1;
static const int kInvalidPlan = 1, kInvalidType = 3, kInvalidSize = 8, kNoWorkspace = 13;

using Wide = std::complex<long double>;

static std::vector<Wide> numbers(size_t n) {
  std::vector<Wide> values(n);
  unsigned state = 12345;
  const auto next = [&] {
    state = state * 1664525u + 1013904223u;
    return static_cast<long double>(static_cast<int>(state) >> 12) / (1 << 19);
  };
  for (Wide& v : values) v = {next(), next()};
  return values;
}

// The definition of the transform, for an array of n0 x n1 x n2.
static std::vector<Wide> by_definition(const std::vector<Wide>& x, int n0, int n1, int n2,
                                       int sign) {
  std::vector<Wide> result;
  const auto turn = [&](long long a, int n) {
    return static_cast<long double>(a % n) / static_cast<long double>(n);
  };
  for (int a = 0; a < n0; ++a)
    for (int b = 0; b < n1; ++b)
      for (int c = 0; c < n2; ++c) {
        Wide sum = 0;
        for (int i = 0; i < n0; ++i)
          for (int j = 0; j < n1; ++j)
            for (int k = 0; k < n2; ++k)
              sum += x[static_cast<size_t>((i * n1 + j) * n2 + k)] *
                     std::polar(1.0L, sign * 6.283185307179586476925286766559L *
                                          (turn(1LL * a * i, n0) + turn(1LL * b * j, n1) +
                                           turn(1LL * c * k, n2)));
        result.push_back(sum);
      }
  return result;
}

template <class T>
static T* upload(const std::vector<T>& values) {
  T* at = nullptr;
  CUDA(cudaMalloc(&at, values.size() * sizeof(T)));
  CUDA(cudaMemcpy(at, values.data(), values.size() * sizeof(T), cudaMemcpyHostToDevice));
  return at;
}
template <class T>
static std::vector<T> download(const T* at, size_t n) {
  std::vector<T> values(n);
  CUDA(cudaMemcpy(values.data(), at, n * sizeof(T), cudaMemcpyDeviceToHost));
  return values;
}
template <class T>
static T* room(size_t n) {
  T* at = nullptr;
  CUDA(cudaMalloc(&at, n * sizeof(T)));
  return at;
}

// Expects |got - expected| <= 8 (log2 n + 1) u max|expected|; u is that of the result's type.
template <class Got>
static void expect_near(const std::vector<Got>& got, const std::vector<Wide>& expected,
                        long double u) {
  EXPECT(got.size() == expected.size());
  long double largest = 0, worst = 0;
  for (const Wide& v : expected) largest = std::max(largest, std::abs(v));
  for (size_t i = 0; i < got.size(); ++i)
    worst = std::max(worst, std::abs(Wide(got[i]) - expected[i]));
  EXPECT(worst <= 8 * (std::log2(static_cast<long double>(got.size())) + 1) * u * largest);
}

// All kinds of transforms for one shape and type.
template <class Real>
static void transforms(int rank, int n0, int n1, int n2) {
  using Complex = std::complex<Real>;
  const bool is_double = sizeof(Real) == 8;
  const long double u = is_double ? 0x1p-53L : 0x1p-24L;
  const size_t rows = static_cast<size_t>(n0) * n1, n = rows * n2, half = rows * (n2 / 2 + 1);
  const auto make = [&](int type) {
    int plan = 0;
    EXPECT((rank == 1   ? cufftPlan1d(&plan, n2, type, 1)
            : rank == 2 ? cufftPlan2d(&plan, n1, n2, type)
                        : cufftPlan3d(&plan, n0, n1, n2, type)) == 0);
    return plan;
  };
  std::vector<Complex> x;
  std::vector<Wide> exact, real;
  std::vector<Real> reals;
  for (const Wide& v : numbers(n)) {
    x.emplace_back(static_cast<Real>(v.real()), static_cast<Real>(v.imag()));
    exact.emplace_back(x.back());
    reals.push_back(x.back().real());
    real.emplace_back(reals.back());
  }
  Complex* const in = upload(x);
  Complex* const out = room<Complex>(n);
  const int complex_plan = make(is_double ? kZ2Z : kC2C);
  for (const int direction : {kForward, kInverse}) {
    EXPECT((is_double ? cufftExecZ2Z : cufftExecC2C)(complex_plan, in, out, direction) == 0);
    expect_near(download(out, n), by_definition(exact, n0, n1, n2, direction), u);
  }
  EXPECT((is_double ? cufftExecZ2Z : cufftExecC2C)(complex_plan, in, in, kForward) == 0);
  expect_near(download(in, n), by_definition(exact, n0, n1, n2, kForward), u);

  Real* const real_in = upload(reals);
  Complex* const spectrum = room<Complex>(half);
  EXPECT((is_double ? cufftExecD2Z : cufftExecR2C)(make(is_double ? kD2Z : kR2C), real_in,
                                                   spectrum) == 0);
  const std::vector<Wide> whole = by_definition(real, n0, n1, n2, kForward);
  std::vector<Wide> expected;
  for (size_t i = 0; i < n; ++i)
    if (i % static_cast<size_t>(n2) <= static_cast<size_t>(n2) / 2) expected.push_back(whole[i]);
  expect_near(download(spectrum, half), expected, u);
  // The inverse transform returns n times the input.
  Real* const back = room<Real>(n);
  EXPECT((is_double ? cufftExecZ2D : cufftExecC2R)(make(is_double ? kZ2D : kC2R), spectrum,
                                                   back) == 0);
  for (Wide& v : real) v *= static_cast<long double>(n);
  expect_near(download(back, n), real, 2 * u);
  for (void* p : {static_cast<void*>(in), static_cast<void*>(out), static_cast<void*>(real_in),
                  static_cast<void*>(spectrum), static_cast<void*>(back)})
    CUDA(cudaFree(p));
}

// Padded rows of reals in place, and a strided batch.
static void layouts() {
  const int kRows = 3, kColumns = 5, kHalf = kColumns / 2 + 1;
  std::vector<float> padded(kRows * 2 * kHalf);
  std::vector<Wide> real;
  const auto x = numbers(kRows * kColumns);
  for (int r = 0; r < kRows; ++r)
    for (int c = 0; c < kColumns; ++c) {
      padded[r * 2 * kHalf + c] = static_cast<float>(x[r * kColumns + c].real());
      real.emplace_back(padded[r * 2 * kHalf + c]);
    }
  float* const at = upload(padded);
  int plan = 0;
  EXPECT(cufftPlan2d(&plan, kRows, kColumns, kR2C) == 0);
  EXPECT(cufftExecR2C(plan, at, at) == 0);
  const auto whole = by_definition(real, 1, kRows, kColumns, kForward);
  std::vector<Wide> expected;
  for (int i = 0; i < kRows * kColumns; ++i)
    if (i % kColumns < kHalf) expected.push_back(whole[i]);
  expect_near(download(reinterpret_cast<std::complex<float>*>(at), kRows * kHalf), expected,
              0x1p-24L);

  // Columns of a row-major 4 by 6 array: stride 6, distance 1, batch 6.
  std::vector<std::complex<double>> y;
  for (const Wide& v : numbers(24))
    y.emplace_back(static_cast<double>(v.real()), static_cast<double>(v.imag()));
  auto* const in = upload(y);
  auto* const out = room<std::complex<double>>(24);
  int four = 4, embed = 4;
  EXPECT(cufftPlanMany(&plan, 1, &four, &embed, 6, 1, &embed, 1, 4, kZ2Z, 6) == 0);
  EXPECT(cufftExecZ2Z(plan, in, out, kInverse) == 0);
  const auto got = download(out, 24);
  for (int column = 0; column < 6; ++column) {
    std::vector<Wide> of_column;
    for (int row = 0; row < 4; ++row) of_column.emplace_back(y[row * 6 + column]);
    expect_near(std::vector<std::complex<double>>(got.begin() + column * 4,
                                                  got.begin() + column * 4 + 4),
                by_definition(of_column, 1, 1, 4, kInverse), 0x1p-53L);
  }
}

static void wrong_arguments() {
  int plan = 0, device = 0;
  size_t bytes = 0;
  std::complex<float>* const x = upload(std::vector<std::complex<float>>(64));
  EXPECT(cufftPlan1d(&plan, 0, kC2C, 1) == kInvalidSize);
  EXPECT(cufftPlan1d(&plan, 8, 77, 1) == kInvalidType);
  EXPECT(cufftExecC2C(12345, x, x, kForward) == kInvalidPlan);
  EXPECT(cufftCreate(&plan) == 0);
  EXPECT(cufftExecC2C(plan, x, x, kForward) == kInvalidPlan);
  EXPECT(cufftSetAutoAllocation(plan, 0) == 0);
  EXPECT(cufftMakePlan1d(plan, 64, kC2C, 1, &bytes) == 0);
  EXPECT(bytes == 64 * sizeof *x);
  EXPECT(cufftExecC2C(plan, x, x, kForward) == kNoWorkspace);
  EXPECT(cufftExecR2C(plan, x, x) == kInvalidType);
  void* const area = room<char>(bytes);
  EXPECT(cufftSetWorkArea(plan, area) == 0);
  EXPECT(cufftExecC2C(plan, x, x, kForward) == 0);
  EXPECT(cufftXtSetGPUs(plan, 1, &device) != 0);
  EXPECT(cufftDestroy(plan) == 0);
  EXPECT(cufftDestroy(plan) == kInvalidPlan);
}

int main(int argc, char** argv) {
  const char* const what = argc > 1 ? argv[1] : "";
  const auto is = [&](const char* one) { return std::strcmp(what, one) == 0; };
  int plan = 0;
  if (argc == 1) {
    for (const int n : {1, 2, 12, 61, 67, 134}) {
      transforms<float>(1, 1, 1, n);
      transforms<double>(1, 1, 1, n);
    }
    transforms<float>(2, 1, 6, 5);
    transforms<double>(3, 3, 4, 7);
    layouts();
  } else if (is("arguments")) {
    wrong_arguments();
  } else if (is("too-small")) {
    auto* const x = upload(std::vector<std::complex<float>>(32));
    auto* const y = room<std::complex<float>>(31);
    EXPECT(cufftPlan1d(&plan, 32, kC2C, 1) == 0);
    EXPECT(cufftExecC2C(plan, x, y, kForward) == 0);  // planted
  } else if (is("unwritten")) {
    auto* const x = room<float>(32);
    auto* const y = room<std::complex<float>>(17);
    CUDA(cudaMemset(x, 0, 31 * sizeof(float)));
    EXPECT(cufftPlan1d(&plan, 32, kR2C, 1) == 0);
    EXPECT(cufftExecR2C(plan, x, y) == 0);  // planted
  } else if (is("race")) {
    auto* const x = upload(std::vector<std::complex<float>>(32));
    cudaStream_t one, two;
    CUDA(cudaStreamCreateWithFlags(&one, cudaStreamNonBlocking));
    CUDA(cudaStreamCreateWithFlags(&two, cudaStreamNonBlocking));
    CUDA(cudaDeviceSynchronize());
    EXPECT(cufftPlan1d(&plan, 32, kC2C, 1) == 0);
    EXPECT(cufftSetStream(plan, one) == 0);
    EXPECT(cufftExecC2C(plan, x, x, kForward) == 0);
    EXPECT(cufftSetStream(plan, two) == 0);
    EXPECT(cufftExecC2C(plan, x, x, kForward) == 0);  // planted
  } else if (is("overlap")) {
    auto* const x = upload(std::vector<std::complex<float>>(33));
    EXPECT(cufftPlan1d(&plan, 32, kC2C, 1) == 0);
    EXPECT(cufftExecC2C(plan, x, x + 1, kForward) == 0);  // planted
  } else if (is("area")) {
    auto* const x = upload(std::vector<std::complex<float>>(32));
    EXPECT(cufftPlan1d(&plan, 32, kC2C, 1) == 0);
    EXPECT(cufftSetWorkArea(plan, room<char>(32)) == 0);
    EXPECT(cufftExecC2C(plan, x, x, kForward) == 0);  // planted
  }
  cudaDeviceSynchronize();
  std::puts("PASSED");
}
