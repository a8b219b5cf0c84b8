// Every gemm of cublas_v2.h (cuBLAS, "cublas<t>gemm()" and "BLAS-like Extension"). Element pointers
// of all types are declared as void*: the calling convention is the same.
#include <cstdint>

#include "simulator/libraries/cublas/gemm.h"
#include "simulator/libraries/cublas/handle.h"

namespace lockstep::cublas {
namespace {

constexpr const char* kRefused =
    "the simulated cuBLAS has no such pair of types and way to compute: docs/reference/"
    "libraries.md lists those that it has";

struct Arguments {
  int op_a, op_b;
  std::int64_t m, n, k;
  const void* alpha;
  const void* a;
  std::int64_t lda;
  const void* b;
  std::int64_t ldb;
  const void* beta;
  void* c;
  std::int64_t ldc;
};

struct Types {
  Type a, b, c;
  cublasComputeType_t compute;
};

struct Batch {
  std::int64_t count = 1, stride_a = 0, stride_b = 0, stride_c = 0;
  bool pointers = false;
};

// The compute type of a function with one element type.
cublasComputeType_t compute_of(Type type, cublasHandle_t handle) {
  switch (type) {
    case Type::kF16: return CUBLAS_COMPUTE_16F;
    case Type::kF64:
    case Type::kC64: return CUBLAS_COMPUTE_64F;
    default: break;
  }
  if (!is_handle(handle)) return CUBLAS_COMPUTE_32F;
  constexpr int kMode = 0xf;
  switch (handle->math_mode & kMode) {
    case CUBLAS_TF32_TENSOR_OP_MATH: return CUBLAS_COMPUTE_32F_FAST_TF32;
    case CUBLAS_TENSOR_OP_MATH: return CUBLAS_COMPUTE_32F_FAST_16F;
    default: return CUBLAS_COMPUTE_32F;
  }
}

Op as_op(int op) { return static_cast<Op>(op); }

// Whether IMMA kernels accept the matrix (cuBLAS, "cublasGemmEx()").
bool fits_integers(const Matrix& a) {
  return a.ld % 4 == 0 && reinterpret_cast<std::uintptr_t>(a.at) % 4 == 0;
}

cublasStatus_t gemm(const char* call, cublasHandle_t handle, const Types& types, const Arguments& x,
                    const Batch& batch = {}) {
  Check check(call, handle);
  check.sizes({x.m, x.n, x.k, batch.count}).operation(x.op_a).operation(x.op_b);
  if (check.failed()) return check.status();
  Gemm g;
  g.op_a = as_op(x.op_a);
  g.op_b = as_op(x.op_b);
  g.k = x.k;
  const bool flips_a = g.op_a != Op::kNone, flips_b = g.op_b != Op::kNone;
  g.a = {"A",   x.a,     flips_a ? x.k : x.m, flips_a ? x.m : x.k,
         x.lda, types.a, batch.count,         batch.stride_a};
  g.b = {"B",   x.b,     flips_b ? x.n : x.k, flips_b ? x.k : x.n,
         x.ldb, types.b, batch.count,         batch.stride_b};
  g.c = {"C", x.c, x.m, x.n, x.ldc, types.c, batch.count, batch.stride_c};
  check.leading(g.a).leading(g.b).leading(g.c);
  check.that(x.alpha != nullptr && x.beta != nullptr, "alpha or beta is a null pointer");
  check.simulated(find_arithmetic(types.compute, types.a, types.b, types.c, &g.arithmetic),
                  kRefused);
  if (types.a == Type::kI8)
    check.supported(batch.pointers || (fits_integers(g.a) && fits_integers(g.b)),
                    "of 8-bit integers, A and B lie at multiples of 4 bytes, and lda and ldb are "
                    "multiples of 4");
  if (check.failed()) return check.status();
  if (x.m == 0 || x.n == 0 || batch.count == 0) return CUBLAS_STATUS_SUCCESS;
  g.alpha = scalar(*handle, "alpha", x.alpha, g.arithmetic.scale);
  g.beta = scalar(*handle, "beta", x.beta, g.arithmetic.scale);
  g.batch = batch.count;
  g.pointers = batch.pointers;
  g.workspace = handle->workspace;
  g.workspace_bytes = handle->workspace_bytes;
  return put(call, handle->stream, {x.a, x.b, x.c}, [g](Access& access) { run(access, g); });
}

Types of_one(Type type, cublasHandle_t handle) {
  return {type, type, type, compute_of(type, handle)};
}

}  // namespace
}  // namespace lockstep::cublas

using namespace lockstep::cublas;

#define SHAPE(Size)                                                                              \
  cublasHandle_t handle, cublasOperation_t op_a, cublasOperation_t op_b, Size m, Size n, Size k, \
      const void *alpha
#define PLAIN(Size) \
  const void *a, Size lda, const void *b, Size ldb, const void *beta, void *c, Size ldc
