// Copies and fills: checks their ranges against the allocations, and changes bytes and
// written-shadow.
#pragma once

#include <cuda_runtime_api.h>

#include <cstddef>
#include <cstdint>

#include "simulator/runtime/state/blocks.h"
#include "simulator/runtime/state/runtime.h"

namespace lockstep::runtime {

// Copies with the semantics and checks of cudaMemcpy. Returns cudaErrorInvalidValue, with a message
// that names the allocation, if a range is not completely inside one live allocation, or is host
// memory although `kind` says device. For device memory although `kind` says host, CUDA's
// documentation leaves the result open and hardware copies. This function copies, too, with a
// message. Overlapping ranges are copied as if through a buffer, row by row.
cudaError_t copy(Runtime& runtime, const char* function, const Block& to, const Block& from,
                 const Shape& shape, cudaMemcpyKind kind);

// Only the checks of copy() and fill().
cudaError_t check_ranges(Runtime& runtime, const char* function, const Block& to, const Block& from,
                         const Shape& shape, cudaMemcpyKind kind);
cudaError_t check_range(Runtime& runtime, const char* function, const Block& to,
                        const Shape& shape);

cudaError_t fill(Runtime& runtime, const char* function, const Block& to, int value,
                 const Shape& shape);

}  // namespace lockstep::runtime
