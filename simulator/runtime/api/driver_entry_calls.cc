// The driver's functions, which a program can ask the runtime for: those that are simulated
// (simulator/driver/entry_points.h). That there is none CUDA says with success, a null pointer and
// a status; libraries that ask go without.
#include <algorithm>
#include <limits>

#include "simulator/driver/entry_points.h"
#include "simulator/runtime/state/per_thread_stream.h"
#include "simulator/runtime/state/runtime.h"

using namespace lockstep::runtime;

namespace {

cudaError_t find_entry(const char* function, const char* symbol, void** result, int version,
                       unsigned long long flags, cudaDriverEntryPointQueryResult* status) {
  return api(function, Reach::kHost, [&](Runtime& r, Device&) -> cudaError_t {
    if (symbol == nullptr || result == nullptr || flags > cudaEnablePerThreadDefaultStream ||
        version > CUDART_VERSION)
      return cudaErrorInvalidValue;
    *result = nullptr;
    using lockstep::driver::Search;
    const bool per_thread =
        flags == cudaEnablePerThreadDefaultStream ||
        (flags == cudaEnableDefault && thread_state().per_thread_default_stream);
    const Search search = lockstep::driver::find_entry_point(symbol, version, per_thread, result);
    // With a place for it, that the driver lacks a function is an answer.
    if (search != Search::kFound && status == nullptr)
      r.explain(function, std::string(symbol) + ": the simulated GPU's driver does not have it");
    if (status == nullptr) return search == Search::kFound ? cudaSuccess : cudaErrorSymbolNotFound;
    *status = search == Search::kFound         ? cudaDriverEntryPointSuccess
              : search == Search::kUnknownName ? cudaDriverEntryPointSymbolNotFound
                                               : cudaDriverEntryPointVersionNotSufficent;
    return cudaSuccess;
  });
}

}  // namespace

#pragma GCC diagnostic ignored \
    "-Wdeprecated-declarations"  // the first of them is, and programs still use it

extern "C" {

cudaError_t cudaGetDriverEntryPoint(const char* symbol, void** function, unsigned long long flags,
                                    cudaDriverEntryPointQueryResult* status) {
  return find_entry(__func__, symbol, function, CUDART_VERSION, flags, status);
}
cudaError_t cudaGetDriverEntryPointByVersion(const char* symbol, void** function, unsigned version,
                                             unsigned long long flags,
                                             cudaDriverEntryPointQueryResult* status) {
  return find_entry(__func__, symbol, function,
                    static_cast<int>(std::min<unsigned>(version, std::numeric_limits<int>::max())),
                    flags, status);
}

}  // extern "C"

LOCKSTEP_PER_THREAD(cudaGetDriverEntryPoint, _ptsz)
LOCKSTEP_PER_THREAD(cudaGetDriverEntryPointByVersion, _ptsz)
