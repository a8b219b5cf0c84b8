// Chooses the handler of every instruction that computes: registers in, registers out.
//
// Integer, floating-point, half, compare, select, logic, shift, conversion and data-movement-between-registers instructions.
// Not here: memory, control flow, barriers, warp-wide exchange, special registers.
//
// The handlers are compiled once per instruction set (see isa.h); this header is what the decoder sees.
#pragma once

#include "simulator/engine/instruction.h"
#include "simulator/ptx/opcode.h"

namespace lockstep::engine {

// What a handler is chosen by. Operands are in the order of the PTX manual: destination(s) first. `register_bytes` gives the width
// of the register (or immediate) behind operand i, which may exceed the instruction's type for cvt (9.4.1); predicates count 0.
struct AluKey {
  ptx::Opcode opcode = ptx::Opcode::kInvalid;
  ptx::Modifiers modifiers;
  std::uint8_t operand_count = 0;
  std::uint8_t register_bytes[6] = {0, 0, 0, 0, 0, 0};
  bool has_second_destination = false;  // setp p|q
};

// The handler, or nullptr when this form is not implemented: the decoder then refuses the module. Operand use of Op:
// dst, dst2 = destinations; src[i] = i-th source; lop3's table, prmt's default selectors and the like are ordinary sources.
// add.cc, addc and friends read and write the warp's carry mask themselves (Warp::carry).
using AluResolver = Handler (*)(const AluKey& key);

// The resolver of the best instruction set this processor has (or LOCKSTEP_ISA=avx2|avx512 asks for).
AluResolver alu_resolver();

}  // namespace lockstep::engine
