// Values that a stream writes to memory, or waits for in memory (CUDA Driver API, "Stream Memory
// Operations": cuStreamBatchMemOp).
//
// A stream stops at a value that has not arrived. Its next operations are executed after another
// stream, a kernel or the host has written the value (work/executor.h).
#pragma once

#include <cstddef>
#include <string>

#include "simulator/runtime/work/work.h"

namespace lockstep::runtime {

// Checks operations as an H100's driver (580.159) does. Call under the device lock. Returns
// - cudaErrorInvalidValue for an address that is not aligned to its value, or not wholly in an
//   allocation of device or pinned memory (managed memory is refused); for unknown flags; for 256
//   operations and more;
// - cudaErrorNotSupported for flushes of remote writes.
cudaError_t check_operations(Runtime& runtime, const char* api_name,
                             const MemoryOperationsWork& work);

// Executes the operations from *next on, in their order, as the operation `at`. Call under the
// device lock. *done is false if a value has not arrived; *next is then the operation that waits.
cudaError_t run_operations(Runtime& runtime, const char* api_name, const MemoryOperationsWork& work,
                           const Operation& at, std::size_t* next, bool* done);

// Orders all executed operations before all others, including those put later, and also the
// operation `at`: it waits for memory to change, or changes it, and may thereby order others.
// Returns what has been executed.
Clock everything_is_known(Runtime& runtime, const Operation& at);

// "the value 1 at 0x12000000, 4 bytes into ...": the value for which an operation waits.
std::string words_of(const memory::DeviceMemory& memory, const CUstreamBatchMemOpParams& operation);

}  // namespace lockstep::runtime
