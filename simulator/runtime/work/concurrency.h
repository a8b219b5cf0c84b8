// Unordered operations: the memory that each accesses, and the findings if two conflict.
//
// The engine's search for races records a kernel's accesses; TouchedMemory records those of copies,
// fills, allocations and frees. Pageable host memory is not tracked.
#pragma once

#include <string>
#include <vector>

#include "simulator/engine/launch/launch.h"
#include "simulator/runtime/order/order.h"
#include "simulator/runtime/state/runtime.h"
#include "simulator/runtime/work/work.h"

namespace lockstep::runtime {

// The tracked memory that an operation accesses.
struct Accesses {
  memory::Box read, written;     // empty: nothing that is tracked
  Touch touch = Touch::kWrites;  // the effect on `written`
};
Accesses accesses_of(const Runtime& runtime, const Work& work);

// An access of the host to `box`, as the operation `mine`, by code before `at`. Reports a `race` if
// an executed operation is unordered with it, or if `pending`, an unexecuted one, accesses the same
// bytes. `from`: where that code was called, if known. A `flag` (touched_memory.h) does not race
// with strong accesses of a kernel.
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
// Whether a copy or fill is of up to 8 aligned bytes, so that the host may poll them.
bool is_small(const memory::Box& box);

// Reports a `race` if the operation, put by `api_name`, conflicts with an earlier unordered one,
// and stores its accesses. Kernels are checked by the engine.
void check_order(Runtime& runtime, const char* api_name, const Operation& operation,
                 const Work& work);
// As above, for an operation with this access to these bytes.
void check_order(Runtime& runtime, const char* api_name, const Operation& operation,
                 const memory::Box& box, Touch touch);

// Reports a `use-after-free` and returns cudaErrorIllegalAddress if the operation accesses or frees
// graph memory that is not allocated when the operation is executed.
cudaError_t check_presence(Runtime& runtime, const char* api_name, const Operation& operation,
                           const Work& work);

// The order and the unordered accesses of a kernel, for the engine. The place refers to
// `operation`.
engine::OperationPlace place_of(const Runtime& runtime, const Operation& operation);
engine::ConcurrentAccess beside(const Touched& touched);
std::vector<engine::ConcurrentAccess> concurrent_accesses(Runtime& runtime,
                                                          const Operation& operation);

// "cudaMemcpyAsync in stream 5, a call at main.cu:21"; without the place if it is unknown.
std::string with_place(std::string call, const void* caller);

// What the host waits for in a call that puts work into a stream (CUDA Runtime API, "API
// synchronization behavior").
struct Waits {
  bool before = false;      // for the stream's earlier work, before the bytes are staged
  bool until_done = false;  // for the work itself
};
Waits waits_of(const Runtime& runtime, const Call& call, const Work& work);
// Whether the source, or the destination, of a copy is pageable memory.
bool reads_pageable(const Runtime& runtime, const CopyWork& copy);
bool writes_pageable(const Runtime& runtime, const CopyWork& copy);

// The place in the order of an operation that `call` puts into the stream.
Operation place_in_stream(Runtime& runtime, const Call& call, Stream& stream, const Work& work);

}  // namespace lockstep::runtime
