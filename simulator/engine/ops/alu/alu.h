// Selects the handlers of instructions that compute from registers to registers: integer,
// floating-point, half, compare, select, logic, shift, conversion and move instructions. Memory,
// control flow, barriers, warp-wide exchange and special registers are elsewhere.
//
// The processor must have AVX2, FMA, BMI2 and F16C; load_module refuses to load otherwise.
#pragma once

#include "simulator/engine/state/vocabulary.h"
#include "simulator/isa/opcode.h"
#include "simulator/program/alu_key.h"

namespace lockstep::engine {

using program::AluKey;

// Returns the handler, or nullptr if this form is not implemented; the compiler then refuses the
// module. program/alu_key.h describes how handlers use an Op. add.cc, addc and related instructions
// read and write the warp's carry mask (Warp::carry). A handler sets the rounding direction that it
// needs and restores the default. The threads that run handlers must have MXCSR at its initial
// value (round to nearest, no flushing, exceptions masked).
Handler resolve_alu(const AluKey& key);

}  // namespace lockstep::engine
