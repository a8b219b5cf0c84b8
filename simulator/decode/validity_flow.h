// What an operation that computes does with values that nobody wrote.
#pragma once

#include "simulator/engine/program.h"
#include "simulator/ptx/ir.h"

namespace lockstep::decode {

// Also sets the fields of `op` that engine::pass_bytes reads: its sources are set.
engine::Flow validity_flow(const ptx::Instruction& i, engine::Op& op);

}  // namespace lockstep::decode
