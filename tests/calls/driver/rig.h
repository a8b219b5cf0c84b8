// What the random calls of the driver API have in common: its functions, the objects that exist,
// and the transcript. The transcript has one line for each call: its arguments and its result.
#pragma once

#include <cuda.h>

#include <cstdint>
#include <cstdio>
#include <string>
#include <vector>

#include "tests/calls/random.h"

namespace lockstep::calls::driver {

// The function of libcuda.so.1 with this name. Ends the process if there is none.
void* exported(const char* name);

// DRIVER(cuMemAlloc)(&p, 4) calls what cuda.h calls cuMemAlloc (cuMemAlloc_v2). The library is
// found at run time, since a machine without a GPU has none to link with.
#define DRIVER_NAME(function) #function
#define DRIVER(function)                                                              \
  (reinterpret_cast<decltype(&function)>([]() -> void* {                              \
    static void* const at = lockstep::calls::driver::exported(DRIVER_NAME(function)); \
    return at;                                                                        \
  }()))

// Memory that calls may name.
struct Memory {
  enum Kind { kDevice, kPageable, kPinned, kRegistered, kManaged };
  CUdeviceptr at = 0;
  std::size_t size = 0;
  Kind kind = kDevice;
  std::string name;
  void* host() const { return reinterpret_cast<void*>(at); }
  bool of_host() const { return kind == kPageable || kind == kPinned || kind == kRegistered; }
};

struct Array {
  CUarray it = nullptr;
  std::string name;
  std::size_t width = 0, height = 0;  // in elements
  std::size_t element = 0;            // bytes
};

struct Graph {
  CUgraph it = nullptr;
  std::string name;
  std::vector<Named<CUgraphNode>> nodes;
};

// A module or library, with its kernels.
struct Code {
  CUmodule module = nullptr;
  CUlibrary library = nullptr;
  std::string name;
  std::vector<Named<CUfunction>> functions;
  std::vector<Named<CUkernel>> kernels;
};

// A host function: adds 1 to the number at `calls`.
inline void count(void* calls) {
  __atomic_fetch_add(static_cast<unsigned*>(calls), 1u, __ATOMIC_RELAXED);
}

class Rig : public Objects {
 public:
  Rig(std::uint64_t seed, std::FILE* out);
  // Waits, and writes digests of what the calls have computed.
  void end();

  // Writes a call and its result; `values` are written if it succeeded.
  void answer(const std::string& call, CUresult result, const std::string& values = {});

  CUdeviceptr slot();
  CUdeviceptr constants() const { return constants_; }
  CUcontext context() const { return context_; }
  const Code& own_code() const { return codes.front(); }

  // One of `streams`, the default stream, or one of its special handles.
  Named<CUstream> stream();
  // A kernel of a module or library. `handle` is what cuLaunchKernel takes.
  struct Kernel {
    CUfunction handle = nullptr;
    std::string name;
  };
  Kernel kernel();
  // Waits for all work, outside of the transcript.
  void wait();

  std::vector<Memory> memory;
  std::vector<Array> arrays;
  std::vector<Named<CUstream>> streams;
  std::vector<Named<CUevent>> events;
  std::vector<Graph> graphs;
  std::vector<Named<CUgraphExec>> execs;
  std::vector<Code> codes;  // the first is never unloaded
  unsigned host_calls = 0;  // by host functions

 private:
  std::FILE* out_;
  int line_ = 0;
  CUcontext context_ = nullptr;
  CUdeviceptr slots_ = 0, constants_ = 0;
};

// add: adds `value` to each word of a slot. few_threads: the same, with at most 64 threads a block.
// shared: the same, with 4,096 bytes of shared memory. Variables: factor, table (constant),
// managed_word (managed).
extern const char* const kPtx;

std::vector<Call<Rig>> context_calls();
std::vector<Call<Rig>> device_calls();
std::vector<Call<Rig>> code_calls();
std::vector<Call<Rig>> function_calls();
std::vector<Call<Rig>> memory_calls();
std::vector<Call<Rig>> virtual_memory_calls();
std::vector<Call<Rig>> copy_calls();
std::vector<Call<Rig>> stream_calls();
std::vector<Call<Rig>> launch_calls();
std::vector<Call<Rig>> graph_calls();

}  // namespace lockstep::calls::driver
