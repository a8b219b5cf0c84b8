// The layout of the elements of a batch of transforms (cuFFT, "Advanced Data Layout"), and how a
// running operation accesses them.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include "simulator/library_work.h"

namespace lockstep::cufft {

// The layout of the input or the output. Element (b, i, j, k) is at b * distance + ((i * embed[1] +
// j) * embed[2] + k) * stride. Missing dimensions are filled with 1 from the left.
struct Layout {
  std::array<std::int64_t, 3> n{1, 1, 1};  // stored elements, also of half a spectrum
  std::array<std::int64_t, 3> embed{1, 1, 1};
  std::int64_t stride = 1, distance = 1, batch = 1;
  std::size_t element = 0;  // bytes

  std::int64_t place(std::int64_t b, std::int64_t i, std::int64_t j, std::int64_t k) const {
    return b * distance + ((i * embed[1] + j) * embed[2] + k) * stride;
  }
};

// Opens all elements for `use` (lockstepRegionUse). Returns the host address of the first one;
// nullptr if the memory does not exist, which has been reported.
std::byte* open(lockstepRunningWork* running, const Layout& layout, const char* name,
                const void* at, int use);

}  // namespace lockstep::cufft
