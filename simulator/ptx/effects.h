// The registers that an instruction accesses and the instructions that may follow it, according to
// its row in the table of forms.
//
// All transformations of programs use these functions, so that a new row works everywhere at once.
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

// All registers of an instruction. Registers that it reads (guard, sources, addresses) precede
// those that it writes. A guarded write does not change the register in lanes with a false guard.
std::vector<RegisterAccess> register_accesses(const Instruction& i);

// The instructions that may be executed next, as indices into Function::body. The body's size
// stands for the end of the function.
struct Successors {
  bool next = true;                    // the following instruction
  std::vector<std::uint32_t> targets;  // a branch's targets
};
Successors successors(const Instruction& i);

}  // namespace lockstep::ptx
