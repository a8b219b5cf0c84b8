// The driver's functions, which a program can ask the runtime for: there is no driver here, and so none of them. CUDA's own way to say that is
// success with a null pointer and a status; libraries that ask (libcu++ does) go without.
#include "simulator/runtime/state/runtime.h"

using namespace lockstep::runtime;

namespace {

cudaError_t find_entry(const char* function, const char* symbol, void** result, unsigned long long flags, cudaDriverEntryPointQueryResult* status) {
  return api(function, Reach::kHost, [&](Runtime& r, Device&) -> cudaError_t {
    if (symbol == nullptr || result == nullptr || flags > cudaEnablePerThreadDefaultStream) return cudaErrorInvalidValue;
    *result = nullptr;
    r.explain(function, std::string(symbol) + ": the driver API is not supported by the simulated GPU");
    if (status == nullptr) return cudaErrorSymbolNotFound;
    *status = cudaDriverEntryPointSymbolNotFound;
    return cudaSuccess;
  });
}

}  // namespace

#pragma GCC diagnostic ignored "-Wdeprecated-declarations"  // the first of them is, and programs still use it

extern "C" {

cudaError_t cudaGetDriverEntryPoint(const char* symbol, void** function, unsigned long long flags, cudaDriverEntryPointQueryResult* status) {
  return find_entry(__func__, symbol, function, flags, status);
}
cudaError_t cudaGetDriverEntryPointByVersion(const char* symbol, void** function, unsigned /*version*/, unsigned long long flags,
                                             cudaDriverEntryPointQueryResult* status) {
  return find_entry(__func__, symbol, function, flags, status);
}

}  // extern "C"

LOCKSTEP_ALIAS(cudaGetDriverEntryPoint, _ptsz)
LOCKSTEP_ALIAS(cudaGetDriverEntryPointByVersion, _ptsz)
