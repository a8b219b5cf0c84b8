// How a computing operation propagates unwritten values.
#pragma once

#include "simulator/program/program.h"
#include "simulator/ptx/ir.h"

namespace lockstep::compile {

// Also sets the fields of `op` that the engine's pass_bits() reads. The sources of `op` must be
// set.
program::ValidityTransfer validity_transfer(const ptx::Instruction& i, program::Op& op);

}  // namespace lockstep::compile
