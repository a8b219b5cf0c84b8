// A scope in which the simulated GPU does not check for races.
//
// It is for launches so large that the race check dominates their time, of kernels whose accesses
// also occur in smaller launches. A law with such a launch states why no race can occur in it
// alone. All other checks stay on.
#pragma once

#include <cstdint>

#include "harness/device/device.h"

namespace lockstep {

// Disables the race check for its lifetime; the destructor restores the former setting. On silicon
// it does nothing.
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
