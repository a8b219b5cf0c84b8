// The value that a conditional node of a graph reads (CUDA Runtime API,
// cudaGraphConditionalHandleCreate): four bytes of device memory. The handle is their address, and
// cudaGraphSetConditional in a kernel stores there (device_library.h). So the search for races
// treats the call as a store, and the node as a read.
#pragma once

#include <cuda_runtime_api.h>

#include <memory>

#include "simulator/memory/device_memory.h"

namespace lockstep::runtime {

class Runtime;

struct Condition {
  memory::Address word = 0;
  int device = 0;
  unsigned default_value = 0;
  bool assigns_default = false;  // otherwise it has no value at the start of a launch
  bool used = false;             // a node uses it

  Condition() = default;
  Condition(const Condition&) = delete;
  Condition& operator=(const Condition&) = delete;
  ~Condition();

  cudaGraphConditionalHandle handle() const { return word; }
};

// Returns nullptr if the device is out of memory.
std::shared_ptr<Condition> make_condition(Runtime& runtime, int device, unsigned default_value,
                                          bool assigns_default);

}  // namespace lockstep::runtime
