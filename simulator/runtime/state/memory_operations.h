// Values that a stream writes to memory, or waits for there (CUDA Driver API, "Stream Memory
// Operations": cuStreamBatchMemOp).
//
// What is put into a stream is done at once. So a value that is waited for must be there already,
// or come from another host thread, for which a wait leaves the device alone: a kernel of its
// stream, a copy, a store to pinned memory.
#pragma once

#include "simulator/runtime/state/work.h"

namespace lockstep::runtime {

// Whether operations can be done, as an H100's driver (580.159) answers: cudaErrorInvalidValue for
// an address that is not aligned to its value, or not wholly in an allocation of device or pinned
// memory (managed memory is not taken), for unknown flags, and for 256 operations and more;
// cudaErrorNotSupported for flushes of remote writes. Under the device lock.
cudaError_t check_operations(Runtime& runtime, const char* api_name,
                             const MemoryOperationsWork& work);

// Does them in their order. Without the device lock, which it takes for one at a time. A value that
// nobody has written after some seconds is cudaErrorNotSupported, and a sentence says why.
cudaError_t run_operations(Runtime& runtime, const char* api_name, int device,
                           const MemoryOperationsWork& work);

}  // namespace lockstep::runtime
