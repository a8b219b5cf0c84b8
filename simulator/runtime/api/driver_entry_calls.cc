// The driver's functions, which a program can ask the runtime for by name and version: those that make tensor maps. There is no other driver here; of what is
// not there CUDA's own way to say so is success with a null pointer and a status; libraries that ask (libcu++ does) go without.
#include "simulator/runtime/api/tensor_map_calls.h"
#include "simulator/runtime/state/runtime.h"

using namespace lockstep::runtime;

namespace {

cudaError_t find_entry(const char* function, const char* symbol, void** result, unsigned version, unsigned long long flags,
                       cudaDriverEntryPointQueryResult* status) {
  return api(function, Reach::kHost, [&](Runtime& r, Device&) -> cudaError_t {
    if (symbol == nullptr || result == nullptr || flags > cudaEnablePerThreadDefaultStream || version > CUDART_VERSION) return cudaErrorInvalidValue;
    *result = nullptr;
    const DriverFunction found = tensor_map_function(symbol);
    auto answer = cudaDriverEntryPointSuccess;
    if (found.function == nullptr) {
      answer = cudaDriverEntryPointSymbolNotFound;
      r.explain(function, std::string(symbol) + ": this function of the driver API is not supported by the simulated GPU");
    } else if (version < found.since) {
      answer = cudaDriverEntryPointVersionNotSufficent;
    } else {
      *result = found.function;
    }
    if (status != nullptr) *status = answer;
    return cudaSuccess;
  });
}

}  // namespace

#pragma GCC diagnostic ignored "-Wdeprecated-declarations"  // the first of them is, and programs still use it

extern "C" {

cudaError_t cudaGetDriverEntryPoint(const char* symbol, void** function, unsigned long long flags, cudaDriverEntryPointQueryResult* status) {
  return find_entry(__func__, symbol, function, CUDART_VERSION, flags, status);
}
cudaError_t cudaGetDriverEntryPointByVersion(const char* symbol, void** function, unsigned version, unsigned long long flags,
                                             cudaDriverEntryPointQueryResult* status) {
  return find_entry(__func__, symbol, function, version, flags, status);
}

}  // extern "C"

LOCKSTEP_ALIAS(cudaGetDriverEntryPoint, _ptsz)
LOCKSTEP_ALIAS(cudaGetDriverEntryPointByVersion, _ptsz)
