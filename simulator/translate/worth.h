// Whether a kernel gains by its translation, and when: an estimate from its operations alone.
#pragma once

#include <cstdint>

#include "simulator/program/program.h"

namespace lockstep::translate {

struct Worth {
  std::uint64_t operations = 0;  // that a translation goes through: the kernel's and its callees'
  double share = 0;  // of those that are executed, how many the machine code executes by itself
  // The rest are calls of handlers, which cost as much as in the interpreter's loop, or a little
  // more. With a smaller share nothing is gained.
  static constexpr double kLeast = 0.25;
  bool gains() const { return share >= kLeast; }
};

// Of the kernel and the functions that it may call. An operation in a loop counts as eight, in a
// loop within it as 64, further in as 512.
Worth worth_of(const program::Program& program, const program::Function& kernel);

}  // namespace lockstep::translate
