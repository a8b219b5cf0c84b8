// The location of the bytes of a copy or a fill.
#pragma once

#include <cstddef>

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

}  // namespace lockstep::runtime
