#include "simulator/libraries/cublas/handle.h"

#include <cstring>

namespace lockstep::cublas {

bool is_handle(cublasHandle_t handle) {
  return handle != nullptr && handle->magic == cublasContext::kMagic;
}

Scalar scalar(const cublasContext& handle, const char* name, const void* at, Type type) {
  Scalar s{name, nullptr, type, {}};
  if (handle.pointer_mode == CUBLAS_POINTER_MODE_DEVICE) {
    s.on_device = at;
  } else {
    std::memcpy(s.value.data(), at, size_of(type));
  }
  return s;
}

Result result(const cublasContext& handle, void* at, Type type) {
  return {at, handle.pointer_mode == CUBLAS_POINTER_MODE_DEVICE, type};
}

}  // namespace lockstep::cublas
