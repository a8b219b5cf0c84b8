// Matrices of the programs that call cuBLAS, and reference results by a plain triple loop.
#pragma once

#include <cuda_bf16.h>

#include <cmath>
#include <complex>
#include <cstring>
#include <vector>

#include "check.h"
#include "cublas_declared.h"

#define BLAS(call)                                                                      \
  do {                                                                                  \
    const cublasStatus_t status_ = (call);                                              \
    if (status_ != CUBLAS_STATUS_SUCCESS) {                                             \
      std::printf("%s:%d: %s: %s\n", __FILE__, __LINE__, #call,                         \
                  cublasGetStatusString(status_));                                      \
      std::exit(1);                                                                     \
    }                                                                                   \
  } while (0)

using Z = std::complex<double>;  // the type of reference results

inline Z wide(float v) { return v; }
inline Z wide(double v) { return v; }
inline Z wide(cuComplex v) { return {v.x, v.y}; }
inline Z wide(cuDoubleComplex v) { return {v.x, v.y}; }
inline Z wide(__half v) { return __half2float(v); }
inline Z wide(__nv_bfloat16 v) { return __bfloat162float(v); }
inline Z wide(signed char v) { return v; }
inline Z wide(int v) { return v; }
inline void set(float& to, Z v) { to = static_cast<float>(v.real()); }
inline void set(double& to, Z v) { to = v.real(); }
inline void set(cuComplex& to, Z v) {
  to = {static_cast<float>(v.real()), static_cast<float>(v.imag())};
}
inline void set(cuDoubleComplex& to, Z v) { to = {v.real(), v.imag()}; }
inline void set(__half& to, Z v) { to = __float2half(static_cast<float>(v.real())); }
inline void set(__nv_bfloat16& to, Z v) { to = __float2bfloat16(static_cast<float>(v.real())); }
inline void set(signed char& to, Z v) { to = static_cast<signed char>(v.real() * 8); }
inline void set(int& to, Z v) { to = static_cast<int>(v.real() * 8); }

// Half an ulp of 1.
template <class T>
double unit() {
  if (sizeof(T) == 2) return std::ldexp(1, std::is_same<T, __half>::value ? -11 : -8);
  return std::is_same<T, double>::value || std::is_same<T, cuDoubleComplex>::value
             ? std::ldexp(1, -53)
             : std::ldexp(1, -24);
}

// Pseudo-random numbers, equal in each run: multiples of 1/8 between -2 and 2.
inline double next_number() {
  static unsigned state = 1;
  state = state * 1664525u + 1013904223u;
  return (static_cast<int>(state >> 16) % 33 - 16) / 8.0;
}

// A column-major matrix on host and device. Gaps between columns must not change.
template <class T>
struct Matrix {
  int rows, columns, ld;
  std::vector<T> host;
  T* device = nullptr;

  Matrix(int rows_, int columns_, int gap = 3)
      : rows(rows_), columns(columns_), ld(rows_ + gap), host(static_cast<size_t>(ld) * columns_) {
    for (T& v : host) set(v, {next_number(), next_number()});
    CUDA(cudaMalloc(reinterpret_cast<void**>(&device), host.size() * sizeof(T)));
    upload();
  }
  ~Matrix() { cudaFree(device); }
  Matrix(const Matrix&) = delete;
  void upload() {
    CUDA(cudaMemcpy(device, host.data(), host.size() * sizeof(T), cudaMemcpyHostToDevice));
  }
  Z at(int i, int j) const { return wide(host[i + static_cast<size_t>(j) * ld]); }
  Z at(cublasOperation_t op, int i, int j) const {
    if (op == CUBLAS_OP_N) return at(i, j);
    return op == CUBLAS_OP_C ? std::conj(at(j, i)) : at(j, i);
  }
  std::vector<T> download() const {
    std::vector<T> now(host.size());
    CUDA(cudaMemcpy(now.data(), device, now.size() * sizeof(T), cudaMemcpyDeviceToHost));
    return now;
  }
  // `expected(i, j, &size)` returns the expected element and sets the sum of the magnitudes of its
  // terms. The error may be `ulps` times that sum.
  template <class Expected>
  void expect(double ulps, Expected&& expected, double of = unit<T>()) const {
    const std::vector<T> now = download();
    for (int j = 0; j < columns; ++j) {
      for (int i = 0; i < ld; ++i) {
        const T got = now[i + static_cast<size_t>(j) * ld];
        if (i >= rows) {  // a gap
          EXPECT(std::memcmp(&got, &host[i + static_cast<size_t>(j) * ld], sizeof got) == 0);
          continue;
        }
        double size = 0;
        const Z want = expected(i, j, &size);
        if (!(std::abs(wide(got) - want) <= ulps * of * size + unit<T>() * std::abs(want))) {
          std::printf("(%d, %d) is %g + %gi and not %g + %gi\n", i, j, wide(got).real(),
                      wide(got).imag(), want.real(), want.imag());
          EXPECT(!"an element is right");
        }
      }
    }
  }
};
