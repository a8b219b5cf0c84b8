// How the program came to a call: addresses. To gather them costs a microsecond or more the first
// time that a thread comes this way, and later little.
#pragma once

#include <array>
#include <cstddef>

namespace lockstep::runtime {

struct CallStack {
  // A container's memory is allocated some frames below the program's own.
  static constexpr std::size_t kMost = 16;
  // Of a launch, whose record is kept until it is executed.
  static constexpr std::size_t kMostOfLaunch = 8;

  // Where each call returns to, the innermost first.
  std::array<const void*, kMost> frames{};
  std::size_t count = 0;

  // Where the program, or another library, called into this one; nullptr when that is unknown.
  const void* caller() const { return count == 0 ? nullptr : frames[0]; }
  bool operator<(const CallStack& other) const { return frames < other.frames; }
};

// The frames of this thread outside of this library, at most `most` of them.
CallStack call_stack(std::size_t most = CallStack::kMost);

// The object that holds `address` counts as this library from now on. It is never unloaded.
void is_no_caller(const void* address);

}  // namespace lockstep::runtime
