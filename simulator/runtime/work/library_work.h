// Work of the libraries that stand in for NVIDIA's (simulator/library_work.h), as the operation of
// a stream.
#pragma once

#include <memory>
#include <vector>

#include "simulator/library_work.h"
#include "simulator/runtime/work/work.h"

namespace lockstep::runtime {

// What a library has put; of a graph, at every launch the same.
struct LibraryCall {
  explicit LibraryCall(const lockstepLibraryWork& w)
      : name(w.call), run(w.run), release(w.release), data(w.data) {
    pointers.assign(w.pointers, w.pointers + w.pointer_count);
  }
  ~LibraryCall() { release(data); }
  LibraryCall(const LibraryCall&) = delete;
  LibraryCall& operator=(const LibraryCall&) = delete;

  const char* name;
  int (*run)(const void* data, lockstepRunningWork* running);
  void (*release)(void* data);
  void* data;
  std::vector<const void*> pointers;
  const void* caller = nullptr;  // where the program called the library; nullptr: unknown
};

// Executes it as the operation at `at`, under the device lock. cudaErrorIllegalAddress, after a
// finding, where it accesses memory that is not there.
cudaError_t run_library(Runtime& runtime, const LibraryCall& call, const Operation& at);

}  // namespace lockstep::runtime
