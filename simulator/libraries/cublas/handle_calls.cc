// Handles, their settings, and copies of vectors and matrices between host and device (cuBLAS,
// "cuBLAS Helper Function Reference").
#include <cstddef>
#include <cstdint>

#include "simulator/libraries/cublas/handle.h"

extern "C" std::size_t cublasLtGetVersion();  // exported by the other library

namespace lockstep::cublas {

namespace {

// Sets or gets one setting of the handle.
template <class Value>
cublasStatus_t set(const char* call, cublasHandle_t handle, Value cublasContext::*setting,
                   Value value, bool right = true) {
  Check check(call, handle);
  if (check.that(right, "there is no such value").failed()) return check.status();
  handle->*setting = value;
  return CUBLAS_STATUS_SUCCESS;
}
template <class Value>
cublasStatus_t get(const char* call, cublasHandle_t handle, Value cublasContext::*setting,
                   Value* value) {
  Check check(call, handle);
  if (check.that(value != nullptr, "a null pointer").failed()) return check.status();
  *value = handle->*setting;
  return CUBLAS_STATUS_SUCCESS;
}

struct Copy {
  const char* call;
  cudaMemcpyKind kind;
  bool blocks;
  cudaStream_t stream = nullptr;
};

cublasStatus_t copy_rows(const Copy& copy, std::int64_t rows, std::int64_t columns,
                         std::int64_t size, const void* from, std::int64_t ld_from, void* to,
                         std::int64_t ld_to) {
  if (rows < 0 || columns < 0 || size <= 0 || ld_from <= 0 || ld_to <= 0)
    return fail(copy.call, CUBLAS_STATUS_INVALID_VALUE,
                "sizes are at least 0, increments and the size of an element at least 1");
  if (ld_from < rows || ld_to < rows)
    return fail(copy.call, CUBLAS_STATUS_INVALID_VALUE,
                "a leading dimension is less than the rows");
  if (rows == 0 || columns == 0) return CUBLAS_STATUS_SUCCESS;
  const int error = lockstepCopyRows(
      copy.call, copy.blocks, to, static_cast<std::size_t>(ld_to * size), from,
      static_cast<std::size_t>(ld_from * size), static_cast<std::size_t>(rows * size),
      static_cast<std::size_t>(columns), copy.kind, copy.stream);
  return error == cudaSuccess ? CUBLAS_STATUS_SUCCESS : CUBLAS_STATUS_MAPPING_ERROR;
}

// Treats a vector as a matrix with one row, or with one column if it has no gaps.
cublasStatus_t copy_vector(const Copy& copy, std::int64_t n, std::int64_t size, const void* from,
                           std::int64_t inc_from, void* to, std::int64_t inc_to) {
  return inc_from == 1 && inc_to == 1
             ? copy_rows(copy, n, 1, size, from, std::max<std::int64_t>(n, 1), to,
                         std::max<std::int64_t>(n, 1))
             : copy_rows(copy, 1, n, size, from, inc_from, to, inc_to);
}

}  // namespace
}  // namespace lockstep::cublas

using lockstep::cublas::Check;
using lockstep::cublas::fail;

