#include <cuda_runtime.h>

// Declarations of cublas_v2.h, which a machine without cuBLAS lacks.
extern "C" {
int cublasCreate_v2(void**);
int cublasDestroy_v2(void*);
int cublasSetStream_v2(void*, cudaStream_t);
int cublasSaxpy_v2(void*, int, const float*, const float*, int, float*, int);
}

extern "C" int axpy(float a, const float* x, float* y, int n, cudaStream_t stream) {
  void* handle = nullptr;
  int status = cublasCreate_v2(&handle);
  if (status == 0) status = cublasSetStream_v2(handle, stream);
  if (status == 0) status = cublasSaxpy_v2(handle, n, &a, x, 1, y, 1);
  cublasDestroy_v2(handle);
  return status;
}
