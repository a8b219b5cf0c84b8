// The registers and memory that a program's statements access: what its kernel must initialise and
// store.
#pragma once

#include "simulator/fuzz/differential/program.h"

namespace lockstep::fuzz::differential {

struct Needs {
  bool pool[5][16] = {};  // registers of the pool, by class
  bool shared = false, local = false, board = false, stage = false, shared_sums = false,
       window = false, scratch = false, sums = false;
  bool uses(Class c, int from, int to) const {
    for (int i = from; i < to; ++i)
      if (pool[static_cast<int>(c)][i]) return true;
    return false;
  }
};

// The needs of the kernel; functions have their own registers.
Needs needs_of(const Program& program);

}  // namespace lockstep::fuzz::differential