extern "C" {

cublasStatus_t cublasCreate_v2(cublasHandle_t* handle) {
  if (handle == nullptr)
    return fail("cublasCreate", CUBLAS_STATUS_INVALID_VALUE, "the handle is a null pointer");
  *handle = nullptr;
  if (cudaFree(nullptr) != cudaSuccess) return CUBLAS_STATUS_NOT_INITIALIZED;
  *handle = new cublasContext;
  return CUBLAS_STATUS_SUCCESS;
}
cublasStatus_t cublasDestroy_v2(cublasHandle_t handle) {
  Check check("cublasDestroy", handle);
  if (check.failed()) return check.status();
  handle->magic = 0;  // the memory is kept, so that later uses are detected
  return CUBLAS_STATUS_SUCCESS;
}
cublasStatus_t cublasGetVersion_v2(cublasHandle_t, int* version) {
  if (version == nullptr)
    return fail("cublasGetVersion", CUBLAS_STATUS_INVALID_VALUE, "a null pointer");
  // NVIDIA's cuBLAS requires cuBLASLt too, and programs look up names of both in one library
  // handle.
  *version = static_cast<int>(cublasLtGetVersion());
  return CUBLAS_STATUS_SUCCESS;
}
cublasStatus_t cublasGetProperty(libraryPropertyType type, int* value) {
  using namespace lockstep::cublas;
  if (value == nullptr || type < MAJOR_VERSION || type > PATCH_LEVEL)
    return fail("cublasGetProperty", CUBLAS_STATUS_INVALID_VALUE, "there is no such property");
  *value = type == MAJOR_VERSION ? kMajor : type == MINOR_VERSION ? kMinor : kPatch;
  return CUBLAS_STATUS_SUCCESS;
}
size_t cublasGetCudartVersion() { return CUDART_VERSION; }

const char* cublasGetStatusName(cublasStatus_t status) { return lockstep::cublas::name_of(status); }
const char* cublasGetStatusString(cublasStatus_t status) {
  return lockstep::cublas::text_of(status);
}

// The program's workspace was set for the previous stream.
cublasStatus_t cublasSetStream_v2(cublasHandle_t handle, cudaStream_t stream) {
  const auto status =
      lockstep::cublas::set("cublasSetStream", handle, &cublasContext::stream, stream);
  if (status == CUBLAS_STATUS_SUCCESS) handle->workspace = nullptr;
  return status;
}
cublasStatus_t cublasGetStream_v2(cublasHandle_t handle, cudaStream_t* stream) {
  return lockstep::cublas::get("cublasGetStream", handle, &cublasContext::stream, stream);
}
cublasStatus_t cublasSetWorkspace_v2(cublasHandle_t handle, void* workspace, size_t bytes) {
  Check check("cublasSetWorkspace", handle);
  check.that(reinterpret_cast<std::uintptr_t>(workspace) % 256 == 0,
             "the workspace is not aligned to 256 bytes");
  if (check.failed()) return check.status();
  handle->workspace = workspace;
  handle->workspace_bytes = bytes;
  return CUBLAS_STATUS_SUCCESS;
}

#define SETTING(Name, Type, field, right)                                                         \
  cublasStatus_t cublasSet##Name(cublasHandle_t handle, Type value) {                             \
    return lockstep::cublas::set("cublasSet" #Name, handle, &cublasContext::field, value, right); \
  }                                                                                               \
  cublasStatus_t cublasGet##Name(cublasHandle_t handle, Type* value) {                            \
    return lockstep::cublas::get("cublasGet" #Name, handle, &cublasContext::field, value);        \
  }
SETTING(MathMode, cublasMath_t, math_mode, (value & ~0x1f) == 0)
SETTING(AtomicsMode, cublasAtomicsMode_t, atomics_mode,
        value == CUBLAS_ATOMICS_ALLOWED || value == CUBLAS_ATOMICS_NOT_ALLOWED)
SETTING(SmCountTarget, int, sm_count_target, value >= 0)
SETTING(EmulationStrategy, cudaEmulationStrategy_t, emulation_strategy,
        value >= CUDA_EMULATION_STRATEGY_DEFAULT && value <= CUDA_EMULATION_STRATEGY_EAGER)
SETTING(EmulationSpecialValuesSupport, cudaEmulationSpecialValuesSupport_t,
        emulation_special_values, true)
SETTING(FixedPointEmulationMantissaControl, cudaEmulationMantissaControl_t, mantissa_control,
        value == CUDA_EMULATION_MANTISSA_CONTROL_DYNAMIC ||
            value == CUDA_EMULATION_MANTISSA_CONTROL_FIXED)
SETTING(FixedPointEmulationMaxMantissaBitCount, int, max_mantissa_bits, value >= 0)
SETTING(FixedPointEmulationMantissaBitOffset, int, mantissa_bit_offset, true)
SETTING(FixedPointEmulationMantissaBitCountPointer, int*, mantissa_bits_pointer, true)
#undef SETTING

cublasStatus_t cublasSetPointerMode_v2(cublasHandle_t handle, cublasPointerMode_t mode) {
  return lockstep::cublas::set(
      "cublasSetPointerMode", handle, &cublasContext::pointer_mode, mode,
      mode == CUBLAS_POINTER_MODE_HOST || mode == CUBLAS_POINTER_MODE_DEVICE);
}
cublasStatus_t cublasGetPointerMode_v2(cublasHandle_t handle, cublasPointerMode_t* mode) {
  return lockstep::cublas::get("cublasGetPointerMode", handle, &cublasContext::pointer_mode, mode);
}

// The simulated cuBLAS logs nothing.
cublasStatus_t cublasLoggerConfigure(int, int, int, const char*) { return CUBLAS_STATUS_SUCCESS; }
cublasStatus_t cublasSetLoggerCallback(void (*)(const char*)) { return CUBLAS_STATUS_SUCCESS; }
cublasStatus_t cublasGetLoggerCallback(void (**callback)(const char*)) {
  if (callback != nullptr) *callback = nullptr;
  return CUBLAS_STATUS_SUCCESS;
}

// Undocumented; cuSOLVER calls it with the handle first. It changes no result here.
cublasStatus_t cublasSetEnvironmentMode(cublasHandle_t, int) { return CUBLAS_STATUS_SUCCESS; }
cublasStatus_t cublasGetEnvironmentMode(cublasHandle_t, int* mode) {
  if (mode != nullptr) *mode = 0;
  return CUBLAS_STATUS_SUCCESS;
}

#define COPY(suffix, Size)                                                                        \
  cublasStatus_t cublasSetVector##suffix(Size n, Size size, const void* x, Size incx, void* y,    \
                                         Size incy) {                                             \
    return lockstep::cublas::copy_vector({"cublasSetVector", cudaMemcpyHostToDevice, true}, n,    \
                                         size, x, incx, y, incy);                                 \
  }                                                                                               \
  cublasStatus_t cublasGetVector##suffix(Size n, Size size, const void* x, Size incx, void* y,    \
                                         Size incy) {                                             \
    return lockstep::cublas::copy_vector({"cublasGetVector", cudaMemcpyDeviceToHost, true}, n,    \
                                         size, x, incx, y, incy);                                 \
  }                                                                                               \
  cublasStatus_t cublasSetVectorAsync##suffix(Size n, Size size, const void* x, Size incx,        \
                                              void* y, Size incy, cudaStream_t stream) {          \
    return lockstep::cublas::copy_vector(                                                         \
        {"cublasSetVectorAsync", cudaMemcpyHostToDevice, false, stream}, n, size, x, incx, y,     \
        incy);                                                                                    \
  }                                                                                               \
  cublasStatus_t cublasGetVectorAsync##suffix(Size n, Size size, const void* x, Size incx,        \
                                              void* y, Size incy, cudaStream_t stream) {          \
    return lockstep::cublas::copy_vector(                                                         \
        {"cublasGetVectorAsync", cudaMemcpyDeviceToHost, false, stream}, n, size, x, incx, y,     \
        incy);                                                                                    \
  }                                                                                               \
  cublasStatus_t cublasSetMatrix##suffix(Size rows, Size columns, Size size, const void* a,       \
                                         Size lda, void* b, Size ldb) {                           \
    return lockstep::cublas::copy_rows({"cublasSetMatrix", cudaMemcpyHostToDevice, true}, rows,   \
                                       columns, size, a, lda, b, ldb);                            \
  }                                                                                               \
  cublasStatus_t cublasGetMatrix##suffix(Size rows, Size columns, Size size, const void* a,       \
                                         Size lda, void* b, Size ldb) {                           \
    return lockstep::cublas::copy_rows({"cublasGetMatrix", cudaMemcpyDeviceToHost, true}, rows,   \
                                       columns, size, a, lda, b, ldb);                            \
  }                                                                                               \
  cublasStatus_t cublasSetMatrixAsync##suffix(Size rows, Size columns, Size size, const void* a,  \
                                              Size lda, void* b, Size ldb, cudaStream_t stream) { \
    return lockstep::cublas::copy_rows(                                                           \
        {"cublasSetMatrixAsync", cudaMemcpyHostToDevice, false, stream}, rows, columns, size, a,  \
        lda, b, ldb);                                                                             \
  }                                                                                               \
  cublasStatus_t cublasGetMatrixAsync##suffix(Size rows, Size columns, Size size, const void* a,  \
                                              Size lda, void* b, Size ldb, cudaStream_t stream) { \
    return lockstep::cublas::copy_rows(                                                           \
        {"cublasGetMatrixAsync", cudaMemcpyDeviceToHost, false, stream}, rows, columns, size, a,  \
        lda, b, ldb);                                                                             \
  }
COPY(, int)
COPY(_64, int64_t)
#undef COPY

}  // extern "C"
