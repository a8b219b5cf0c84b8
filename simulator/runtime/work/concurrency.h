// Operations that nothing orders: what each accesses, and the findings where two conflict.
//
// A kernel's accesses are recorded by the engine's search for races; those of copies, fills,
// allocations and frees by TouchedMemory. Not followed is pageable host memory.
#pragma once

#include <string>
#include <vector>

#include "simulator/engine/launch/launch.h"
#include "simulator/runtime/order/order.h"
#include "simulator/runtime/state/runtime.h"
#include "simulator/runtime/work/work.h"

namespace lockstep::runtime {

// What an operation accesses, of memory that CUDA knows.
struct Accesses {
  memory::Box read, written;     // empty: none that is followed
  Touch touch = Touch::kWrites;  // what is done to `written`
};
Accesses accesses_of(const Runtime& runtime, const Work& work);

// The host accesses `box`, as the operation at `mine`, of code before `at`. Reports a `race` where
// an operation that has been executed is not ordered before it, or where `pending`, which has not
// been, accesses the same bytes; `from` is where that code was called, if it is known. A `flag`
// (touched_memory.h) races with no strong access of a kernel.
struct HostAccessed {
  memory::Box box;
  bool writes = false, flag = false;
  const void* at = nullptr;
  const void* from = nullptr;
};
struct PendingAccess {
  std::string call;  // "cudaMemcpyAsync in stream 5"
  const void* caller = nullptr;
  memory::Box box;
  bool writes = false;
};
bool check_host_access(Runtime& runtime, const Clock& known, const HostAccessed& mine,
                       const std::vector<PendingAccess>& pending);
// A copy or fill of up to 8 aligned bytes: the host may poll what it writes.
bool is_small(const memory::Box& box);

// Reports a `race` where the operation, put by `api_name`, conflicts with an earlier one that is
// not ordered before it, and remembers what it accesses. Kernels are left to the engine.
void check_order(Runtime& runtime, const char* api_name, const Operation& operation,
                 const Work& work);
// The same of an operation that does this to these bytes.
void check_order(Runtime& runtime, const char* api_name, const Operation& operation,
                 const memory::Box& box, Touch touch);

// Reports a `use-after-free`, and returns cudaErrorIllegalAddress, where the operation accesses or
// frees memory of a graph that is not allocated when it is executed.
cudaError_t check_presence(Runtime& runtime, const char* api_name, const Operation& operation,
                           const Work& work);

// What a kernel may run beside, as the engine wants it. The place refers to `operation`.
engine::OperationPlace place_of(const Runtime& runtime, const Operation& operation);
std::vector<engine::ConcurrentAccess> concurrent_accesses(Runtime& runtime,
                                                          const Operation& operation);

// "cudaMemcpyAsync in stream 5, a call at main.cu:21"; without a place where that is unknown.
std::string with_place(std::string call, const void* caller);

// What the host waits for in a call that puts work into a stream (CUDA Runtime API, "API
// synchronization behavior").
struct Waits {
  bool before = false;      // for what the stream had, before the bytes are staged
  bool until_done = false;  // for the work itself
};
Waits waits_of(const Runtime& runtime, const Call& call, const Work& work);
// How the bytes of a copy lie.
bool reads_pageable(const Runtime& runtime, const CopyWork& copy);
bool writes_pageable(const Runtime& runtime, const CopyWork& copy);

// The place of an operation that `call` puts into the stream.
Operation place_in_stream(Runtime& runtime, const Call& call, Stream& stream, const Work& work);

}  // namespace lockstep::runtime
