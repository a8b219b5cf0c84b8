#include "simulator/driver/entry_points.h"

#include <cudaProfiler.h>
#include <dlfcn.h>

#include <algorithm>
#include <cstdio>
#include <cstring>
#include <mutex>
#include <set>
#include <string>
#include <string_view>
#include <unordered_map>

#include "simulator/driver/forward.h"
#include "simulator/exec/vendor_libraries.h"
#include "simulator/runtime/state/per_thread_stream.h"

#pragma GCC diagnostic ignored \
    "-Wdeprecated-declarations"  // functions of old that programs still ask for

namespace lockstep::driver {

// Earlier forms of functions, defined in the files of their subjects.
CUresult create_context_2(CUcontext*, unsigned, CUdevice);
CUresult create_context_3(CUcontext*, CUexecAffinityParam*, int, unsigned, CUdevice);
CUresult advise_1(CUdeviceptr, std::size_t, CUmem_advise, CUdevice);
CUresult prefetch_1(CUdeviceptr, std::size_t, CUdevice, CUstream);
CUresult graph_edges_1(CUgraph, CUgraphNode*, CUgraphNode*, std::size_t*);
CUresult node_dependencies_1(CUgraphNode, CUgraphNode*, std::size_t*);
CUresult node_dependents_1(CUgraphNode, CUgraphNode*, std::size_t*);
CUresult add_dependencies_1(CUgraph, const CUgraphNode*, const CUgraphNode*, std::size_t);
CUresult remove_dependencies_1(CUgraph, const CUgraphNode*, const CUgraphNode*, std::size_t);
CUresult capture_info_3(CUstream, CUstreamCaptureStatus*, cuuint64_t*, CUgraph*,
                        const CUgraphNode**, const CUgraphEdgeData**, std::size_t*);
CUresult capture_info_2(CUstream, CUstreamCaptureStatus*, cuuint64_t*, CUgraph*,
                        const CUgraphNode**, std::size_t*);
CUresult update_dependencies_1(CUstream, CUgraphNode*, std::size_t, unsigned);

namespace {

// Explains, once for each library, why a library of NVIDIA's failed. Such a library, or a stripped
// CUDA runtime inside it, first requests the driver's private tables and cannot reach the simulated
// runtime. The library itself reports only that its first call failed.
void explain_private_tables(const void* caller) {
  Dl_info info{};
  if (dladdr(caller, &info) == 0 || info.dli_fname == nullptr) return;
  const std::string_view path = info.dli_fname;
  const std::string_view name = path.substr(path.find_last_of('/') + 1);
  if (!exec::is_vendor_library(name)) return;
  static auto* const seen = new std::set<std::string>;
  static std::mutex lock;
  std::lock_guard guard(lock);
  if (!seen->emplace(path).second) return;
  std::fprintf(stderr,
               "lockstep: %s is called. Its kernels are machine code, which the simulated GPU does "
               "not run: its calls fail. Check the program's own kernels without %.*s.\n",
               info.dli_fname, static_cast<int>(name.size()), name.data());
}

// The version of this driver. Versions below zero stand for it.
int newest() {
  static const int version = [] {
    int result = 0;
    cudaDriverGetVersion(&result);
    return result;
  }();
  return version;
}

CUresult find(const char* name, void** function, int version, cuuint64_t flags,
              CUdriverProcAddressQueryResult* status) {
  constexpr cuuint64_t kKnown =
      CU_GET_PROC_ADDRESS_LEGACY_STREAM | CU_GET_PROC_ADDRESS_PER_THREAD_DEFAULT_STREAM;
  if (name == nullptr || function == nullptr || (flags & ~kKnown) != 0 || version > newest())
    return CUDA_ERROR_INVALID_VALUE;
  *function = nullptr;
  const bool per_thread = (flags & CU_GET_PROC_ADDRESS_PER_THREAD_DEFAULT_STREAM) != 0;
  const Search search = find_entry_point(name, version, per_thread, function);
  if (status != nullptr) {
    *status = search == Search::kFound         ? CU_GET_PROC_ADDRESS_SUCCESS
              : search == Search::kUnknownName ? CU_GET_PROC_ADDRESS_SYMBOL_NOT_FOUND
                                               : CU_GET_PROC_ADDRESS_VERSION_NOT_SUFFICIENT;
  }
  return CUDA_SUCCESS;  // with a null pointer where there is none, as an H100's driver answers
}

}  // namespace

CUresult proc_address_1(const char* name, void** function, int version, cuuint64_t flags) {
  const CUresult result = find(name, function, version, flags, nullptr);
  return result == CUDA_SUCCESS && *function == nullptr ? CUDA_ERROR_NOT_FOUND
                                                        : result;  // it had no other way to say so
}

namespace {

const EntryPoint kEntryPoints[] = {
#define ROW(name, version, exported, function)                 \
  {name, version, exported, reinterpret_cast<void*>(function), \
   reinterpret_cast<void*>(&runtime::WithPerThreadStream<function>::call)},
#define ENTRY(name, version, suffix, function) ROW(#name, version, #name #suffix, &function)
#define FORWARD(name, version, suffix, needs, function) \
  ROW(#name, version, #name #suffix,                    \
      (&Forward<#name, Needs::needs, decltype(name), &function>::run))
#include "simulator/driver/entry_points.inc"
#undef FORWARD
#undef ENTRY
#undef ROW
};

}  // namespace

// The first version with variants for per-thread default streams.
constexpr int kFirstPerThread = 7000;

Search find_entry_point(const char* name, int version, bool per_thread, void** function) {
  const EntryPoint* best = nullptr;
  bool known = false;
  for (const EntryPoint& e : kEntryPoints) {
    if (std::strcmp(e.name, name) != 0) continue;
    known = true;
    const int first = per_thread ? std::max(e.version, kFirstPerThread) : e.version;
    if ((version < 0 || first <= version) && (best == nullptr || e.version > best->version))
      best = &e;
  }
  if (best == nullptr) return known ? Search::kVersionTooLow : Search::kUnknownName;
  *function = per_thread ? best->per_thread : best->function;
  return Search::kFound;
}

void* find_exported(const char* name) {
  std::string_view own = name;
  const bool per_thread = own.ends_with("_ptsz") || own.ends_with("_ptds");
  if (per_thread) own.remove_suffix(5);
  for (const EntryPoint& e : kEntryPoints) {
    if (own == e.exported) return per_thread ? e.per_thread : e.function;
  }
  return nullptr;
}

}  // namespace lockstep::driver

extern "C" {

CUresult cuGetProcAddress(const char* name, void** function, int version, cuuint64_t flags,
                          CUdriverProcAddressQueryResult* status) {
  if (name != nullptr && std::strcmp(name, "cuGetExportTable") == 0)
    lockstep::driver::explain_private_tables(__builtin_return_address(0));
  return lockstep::driver::find(name, function, version, flags, status);
}

// Reports that the driver has no such private table, with the result of an H100's driver (580). A
// caller may do without the table, so no call has failed.
static CUresult lockstepNoExportTable(const void** table, const CUuuid*) {
  lockstep::driver::explain_private_tables(__builtin_return_address(0));
  if (table != nullptr) *table = nullptr;
  return CUDA_ERROR_INVALID_VALUE;
}

// Called by libcuda.so.1 for each name that it exports. nullptr if the function is not simulated.
void* lockstepDriverEntryPoint(const char* name) {
  if (std::strcmp(name, "cuGetExportTable") == 0)
    return reinterpret_cast<void*>(&lockstepNoExportTable);
  return lockstep::driver::find_exported(name);
}

// Called by libcuda.so.1 for functions that are not simulated.
CUresult lockstepUnsupportedDriverCall(const char* name) {
  using namespace lockstep::driver;
  return call(name, Needs::kNothing, [&] {
    Runtime::get().explain(name, "the simulated GPU does not support it");
    return CUDA_ERROR_NOT_SUPPORTED;
  });
}

}  // extern "C"
