// The declarations of cublas_v2.h and cublasLt.h that the programs here use: this project's build
// fetches neither. With WITH_CUBLAS_HEADERS the programs include NVIDIA's headers.
#pragma once

#ifdef WITH_CUBLAS_HEADERS
#include <cublasLt.h>
#include <cublas_v2.h>
#else

#include <cuComplex.h>
#include <cuda_fp16.h>

#include <cstdint>

#include "simulator/libraries/cublas/names.h"

typedef cublasHandle_t cublasLtHandle_t;
typedef struct { uint64_t data[32]; } *cublasLtMatmulDesc_t;
typedef struct { uint64_t data[8]; } *cublasLtMatrixLayout_t;
typedef struct { uint64_t data[8]; } *cublasLtMatmulPreference_t;
typedef struct { uint64_t data[8]; } cublasLtMatmulAlgo_t;
typedef struct {
  cublasLtMatmulAlgo_t algo;
  size_t workspaceSize;
  cublasStatus_t state;
  float wavesCount;
  int reserved[4];
} cublasLtMatmulHeuristicResult_t;
typedef enum {
  CUBLASLT_MATMUL_DESC_TRANSA = 3,
  CUBLASLT_MATMUL_DESC_TRANSB = 4,
  CUBLASLT_MATMUL_DESC_EPILOGUE = 7,
  CUBLASLT_MATMUL_DESC_BIAS_POINTER = 8,
  CUBLASLT_MATMUL_DESC_A_SCALE_POINTER = 17,
  CUBLASLT_MATMUL_DESC_B_SCALE_POINTER = 18,
  CUBLASLT_MATMUL_DESC_D_SCALE_POINTER = 20,
  CUBLASLT_MATMUL_DESC_AMAX_D_POINTER = 21
} cublasLtMatmulDescAttributes_t;
typedef enum { CUBLASLT_MATRIX_LAYOUT_ORDER = 1 } cublasLtMatrixLayoutAttribute_t;
enum { CUBLASLT_ORDER_ROW = 1 };
enum {
  CUBLASLT_EPILOGUE_RELU_BIAS = 6,
  CUBLASLT_EPILOGUE_GELU_BIAS = 36
};

extern "C" {

#define cublasCreate cublasCreate_v2
#define cublasDestroy cublasDestroy_v2
#define cublasGetVersion cublasGetVersion_v2
#define cublasSetStream cublasSetStream_v2
#define cublasGetStream cublasGetStream_v2
#define cublasSetPointerMode cublasSetPointerMode_v2
#define cublasSetWorkspace cublasSetWorkspace_v2
cublasStatus_t cublasCreate(cublasHandle_t*);
cublasStatus_t cublasDestroy(cublasHandle_t);
cublasStatus_t cublasGetVersion(cublasHandle_t, int*);
cublasStatus_t cublasSetStream(cublasHandle_t, cudaStream_t);
cublasStatus_t cublasGetStream(cublasHandle_t, cudaStream_t*);
cublasStatus_t cublasSetPointerMode(cublasHandle_t, cublasPointerMode_t);
cublasStatus_t cublasSetMathMode(cublasHandle_t, cublasMath_t);
cublasStatus_t cublasSetWorkspace(cublasHandle_t, void*, size_t);
const char* cublasGetStatusString(cublasStatus_t);
cublasStatus_t cublasSetMatrix(int, int, int, const void*, int, void*, int);
cublasStatus_t cublasGetMatrix(int, int, int, const void*, int, void*, int);
cublasStatus_t cublasSetVector(int, int, const void*, int, void*, int);
cublasStatus_t cublasGetVector(int, int, const void*, int, void*, int);

#define cublasSgemm cublasSgemm_v2
#define cublasDgemm cublasDgemm_v2
#define cublasCgemm cublasCgemm_v2
#define cublasZgemm cublasZgemm_v2
#define cublasDgemm_64 cublasDgemm_v2_64
#define DECLARE(letter, T)                                                                        \
  cublasStatus_t cublas##letter##gemm(cublasHandle_t, cublasOperation_t, cublasOperation_t, int,  \
                                      int, int, const T*, const T*, int, const T*, int, const T*, \
                                      T*, int);                                                   \
  cublasStatus_t cublas##letter##gemmBatched(cublasHandle_t, cublasOperation_t,                   \
                                             cublasOperation_t, int, int, int, const T*,          \
                                             const T* const[], int, const T* const[], int,        \
                                             const T*, T* const[], int, int);                     \
  cublasStatus_t cublas##letter##gemmStridedBatched(                                              \
      cublasHandle_t, cublasOperation_t, cublasOperation_t, int, int, int, const T*, const T*,    \
      int, long long, const T*, int, long long, const T*, T*, int, long long, int);
DECLARE(S, float)
DECLARE(D, double)
DECLARE(C, cuComplex)
DECLARE(Z, cuDoubleComplex)
DECLARE(H, __half)
#undef DECLARE
cublasStatus_t cublasDgemm_64(cublasHandle_t, cublasOperation_t, cublasOperation_t, int64_t,
                              int64_t, int64_t, const double*, const double*, int64_t,
                              const double*, int64_t, const double*, double*, int64_t);
cublasStatus_t cublasGemmEx(cublasHandle_t, cublasOperation_t, cublasOperation_t, int, int, int,
                            const void*, const void*, cudaDataType, int, const void*,
                            cudaDataType, int, const void*, void*, cudaDataType, int,
                            cublasComputeType_t, cublasGemmAlgo_t);

