// What an instruction does to registers and to the order of execution, as its row in the table of
// forms says.
//
// All transformations of programs ask here, so that a new row is understood everywhere at once.
#pragma once

#include <cstdint>
#include <vector>

#include "simulator/ptx/ir.h"

namespace lockstep::ptx {

// A register that an instruction touches. A register that is both read and written has an entry for
// each.
struct RegisterAccess {
  std::uint32_t index = 0;  // into Function::registers
  bool writes = false;
};

// All registers of an instruction: those that it reads (guard, sources, addresses) before those
// that it writes, as execution has it. A write under a guard leaves the register of the lanes alone
// for which the guard is false.
std::vector<RegisterAccess> register_accesses(const Instruction& i);

// Instructions that execution may go on with, by index into Function::body; its size stands for the
// end of the function.
struct Successors {
  bool next = true;                    // the one that follows
  std::vector<std::uint32_t> targets;  // of a branch
};
Successors successors(const Instruction& i);

}  // namespace lockstep::ptx
