// Copies and fills: the ranges they name, checked against the allocations, and the bytes and shadow
// they change.
#pragma once

#include <cuda_runtime_api.h>

#include <cstddef>
#include <cstdint>

#include "simulator/runtime/state/blocks.h"
#include "simulator/runtime/state/runtime.h"

namespace lockstep::runtime {

// Copies with the meaning and the checks of cudaMemcpy: cudaErrorInvalidValue, and a sentence that
// names the allocation, when a range is not wholly inside one live allocation, or is host memory
// where `kind` says device. The other way round CUDA's documentation leaves the outcome open and
// hardware copies: so does this, with a sentence. Ranges that overlap are copied as if through a
// buffer, row by row.
cudaError_t copy(Runtime& runtime, const char* function, const Block& to, const Block& from,
                 const Shape& shape, cudaMemcpyKind kind);

// The checks of copy() and fill() alone.
cudaError_t check_ranges(Runtime& runtime, const char* function, const Block& to, const Block& from,
                         const Shape& shape, cudaMemcpyKind kind);
cudaError_t check_range(Runtime& runtime, const char* function, const Block& to,
                        const Shape& shape);

cudaError_t fill(Runtime& runtime, const char* function, const Block& to, int value,
                 const Shape& shape);

}  // namespace lockstep::runtime