#define cublasSaxpy cublasSaxpy_v2
#define cublasSscal cublasSscal_v2
#define cublasSswap cublasSswap_v2
#define cublasScopy cublasScopy_v2
#define cublasSdot cublasSdot_v2
#define cublasSnrm2 cublasSnrm2_v2
#define cublasSasum cublasSasum_v2
#define cublasIsamax cublasIsamax_v2
#define cublasZdotc cublasZdotc_v2
#define cublasSgemv cublasSgemv_v2
#define cublasSger cublasSger_v2
#define cublasDtrsv cublasDtrsv_v2
#define cublasDtrsm cublasDtrsm_v2
#define cublasDtrmm cublasDtrmm_v2
#define cublasDsymm cublasDsymm_v2
#define cublasZherk cublasZherk_v2
#define cublasSsbmv cublasSsbmv_v2
cublasStatus_t cublasSaxpy(cublasHandle_t, int, const float*, const float*, int, float*, int);
cublasStatus_t cublasSscal(cublasHandle_t, int, const float*, float*, int);
cublasStatus_t cublasSswap(cublasHandle_t, int, float*, int, float*, int);
cublasStatus_t cublasScopy(cublasHandle_t, int, const float*, int, float*, int);
cublasStatus_t cublasSdot(cublasHandle_t, int, const float*, int, const float*, int, float*);
cublasStatus_t cublasSnrm2(cublasHandle_t, int, const float*, int, float*);
cublasStatus_t cublasSasum(cublasHandle_t, int, const float*, int, float*);
cublasStatus_t cublasIsamax(cublasHandle_t, int, const float*, int, int*);
cublasStatus_t cublasZdotc(cublasHandle_t, int, const cuDoubleComplex*, int,
                           const cuDoubleComplex*, int, cuDoubleComplex*);
cublasStatus_t cublasSgemv(cublasHandle_t, cublasOperation_t, int, int, const float*,
                           const float*, int, const float*, int, const float*, float*, int);
cublasStatus_t cublasSger(cublasHandle_t, int, int, const float*, const float*, int, const float*,
                          int, float*, int);
cublasStatus_t cublasDtrsv(cublasHandle_t, cublasFillMode_t, cublasOperation_t, cublasDiagType_t,
                           int, const double*, int, double*, int);
cublasStatus_t cublasDtrsm(cublasHandle_t, cublasSideMode_t, cublasFillMode_t, cublasOperation_t,
                           cublasDiagType_t, int, int, const double*, const double*, int, double*,
                           int);
cublasStatus_t cublasDtrmm(cublasHandle_t, cublasSideMode_t, cublasFillMode_t, cublasOperation_t,
                           cublasDiagType_t, int, int, const double*, const double*, int,
                           const double*, int, double*, int);
cublasStatus_t cublasDsymm(cublasHandle_t, cublasSideMode_t, cublasFillMode_t, int, int,
                           const double*, const double*, int, const double*, int, const double*,
                           double*, int);
cublasStatus_t cublasZherk(cublasHandle_t, cublasFillMode_t, cublasOperation_t, int, int,
                           const double*, const cuDoubleComplex*, int, const double*,
                           cuDoubleComplex*, int);
cublasStatus_t cublasDgeam(cublasHandle_t, cublasOperation_t, cublasOperation_t, int, int,
                           const double*, const double*, int, const double*, const double*, int,
                           double*, int);
cublasStatus_t cublasDdgmm(cublasHandle_t, cublasSideMode_t, int, int, const double*, int,
                           const double*, int, double*, int);
cublasStatus_t cublasSsbmv(cublasHandle_t, cublasFillMode_t, int, int, const float*, const float*,
                           int, const float*, int, const float*, float*, int);

cublasStatus_t cublasLtCreate(cublasLtHandle_t*);
cublasStatus_t cublasLtDestroy(cublasLtHandle_t);
cublasStatus_t cublasLtMatmulDescCreate(cublasLtMatmulDesc_t*, cublasComputeType_t, cudaDataType);
cublasStatus_t cublasLtMatmulDescDestroy(cublasLtMatmulDesc_t);
cublasStatus_t cublasLtMatmulDescSetAttribute(cublasLtMatmulDesc_t, cublasLtMatmulDescAttributes_t,
                                              const void*, size_t);
cublasStatus_t cublasLtMatrixLayoutCreate(cublasLtMatrixLayout_t*, cudaDataType, uint64_t,
                                          uint64_t, int64_t);
cublasStatus_t cublasLtMatrixLayoutDestroy(cublasLtMatrixLayout_t);
cublasStatus_t cublasLtMatrixLayoutSetAttribute(cublasLtMatrixLayout_t,
                                                cublasLtMatrixLayoutAttribute_t, const void*,
                                                size_t);
cublasStatus_t cublasLtMatmulPreferenceCreate(cublasLtMatmulPreference_t*);
cublasStatus_t cublasLtMatmulPreferenceDestroy(cublasLtMatmulPreference_t);
cublasStatus_t cublasLtMatmulAlgoGetHeuristic(cublasLtHandle_t, cublasLtMatmulDesc_t,
                                              cublasLtMatrixLayout_t, cublasLtMatrixLayout_t,
                                              cublasLtMatrixLayout_t, cublasLtMatrixLayout_t,
                                              cublasLtMatmulPreference_t, int,
                                              cublasLtMatmulHeuristicResult_t[], int*);
cublasStatus_t cublasLtMatmul(cublasLtHandle_t, cublasLtMatmulDesc_t, const void*, const void*,
                              cublasLtMatrixLayout_t, const void*, cublasLtMatrixLayout_t,
                              const void*, const void*, cublasLtMatrixLayout_t, void*,
                              cublasLtMatrixLayout_t, const cublasLtMatmulAlgo_t*, void*, size_t,
                              cudaStream_t);

}  // extern "C"
#endif
