// The key that selects the handler of a computing instruction.
//
// Plain data only: this header is compiled into every instruction-set variant of the handlers.
#pragma once

#include "simulator/isa/opcode.h"

namespace lockstep::program {

// Operands are in the order of the PTX manual, destination first. A pair d|p or p|q counts as one
// operand. `register_bytes[i]` is the width of the register or immediate of operand i, which may
// exceed the instruction's type for cvt (9.4.1). It is 0 for predicates and for the second half of
// a pair.
//
// mov between a register and the parts of a vector: the list is flattened. mov.b64 {a, b}, d has
// three operands of 4, 4 and 8 bytes, least significant part first. A sink, _, counts with the
// width of its part.
//
// How handlers use an Op:
//
//   dst, dst2      destinations. kNoSlot, for the sink, is allowed for both of setp's, for
//                  lop3.BoolOp's d and for parts of an unpacking mov.
//   src[i]         the i-th source. lop3's table, prmt's selectors and the like are ordinary
//                  sources, laid out like any other immediate.
//   ComputeFields  the predicate sources that are negated, !p (4: lop3's q), and the slot of the
//                  fifth source: lop3.BoolOp's q, the random bits of cvt.rs with four values.
//   immediate      video instructions: program::Video.
//
// An unpacking mov {a, b, c, d}, x has a and b in dst and dst2, c and d in src[1] and src[2], and x
// in src[0].
//
// A destination may be the same register as a source of the same width; with mov's packing and
// unpacking, any overlap is allowed. Otherwise its bytes must not overlap a source's.
struct AluKey {
  isa::Opcode opcode = isa::Opcode::kInvalid;
  isa::Modifiers modifiers;
  std::uint8_t operand_count = 0;
  std::uint8_t register_bytes[6] = {0, 0, 0, 0, 0, 0};
  bool has_second_destination = false;  // setp p|q, lop3 d|p
  bool selects = false;                 // a video instruction whose operands have selectors
};

}  // namespace lockstep::program
