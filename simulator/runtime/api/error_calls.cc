// Errors: what they are called, and which one a thread saw last.
#include <utility>

#include "simulator/runtime/state/call_errors.h"
#include "simulator/runtime/state/runtime.h"

using lockstep::runtime::start_driver;
using lockstep::runtime::thread_state;

namespace {

struct ErrorText {
  int number;
  const char* name;
  const char* text;
};

constexpr ErrorText kErrors[] = {
#define ERROR(name, number, text) {number, #name, text},
#include "simulator/runtime/api/errors.inc"
#undef ERROR
};

// The table's numbers are the header's.
#define ERROR(name, number, text) static_assert(static_cast<int>(name) == (number));
#include "simulator/runtime/api/errors.inc"
#undef ERROR

constexpr ErrorText kUnrecognised{-1, "unrecognized error code", "unrecognized error code"};

const ErrorText& find(cudaError_t error) {
  for (const ErrorText& e : kErrors) {
    if (e.number == static_cast<int>(error)) return e;
  }
  return kUnrecognised;
}

}  // namespace

namespace lockstep::runtime {
const char* error_name(cudaError_t error) { return find(error).name; }
const char* error_text(cudaError_t error) { return find(error).text; }
}  // namespace lockstep::runtime

extern "C" {

const char* cudaGetErrorName(cudaError_t error) {
  start_driver();
  return find(error).name;
}
const char* cudaGetErrorString(cudaError_t error) {
  start_driver();
  return find(error).text;
}

cudaError_t cudaPeekAtLastError() {
  start_driver();
  const cudaError_t error = thread_state().last_error;
  if (error != cudaSuccess)
    lockstep::runtime::last_error_fetched(lockstep::runtime::Runtime::get());
  return error;
}

// Forgets the last error even if a kernel's error made every call fail: the next call that reaches
// the device returns that again.
cudaError_t cudaGetLastError() {
  const cudaError_t error = cudaPeekAtLastError();
  thread_state().last_error = cudaSuccess;
  return error;
}

}  // extern "C"
