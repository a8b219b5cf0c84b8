// What an operation that computes does with values that nobody wrote.
#pragma once

#include "simulator/program/program.h"
#include "simulator/ptx/ir.h"

namespace lockstep::compile {

// Also sets the fields of `op` that pass_bits() of the engine reads: its sources are set.
program::ValidityTransfer validity_transfer(const ptx::Instruction& i, program::Op& op);

}  // namespace lockstep::compile
