// Shuffles and votes of all lanes of a warp, as machine code. Lanes that execute one together have
// nothing to wait for, so only values move.
#pragma once

#include "simulator/program/program.h"
#include "simulator/translate/lean.h"
#include "simulator/translate/run_of_lanes.h"

namespace lockstep::translate {

// Whether lanes of a warp exchange values there, or wait for each other. Its handler changes
// neither the active lanes nor the program counter, except with an event.
bool is_exchange(const Op& op);

// Whether a whole warp needs no handler for it: it has no guard, names all lanes, and a shuffle
// takes from lanes that constants say.
bool is_known_exchange(const program::Program& program, const Op& op);

// Emits one of these. `uniform`: where the numbers of shuffles and votes are.
void emit_exchange(Xbyak::CodeGenerator& g, ConstantPool& pool, const program::Program& program,
                   const UniformLayout& uniform, const Op& op);

}  // namespace lockstep::translate
