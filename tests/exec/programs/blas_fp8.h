// FP8 by cublasLtMatmul, compared on the host with CUDA's own header.
#pragma once

#include <cuda_fp8.h>

#include <algorithm>

#include "blas.h"

#pragma GCC diagnostic ignored "-Wsubobject-linkage"  // cuBLASLt's descriptors have no linkage

// Matrices of 16 x 16: transposed A times B.
class Fp8 {
 public:
  static constexpr int kN = 16, kBytes = kN * kN;

  Fp8() {
    BLAS(cublasLtCreate(&lt_));
    BLAS(cublasLtMatmulDescCreate(&desc_, CUBLAS_COMPUTE_32F, CUDA_R_32F));
    flip(CUBLASLT_MATMUL_DESC_TRANSA, CUBLAS_OP_T);
    for (void** to : {&a_, &b_, &d_}) CUDA(cudaMalloc(to, kBytes * sizeof(float)));
    CUDA(cudaMalloc(reinterpret_cast<void**>(&scalars_), 4 * sizeof(float)));
  }
  ~Fp8() {
    for (void* gone : {a_, b_, d_, static_cast<void*>(scalars_)}) cudaFree(gone);
    cublasLtMatmulDescDestroy(desc_);
    cublasLtDestroy(lt_);
  }
  void flip(cublasLtMatmulDescAttributes_t which, cublasOperation_t op) {
    BLAS(cublasLtMatmulDescSetAttribute(desc_, which, &op, sizeof op));
  }
  // Sets the scales of A, B and D, and the address for the largest magnitude.
  void scale(float of_a, float of_b, float of_d) {
    const float values[4] = {of_a, of_b, of_d, -1};
    CUDA(cudaMemcpy(scalars_, values, sizeof values, cudaMemcpyHostToDevice));
    const cublasLtMatmulDescAttributes_t numbers[] = {
        CUBLASLT_MATMUL_DESC_A_SCALE_POINTER, CUBLASLT_MATMUL_DESC_B_SCALE_POINTER,
        CUBLASLT_MATMUL_DESC_D_SCALE_POINTER, CUBLASLT_MATMUL_DESC_AMAX_D_POINTER};
    for (int i = 0; i < 4; ++i) {
      const void* const at = scalars_ + i;
      BLAS(cublasLtMatmulDescSetAttribute(desc_, numbers[i], &at, sizeof at));
    }
  }
  float largest() const {
    float value = 0;
    CUDA(cudaMemcpy(&value, scalars_ + 3, sizeof value, cudaMemcpyDeviceToHost));
    return value;
  }
  void upload(const unsigned char* a, const unsigned char* b) {
    CUDA(cudaMemcpy(a_, a, kBytes, cudaMemcpyHostToDevice));
    CUDA(cudaMemcpy(b_, b, kBytes, cudaMemcpyHostToDevice));
  }
  // The status of the heuristic for these types.
  cublasStatus_t ask(cudaDataType a, cudaDataType b, cudaDataType c, cudaDataType d, int k = kN) {
    const Layouts l(*this, a, b, c, d, k);
    cublasLtMatmulPreference_t preference;
    cublasLtMatmulHeuristicResult_t found;
    int count = 0;
    BLAS(cublasLtMatmulPreferenceCreate(&preference));
    const cublasStatus_t status = cublasLtMatmulAlgoGetHeuristic(
        lt_, desc_, l.all[0], l.all[1], l.all[2], l.all[3], preference, 1, &found, &count);
    BLAS(cublasLtMatmulPreferenceDestroy(preference));
    return status;
  }
  template <class D>
  void multiply(cudaDataType a, cudaDataType b, cudaDataType c, cudaDataType d, float alpha,
                D* to) {
    const Layouts l(*this, a, b, c, d, kN);
    const float beta = 0;
    BLAS(cublasLtMatmul(lt_, desc_, &alpha, a_, l.all[0], b_, l.all[1], &beta, d_, l.all[2], d_,
                        l.all[3], nullptr, nullptr, 0, nullptr));
    CUDA(cudaMemcpy(to, d_, kBytes * sizeof(D), cudaMemcpyDeviceToHost));
  }

 private:
  struct Layouts {
    Layouts(const Fp8&, cudaDataType a, cudaDataType b, cudaDataType c, cudaDataType d, int k) {
      const cudaDataType types[] = {a, b, c, d};
      for (int i = 0; i < 4; ++i)
        BLAS(cublasLtMatrixLayoutCreate(&all[i], types[i], i < 2 ? k : kN, kN, kN));
    }
    ~Layouts() {
      for (const cublasLtMatrixLayout_t one : all) cublasLtMatrixLayoutDestroy(one);
    }
    cublasLtMatrixLayout_t all[4];
  };

  cublasLtHandle_t lt_;
  cublasLtMatmulDesc_t desc_;
  void *a_ = nullptr, *b_ = nullptr, *d_ = nullptr;
  float* scalars_ = nullptr;
};

