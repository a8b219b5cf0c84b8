// The simulated cuRAND: distributions of numbers, and calls as stream operations.
#include <cmath>
#include <cstdint>
#include <cstring>
#include <vector>

#include "check.h"

// Declarations of curand.h, which this project's build does not fetch.
struct Generator;
extern "C" {
int curandCreateGenerator(Generator**, int);
int curandDestroyGenerator(Generator*);
int curandSetStream(Generator*, cudaStream_t);
int curandSetPseudoRandomGeneratorSeed(Generator*, unsigned long long);
int curandGenerate(Generator*, unsigned*, size_t);
int curandGenerateUniform(Generator*, float*, size_t);
int curandGenerateUniformDouble(Generator*, double*, size_t);
int curandGenerateNormal(Generator*, float*, size_t, float, float);
int curandGeneratePoisson(Generator*, unsigned*, size_t, double);
}

static const int kPhilox = 161, kSobol = 201, kTypeError = 103, kNotMultiple = 105;
static const size_t kCount = 20000;
static Generator* generator;

template <class T>
static std::vector<T> download(const void* from, size_t n = kCount) {
  std::vector<T> values(n);
  CUDA(cudaMemcpy(values.data(), from, n * sizeof(T), cudaMemcpyDeviceToHost));
  return values;
}

// Mean and variance must be within six standard errors. The fourth moment is below 20 s^4.
template <class T>
static void expect_moments(const std::vector<T>& values, double mean, double variance) {
  double sum = 0, squares = 0;
  for (const T v : values) sum += v;
  sum /= values.size();
  for (const T v : values) squares += (v - sum) * (v - sum);
  squares /= values.size();
  const double n = static_cast<double>(values.size());
  EXPECT(std::abs(sum - mean) < 6 * std::sqrt(variance / n));
  EXPECT(std::abs(squares - variance) < 6 * variance * std::sqrt(20 / n));
}

int main(int argc, char** argv) {
  void* memory = nullptr;
  CUDA(cudaMalloc(&memory, kCount * sizeof(double)));
  auto* const bits = static_cast<unsigned*>(memory);
  auto* const floats = static_cast<float*>(memory);
  EXPECT(curandCreateGenerator(&generator, kPhilox) == 0);
  if (argc > 1 && std::strcmp(argv[1], "too-many") == 0) {
    EXPECT(curandGenerateUniform(generator, floats, 2 * kCount + 1) == 0);
    CUDA(cudaDeviceSynchronize());
    return 0;
  }
  // Random123's output for counter 0 and key 0.
  EXPECT(curandSetPseudoRandomGeneratorSeed(generator, 0) == 0);
  EXPECT(curandGenerate(generator, bits, 4) == 0);
  const unsigned known[] = {0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8};
  EXPECT(std::memcmp(download<unsigned>(bits, 4).data(), known, sizeof known) == 0);

  EXPECT(curandGenerateUniform(generator, floats, kCount) == 0);
  const auto first = download<float>(floats);
  for (const float v : first) EXPECT(v > 0 && v <= 1);
  expect_moments(first, 0.5, 1 / 12.0);
  EXPECT(curandGenerateUniform(generator, floats, kCount) == 0);
  EXPECT(download<float>(floats) != first);
  // Equal seeds give equal sequences.
  EXPECT(curandSetPseudoRandomGeneratorSeed(generator, 0) == 0);
  EXPECT(curandGenerate(generator, bits, 4) == 0);
  EXPECT(curandGenerateUniform(generator, floats, kCount) == 0);
  EXPECT(download<float>(floats) == first);

  EXPECT(curandGenerateUniformDouble(generator, static_cast<double*>(memory), kCount) == 0);
  expect_moments(download<double>(memory), 0.5, 1 / 12.0);
  EXPECT(curandGenerateNormal(generator, floats, kCount, 3, 2) == 0);
  expect_moments(download<float>(floats), 3, 4);
  for (const double lambda : {0.5, 1200.0}) {
    EXPECT(curandGeneratePoisson(generator, bits, kCount / 10, lambda) == 0);
    expect_moments(download<unsigned>(bits, kCount / 10), lambda, lambda);
  }
  if (argc > 1) {  // "wrong"
    Generator* other = nullptr;
    EXPECT(curandCreateGenerator(&other, kSobol) == kTypeError);
    EXPECT(curandGenerateNormal(generator, floats, 3, 0, 1) == kNotMultiple);
    EXPECT(curandDestroyGenerator(generator) == 0);
    EXPECT(curandDestroyGenerator(generator) != 0);
  }
  std::puts("PASSED");
}
