// The layout of a batch of transforms in memory (cuFFT, "Advanced Data Layout"), and an operation's
// access to it when it is executed.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include "simulator/library_work.h"

namespace lockstep::cufft {

// The layout of the input or the output. Element (b, i, j, k) lies at
// b * distance + ((i * embed[1] + j) * embed[2] + k) * stride. Missing dimensions are added on the
// left with size 1.
struct Layout {
  std::array<std::int64_t, 3> n{1, 1, 1};  // elements in memory; for a half spectrum, only its half
  std::array<std::int64_t, 3> embed{1, 1, 1};
  std::int64_t stride = 1, distance = 1, batch = 1;
  std::size_t element = 0;  // bytes

  std::int64_t place(std::int64_t b, std::int64_t i, std::int64_t j, std::int64_t k) const {
    return b * distance + ((i * embed[1] + j) * embed[2] + k) * stride;
  }
};

// Opens all elements for `use` (lockstepRegionUse). Returns the host address of the first element,
// or nullptr if the memory is not accessible, which has then been reported.
std::byte* open(lockstepRunningWork* running, const Layout& layout, const char* name,
                const void* at, int use);

}  // namespace lockstep::cufft
