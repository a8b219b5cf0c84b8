// The entry points of the driver API, by name: for cuGetProcAddress, cudaGetDriverEntryPoint and
// libcuda.so.1, which all hand out the same.
#pragma once

namespace lockstep::driver {

struct EntryPoint {
  const char* name;  // "cuMemAlloc"
  // 3020: the first of CUDA, as cuDriverGetVersion numbers it, in which it was as it is.
  int version;
  const char* exported;  // "cuMemAlloc_v2"
  void* function;
  void* per_thread;  // the same where the stream 0 is the calling thread's own
};

enum class Search { kFound, kUnknownName, kVersionTooLow };
// The newest of a name that `version` has. `per_thread`: for per-thread default streams.
Search find_entry_point(const char* name, int version, bool per_thread, void** function);

// By the name under which libcuda.so.1 exports it, which may end in _ptsz or _ptds; nullptr when it
// is not simulated.
void* find_exported(const char* name);

}  // namespace lockstep::driver
