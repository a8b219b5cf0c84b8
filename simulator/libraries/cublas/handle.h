// The handle of cuBLAS, which is also a handle of cuBLASLt, and argument checks for functions that
// take one.
#pragma once

#include <cstddef>
#include <string>

#include "simulator/libraries/cublas/access.h"

struct cublasContext {
  static constexpr unsigned kMagic = 0xc0b1a5;
  unsigned magic = kMagic;
  cudaStream_t stream = nullptr;
  cublasPointerMode_t pointer_mode = CUBLAS_POINTER_MODE_HOST;
  cublasMath_t math_mode = CUBLAS_DEFAULT_MATH;
  cublasAtomicsMode_t atomics_mode = CUBLAS_ATOMICS_NOT_ALLOWED;
  int sm_count_target = 0;
  // Settings for emulated types, which compute like the plain types here.
  cudaEmulationStrategy_t emulation_strategy = CUDA_EMULATION_STRATEGY_DEFAULT;
  cudaEmulationSpecialValuesSupport_t emulation_special_values =
      CUDA_EMULATION_SPECIAL_VALUES_SUPPORT_DEFAULT;
  cudaEmulationMantissaControl_t mantissa_control = CUDA_EMULATION_MANTISSA_CONTROL_DYNAMIC;
  int max_mantissa_bits = 0, mantissa_bit_offset = 0;
  int* mantissa_bits_pointer = nullptr;
  // The program's workspace. If there is none, cuBLAS uses its own.
  void* workspace = nullptr;
  std::size_t workspace_bytes = 0;
};

namespace lockstep::cublas {

// The version that the simulated libraries report.
inline constexpr int kMajor = 13, kMinor = 1, kPatch = 0;

bool is_handle(cublasHandle_t handle);

inline Type as_type(cudaDataType type) { return static_cast<Type>(type); }

// Checks the arguments of a call in order. The first error is the call's result.
class Check {
 public:
  Check(const char* call, cublasHandle_t handle) : call_(call) {
    if (!is_handle(handle))
      refuse(CUBLAS_STATUS_NOT_INITIALIZED,
             "the handle was not returned by cublasCreate, or was destroyed");
  }
  Check& that(bool right, const char* otherwise) {
    if (!right) refuse(CUBLAS_STATUS_INVALID_VALUE, otherwise);
    return *this;
  }
  // Features that cuBLAS itself does not support, and features that only the simulated library
  // lacks.
  Check& supported(bool right, const char* otherwise) {
    if (!right) refuse(CUBLAS_STATUS_NOT_SUPPORTED, otherwise);
    return *this;
  }
  Check& simulated(bool right, const char* otherwise) {
    if (!right) refuse(CUBLAS_STATUS_NOT_SUPPORTED, otherwise, true);
    return *this;
  }
  Check& sizes(std::initializer_list<std::int64_t> all) {
    for (const std::int64_t n : all) that(n >= 0, "a size is negative");
    return *this;
  }
  Check& leading(const Matrix& a) {
    if (a.ld < std::max<std::int64_t>(1, a.rows))
      refuse(CUBLAS_STATUS_INVALID_VALUE, std::string("the leading dimension of ") + a.name + ", " +
                                              std::to_string(a.ld) + ", is less than its " +
                                              std::to_string(a.rows) + " rows");
    return *this;
  }
  Check& operation(int op) { return that(op >= 0 && op <= 2, "an operation is none of N, T, C"); }

  bool failed() const { return status_ != CUBLAS_STATUS_SUCCESS; }
  cublasStatus_t status() const { return status_; }

 private:
  void refuse(cublasStatus_t status, const std::string& reason, bool refused = false) {
    if (failed()) return;
    status_ = fail(call_, status, reason, refused);
  }

  const char* call_;
  cublasStatus_t status_ = CUBLAS_STATUS_SUCCESS;
};

// A factor on the host or the device, according to the handle's pointer mode. `at` is not null.
Scalar scalar(const cublasContext& handle, const char* name, const void* at, Type type);
// A result. If it lies on the device, the call does not wait for it.
Result result(const cublasContext& handle, void* at, Type type);

}  // namespace lockstep::cublas
