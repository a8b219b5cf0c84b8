// Chooses the handler of every instruction that computes: registers in, registers out.
//
// Integer, floating-point, half, compare, select, logic, shift, conversion and data-movement-between-registers instructions.
// Not here: memory, control flow, barriers, warp-wide exchange, special registers.
//
// This header is what the decoder sees. The processor must have AVX2, FMA, BMI2 and F16C: load_module refuses to go on without.
#pragma once

#include "simulator/engine/instruction.h"
#include "simulator/ptx/opcode.h"

namespace lockstep::engine {

// What a handler is chosen by. Operands are in the order of the PTX manual, destination first; a pair d|p or p|q counts as one
// operand. `register_bytes` gives the width of the register (or immediate) behind operand i, which may exceed the instruction's type
// for cvt (9.4.1); predicates, and the second half of a pair, count 0.
//
// mov between a register and the parts of a vector: the list is flattened, so that mov.b64 {a, b}, d has three operands of
// 4, 4 and 8 bytes, least significant part first. A sink, _, counts the width of its part.
struct AluKey {
  ptx::Opcode opcode = ptx::Opcode::kInvalid;
  ptx::Modifiers modifiers;
  std::uint8_t operand_count = 0;
  std::uint8_t register_bytes[6] = {0, 0, 0, 0, 0, 0};
  bool has_second_destination = false;  // setp p|q, lop3 d|p
};

// Gives the handler, or nullptr when this form is not implemented: the decoder then refuses the module. How handlers use an Op:
//
//   dst, dst2   destinations. kNoSlot, for the sink, is allowed for both of setp's, for lop3.BoolOp's d and for parts of an unpacking mov.
//   src[i]      the i-th source. lop3's table, prmt's selectors and the like are ordinary sources, laid out like any
//               other immediate.
//   target      lop3.BoolOp only: the slot of its fifth source, the predicate q.
//   flags       bit i: source i is a predicate that is negated, !p (4: lop3's q).
//   mov {a, b, c, d}, x   (unpacking): a and b are dst and dst2, c and d are src[1] and src[2], x is src[0].
//
// A destination may be the very register of a source of the same width (mov's packing and unpacking: any overlap); otherwise its bytes
// must not overlap a source's. add.cc, addc and friends read and write the warp's carry mask themselves (Warp::carry).
// Handlers set the rounding direction they need and put back the one they found, which must be the default: the threads that run them
// have MXCSR at its initial value (round to nearest, no flushing, exceptions masked).
Handler resolve_alu(const AluKey& key);

}  // namespace lockstep::engine