template <class Type>
float value_of(unsigned char bits) {
  Type value;
  value.__x = bits;
  return static_cast<float>(value);
}
template <class Type>
unsigned char bits_of(float value) {
  return static_cast<unsigned char>(Type(value).__x);
}

// The unit matrix times each of the 256 bytes: to f32, and scaled by alpha to FP8.
template <class Type>
void check_fp8_bytes(Fp8& fp8, cudaDataType type) {
  unsigned char unit[Fp8::kBytes] = {}, all[Fp8::kBytes], back[Fp8::kBytes];
  float wide[Fp8::kBytes];
  for (int i = 0; i < Fp8::kN; ++i) unit[i * (Fp8::kN + 1)] = bits_of<__nv_fp8_e4m3>(1);
  for (int i = 0; i < Fp8::kBytes; ++i) {
    all[i] = static_cast<unsigned char>(i);
    // A NaN in one column would make every row NaN.
    if (!std::isfinite(value_of<Type>(all[i]))) all[i] = 0;
  }
  fp8.upload(unit, all);
  fp8.multiply(CUDA_R_8F_E4M3, type, CUDA_R_32F, CUDA_R_32F, 1, wide);
  for (int i = 0; i < Fp8::kBytes; ++i) EXPECT(wide[i] == value_of<Type>(all[i]));
  for (const float alpha : {1.0f, 1.0625f, 0.0173f, 1.5e-6f, 3.1f, 1e20f}) {
    fp8.multiply(CUDA_R_8F_E4M3, type, CUDA_R_16F, type, alpha, back);
    for (int i = 0; i < Fp8::kBytes; ++i)
      EXPECT(back[i] == bits_of<Type>(alpha * value_of<Type>(all[i])) ||
             (value_of<Type>(all[i]) == 0 && (back[i] & 0x7f) == 0));  // -0 + 0
  }
}

inline void check_fp8() {
  Fp8 fp8;
  check_fp8_bytes<__nv_fp8_e4m3>(fp8, CUDA_R_8F_E4M3);
  check_fp8_bytes<__nv_fp8_e5m2>(fp8, CUDA_R_8F_E5M2);

  // The scales are small integers, so that each sum is exact.
  unsigned char a[Fp8::kBytes], b[Fp8::kBytes], d[Fp8::kBytes];
  float sums[Fp8::kBytes], largest = 0;
  for (int i = 0; i < Fp8::kBytes; ++i) {
    a[i] = bits_of<__nv_fp8_e4m3>(static_cast<float>(i * 7 % 9 - 4));
    b[i] = bits_of<__nv_fp8_e4m3>(static_cast<float>(i * 5 % 7 - 3));
  }
  for (int j = 0; j < Fp8::kN; ++j) {
    for (int i = 0; i < Fp8::kN; ++i) {
      float& sum = sums[j * Fp8::kN + i] = 0;
      for (int k = 0; k < Fp8::kN; ++k)
        sum += value_of<__nv_fp8_e4m3>(a[i * Fp8::kN + k]) *
               value_of<__nv_fp8_e4m3>(b[j * Fp8::kN + k]);
      largest = std::max(largest, std::abs(sum));
    }
  }
  fp8.upload(a, b);
  fp8.scale(0.5f, 4, 0.25f);
  fp8.multiply(CUDA_R_8F_E4M3, CUDA_R_8F_E4M3, CUDA_R_16BF, CUDA_R_8F_E4M3, 3, d);
  EXPECT(fp8.largest() == largest * 3 * 0.5f * 4);
  for (int i = 0; i < Fp8::kBytes; ++i)
    EXPECT(value_of<__nv_fp8_e4m3>(d[i]) ==
           value_of<__nv_fp8_e4m3>(bits_of<__nv_fp8_e4m3>(sums[i] * 3 * 0.5f * 4 * 0.25f)));

  // Combinations that cuBLAS's tables exclude.
  const cublasStatus_t no = CUBLAS_STATUS_NOT_SUPPORTED, yes = CUBLAS_STATUS_SUCCESS;
  const cudaDataType e4 = CUDA_R_8F_E4M3, e5 = CUDA_R_8F_E5M2, f16 = CUDA_R_16F;
  EXPECT(fp8.ask(e4, e5, f16, e5) == yes);
  EXPECT(fp8.ask(e5, e5, f16, e5) == no);
  EXPECT(fp8.ask(e4, e4, f16, e5) == no);
  EXPECT(fp8.ask(e4, f16, f16, f16) == no);
  EXPECT(fp8.ask(e4, e4, CUDA_R_32F, e4) == no);
  EXPECT(fp8.ask(e4, e4, f16, CUDA_R_16BF) == no);
  EXPECT(fp8.ask(e4, e4, f16, e4, 8) == no);
  EXPECT(fp8.ask(e4, e4, f16, f16) == no);  // a scale of D, which is no FP8
  fp8.flip(CUBLASLT_MATMUL_DESC_TRANSB, CUBLAS_OP_T);
  EXPECT(fp8.ask(e4, e4, f16, e4) == no);
}
