// Errors: what they are called, and which one a thread saw last.
#include "simulator/runtime/runtime.h"

using lockstep::runtime::Device;
using lockstep::runtime::Runtime;
using lockstep::runtime::thread_state;

namespace {

struct ErrorText {
  int number;
  const char* name;
  const char* text;
};

constexpr ErrorText kErrors[] = {
#define ERROR(name, number, text) {number, #name, text},
#include "simulator/runtime/errors.inc"
#undef ERROR
};

// The table's numbers are the header's.
#define ERROR(name, number, text) static_assert(static_cast<int>(name) == (number));
#include "simulator/runtime/errors.inc"
#undef ERROR

constexpr ErrorText kUnrecognised{-1, "unrecognized error code", "unrecognized error code"};

const ErrorText& find(cudaError_t error) {
  for (const ErrorText& e : kErrors) {
    if (e.number == static_cast<int>(error)) return e;
  }
  return kUnrecognised;
}

// The error of the current device if a call has delivered it already: it is the last error of every thread from then on.
cudaError_t sticky_error() {
  Runtime& runtime = Runtime::get();
  std::lock_guard lock(runtime.lock);
  if (runtime.start_error != cudaSuccess) return cudaSuccess;
  const Device& device = runtime.current();
  return device.delivered ? device.error : cudaSuccess;
}

}  // namespace

extern "C" {

const char* cudaGetErrorName(cudaError_t error) { return find(error).name; }
const char* cudaGetErrorString(cudaError_t error) { return find(error).text; }

cudaError_t cudaPeekAtLastError() {
  const cudaError_t sticky = sticky_error();
  return sticky != cudaSuccess ? sticky : thread_state().last_error;
}

cudaError_t cudaGetLastError() {
  const cudaError_t error = cudaPeekAtLastError();
  thread_state().last_error = cudaSuccess;
  return error;
}

}  // extern "C"
