// The entry points of the driver API by name. cuGetProcAddress, cudaGetDriverEntryPoint and
// libcuda.so.1 all return functions from this table.
#pragma once

namespace lockstep::driver {

struct EntryPoint {
  const char* name;  // "cuMemAlloc"
  // The first version of CUDA with this form of the function, as cuDriverGetVersion numbers it:
  // 3020.
  int version;
  const char* exported;  // "cuMemAlloc_v2"
  void* function;
  void* per_thread;  // the variant in which stream 0 is the calling thread's own
};

enum class Search { kFound, kUnknownName, kVersionTooLow };
// Finds the newest form of `name` that `version` has. `per_thread`: the form for per-thread default
// streams.
Search find_entry_point(const char* name, int version, bool per_thread, void** function);

// The function that libcuda.so.1 exports as `name`, which may end in _ptsz or _ptds. nullptr if it
// is not simulated.
void* find_exported(const char* name);

}  // namespace lockstep::driver
