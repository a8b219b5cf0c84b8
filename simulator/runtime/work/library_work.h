// Work of the libraries that replace NVIDIA's (simulator/library_work.h), as an operation of a
// stream.
#pragma once

#include <memory>
#include <vector>

#include "simulator/library_work.h"
#include "simulator/runtime/work/work.h"

namespace lockstep::runtime {

// Work that a library has put. In a graph, every launch executes the same work.
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
  const void* caller = nullptr;  // the calling place in the program; nullptr: unknown
};

// Executes it as the operation `at`, under the device lock. Returns cudaErrorIllegalAddress, after
// a finding, if it accesses memory that does not exist.
cudaError_t run_library(Runtime& runtime, const LibraryCall& call, const Operation& at);

}  // namespace lockstep::runtime
