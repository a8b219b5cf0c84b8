// The effect of an instruction on registers and control flow, according to its row in the table of
// forms.
//
// All program transformations use these functions, so a new row takes effect everywhere at once.
#pragma once

#include <cstdint>
#include <vector>

#include "simulator/ptx/ir.h"

namespace lockstep::ptx {

// A register that an instruction accesses. A register that is both read and written has two
// entries.
struct RegisterAccess {
  std::uint32_t index = 0;  // into Function::registers
  bool writes = false;
};

// All registers of an instruction: first those that it reads (guard, sources, addresses), then
// those that it writes. A guarded write keeps the register in lanes for which the guard is false.
std::vector<RegisterAccess> register_accesses(const Instruction& i);

// The instructions that may be executed next, as indices into Function::body; its size means the
// end of the function.
struct Successors {
  bool next = true;                    // the following instruction
  std::vector<std::uint32_t> targets;  // of a branch
};
Successors successors(const Instruction& i);

}  // namespace lockstep::ptx
