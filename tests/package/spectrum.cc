// A program whose only work is a call of the simulated cuFFT. The spectrum of n ones is n, then
// zeros.
#include <cuda_runtime_api.h>

#include <complex>
#include <cstdio>
#include <vector>

// Declarations of headers that a machine without these libraries lacks.
extern "C" {
int cufftPlan1d(int*, int, int, int);
int cufftExecC2C(int, void*, void*, int);
int cublasGetVersion_v2(void*, int*);
int curandGetVersion(int*);
}

int main() {
  constexpr int kN = 8, kComplexToComplex = 0x29, kForward = -1;
  std::vector<std::complex<float>> x(kN, 1);
  void* at = nullptr;
  int plan = 0, version = 0;
  const bool good =
      cudaMalloc(&at, sizeof x[0] * kN) == cudaSuccess &&
      cudaMemcpy(at, x.data(), sizeof x[0] * kN, cudaMemcpyHostToDevice) == cudaSuccess &&
      cufftPlan1d(&plan, kN, kComplexToComplex, 1) == 0 &&
      cufftExecC2C(plan, at, at, kForward) == 0 &&
      cudaMemcpy(x.data(), at, sizeof x[0] * kN, cudaMemcpyDeviceToHost) == cudaSuccess &&
      curandGetVersion(&version) == 0 && version > 0;
  if (version < 0) cublasGetVersion_v2(nullptr, &version);  // linked, and not called
  for (int i = 0; i < kN; ++i)
    if (x[i] != std::complex<float>(i == 0 ? kN : 0)) return 1;
  std::puts("spectrum");
  return good ? 0 : 1;
}
