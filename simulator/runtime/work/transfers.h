// Copies and fills: the ranges they name, checked against the allocations, and the bytes and shadow
// they change.
#pragma once

#include <cuda_runtime_api.h>

#include <cstddef>
#include <cstdint>

#include "simulator/runtime/state/runtime.h"

namespace lockstep::runtime {

// A block of bytes: `depth` slices of `height` rows of `width` bytes; rows are `pitch` apart and
// slices `slice`.
struct Block {
  void* at = nullptr;
  std::size_t pitch = 0, slice = 0;
};
struct Shape {
  std::size_t width = 0, height = 1, depth = 1;
  bool empty() const { return width == 0 || height == 0 || depth == 0; }
};

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
