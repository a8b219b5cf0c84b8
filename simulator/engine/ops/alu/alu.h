// Chooses the handler of every instruction that computes: registers in, registers out.
//
// Integer, floating-point, half, compare, select, logic, shift, conversion and
// data-movement-between-registers instructions. Not here: memory, control flow, barriers, warp-wide
// exchange, special registers.
//
// The processor must have AVX2, FMA, BMI2 and F16C: load_module refuses to go on without.
#pragma once

#include "simulator/engine/state/vocabulary.h"
#include "simulator/isa/opcode.h"
#include "simulator/program/alu_key.h"

namespace lockstep::engine {

using program::AluKey;

// Gives the handler, or nullptr when this form is not implemented: the compiler then refuses the
// module. program/alu_key.h says how handlers use an Op. add.cc, addc and friends read and write
// the warp's carry mask themselves (Warp::carry). Handlers set the rounding direction they need and
// put back the one they found, which must be the default: the threads that run them have MXCSR at
// its initial value (round to nearest, no flushing, exceptions masked).
Handler resolve_alu(const AluKey& key);

}  // namespace lockstep::engine
