// The program's call stack at a call, as addresses. Collecting it costs a microsecond or more at
// the first call from a place, and little later.
#pragma once

#include <array>
#include <cstddef>

namespace lockstep::runtime {

struct CallStack {
  // A container allocates its memory some frames below the program's own.
  static constexpr std::size_t kMost = 16;
  // For a launch, whose record is kept until it is executed.
  static constexpr std::size_t kMostOfLaunch = 8;

  // The return addresses, innermost first.
  std::array<const void*, kMost> frames{};
  std::size_t count = 0;

  // The place where the program, or another library, called into this library; nullptr if unknown.
  const void* caller() const { return count == 0 ? nullptr : frames[0]; }
  bool operator<(const CallStack& other) const { return frames < other.frames; }
};

// This thread's frames outside this library, at most `most`.
CallStack call_stack(std::size_t most = CallStack::kMost);

// The object that contains `address` counts as this library from now on. It must never be unloaded.
void is_no_caller(const void* address);

}  // namespace lockstep::runtime
