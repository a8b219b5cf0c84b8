// The names and texts of results.
#include "simulator/driver/call.h"
#include "simulator/driver/errors.h"

namespace lockstep::driver {
namespace {

const char* name_of(CUresult result) {
  switch (result) {
#define RESULT(name) \
  case name:         \
    return #name;
#include "simulator/driver/results.inc"
#undef RESULT
  }
  return nullptr;
}

// Texts of results that the runtime API does not have; nullptr for all other results.
const char* own_text(CUresult result) {
  switch (result) {
    case CUDA_ERROR_CONTEXT_ALREADY_CURRENT: return "context already current";
    case CUDA_ERROR_KEY_ROTATION: return "the confidential computing keys are being rotated";
    default: return nullptr;
  }
}

}  // namespace

ErrorText text_of(CUresult result) {
  const char* const name = name_of(result);
  if (name == nullptr) return {"unrecognized error code", "unrecognized error code", false};
  const char* const own = own_text(result);
  return {name,
          own != nullptr ? own : lockstep::runtime::error_text(static_cast<cudaError_t>(result)),
          true};
}

}  // namespace lockstep::driver

using lockstep::driver::text_of;

extern "C" {

CUresult cuGetErrorName(CUresult error, const char** text) {
  if (text == nullptr) return CUDA_ERROR_INVALID_VALUE;
  *text = text_of(error).known ? text_of(error).name : nullptr;
  return *text == nullptr ? CUDA_ERROR_INVALID_VALUE : CUDA_SUCCESS;
}

CUresult cuGetErrorString(CUresult error, const char** text) {
  if (text == nullptr) return CUDA_ERROR_INVALID_VALUE;
  *text = text_of(error).known ? text_of(error).text : nullptr;
  return *text == nullptr ? CUDA_ERROR_INVALID_VALUE : CUDA_SUCCESS;
}

}  // extern "C"