#define POINTERS(Size)                                                              \
  const void *const *a, Size lda, const void *const *b, Size ldb, const void *beta, \
      void *const *c, Size ldc, Size batch
#define STRIDED(Size)                                                                       \
  const void *a, Size lda, long long stride_a, const void *b, Size ldb, long long stride_b, \
      const void *beta, void *c, Size ldc, long long stride_c, Size batch
#define TYPED(Size)                                                                           \
  const void *a, cudaDataType type_a, Size lda, const void *b, cudaDataType type_b, Size ldb, \
      const void *beta, void *c, cudaDataType type_c, Size ldc
#define ARGUMENTS(a, b, c) \
  { op_a, op_b, m, n, k, alpha, a, lda, b, ldb, beta, c, ldc }

#define GEMM(letter, version, type, suffix, Size)                                           \
  cublasStatus_t cublas##letter##gemm##version##suffix(SHAPE(Size), PLAIN(Size)) {          \
    return gemm("cublas" #letter "gemm", handle, of_one(type, handle), ARGUMENTS(a, b, c)); \
  }                                                                                         \
  cublasStatus_t cublas##letter##gemmBatched##suffix(SHAPE(Size), POINTERS(Size)) {         \
    return gemm("cublas" #letter "gemmBatched", handle, of_one(type, handle),               \
                ARGUMENTS(a, b, const_cast<void**>(c)), {batch, 0, 0, 0, true});            \
  }                                                                                         \
  cublasStatus_t cublas##letter##gemmStridedBatched##suffix(SHAPE(Size), STRIDED(Size)) {   \
    return gemm("cublas" #letter "gemmStridedBatched", handle, of_one(type, handle),        \
                ARGUMENTS(a, b, c), {batch, stride_a, stride_b, stride_c});                 \
  }

#define EX(suffix, Size)                                                                           \
  GEMM(S, _v2, Type::kF32, suffix, Size)                                                           \
  GEMM(D, _v2, Type::kF64, suffix, Size)                                                           \
  GEMM(C, _v2, Type::kC32, suffix, Size)                                                           \
  GEMM(Z, _v2, Type::kC64, suffix, Size)                                                           \
  GEMM(H, , Type::kF16, suffix, Size)                                                              \
  cublasStatus_t cublasSgemmEx##suffix(SHAPE(Size), TYPED(Size)) {                                 \
    return gemm("cublasSgemmEx", handle,                                                           \
                {as_type(type_a), as_type(type_b), as_type(type_c),                                \
                 type_a == CUDA_R_32F ? compute_of(Type::kF32, handle) : CUBLAS_COMPUTE_32F},      \
                ARGUMENTS(a, b, c));                                                               \
  }                                                                                                \
  cublasStatus_t cublasCgemmEx##suffix(SHAPE(Size), TYPED(Size)) {                                 \
    return gemm(                                                                                   \
        "cublasCgemmEx", handle,                                                                   \
        {as_type(type_a), as_type(type_b), as_type(type_c), compute_of(Type::kC32, handle)},       \
        ARGUMENTS(a, b, c));                                                                       \
  }                                                                                                \
  cublasStatus_t cublasGemmEx##suffix(SHAPE(Size), TYPED(Size), cublasComputeType_t compute,       \
                                      cublasGemmAlgo_t) {                                          \
    return gemm("cublasGemmEx", handle,                                                            \
                {as_type(type_a), as_type(type_b), as_type(type_c), compute}, ARGUMENTS(a, b, c)); \
  }                                                                                                \
  cublasStatus_t cublasGemmBatchedEx##suffix(                                                      \
      SHAPE(Size), const void* const* a, cudaDataType type_a, Size lda, const void* const* b,      \
      cudaDataType type_b, Size ldb, const void* beta, void* const* c, cudaDataType type_c,        \
      Size ldc, Size batch, cublasComputeType_t compute, cublasGemmAlgo_t) {                       \
    return gemm("cublasGemmBatchedEx", handle,                                                     \
                {as_type(type_a), as_type(type_b), as_type(type_c), compute},                      \
                ARGUMENTS(a, b, const_cast<void**>(c)), {batch, 0, 0, 0, true});                   \
  }                                                                                                \
  cublasStatus_t cublasGemmStridedBatchedEx##suffix(                                               \
      SHAPE(Size), const void* a, cudaDataType type_a, Size lda, long long stride_a,               \
      const void* b, cudaDataType type_b, Size ldb, long long stride_b, const void* beta, void* c, \
      cudaDataType type_c, Size ldc, long long stride_c, Size batch, cublasComputeType_t compute,  \
      cublasGemmAlgo_t) {                                                                          \
    return gemm("cublasGemmStridedBatchedEx", handle,                                              \
                {as_type(type_a), as_type(type_b), as_type(type_c), compute}, ARGUMENTS(a, b, c),  \
                {batch, stride_a, stride_b, stride_c});                                            \
  }

extern "C" {
EX(, int)
EX(_64, int64_t)
}  // extern "C"
