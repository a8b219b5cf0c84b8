// A stretch of a program in which the simulated GPU looks for no races.
//
// For launches so large that the search is much of their time, of kernels whose accesses smaller
// launches show too: the law that has them says why no race can be theirs alone. Everything else is
// checked as before.
#pragma once

#include <cstdint>

#include "harness/device/device.h"

namespace lockstep {

// While it lives, races are not looked for; then they are again, if they were. On silicon it does
// nothing.
class WithoutRaceSearch {
 public:
  WithoutRaceSearch() {
    constexpr std::uint32_t kRaces = 4;  // simulator/extension.h
    if (const auto set = extension().set_checks) before_ = set(0), set(before_ & ~kRaces);
  }
  ~WithoutRaceSearch() {
    if (const auto set = extension().set_checks) set(before_);
  }
  WithoutRaceSearch(const WithoutRaceSearch&) = delete;
  WithoutRaceSearch& operator=(const WithoutRaceSearch&) = delete;

 private:
  std::uint32_t before_ = 0;
};

}  // namespace lockstep
