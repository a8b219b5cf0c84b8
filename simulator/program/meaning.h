// What an operation computes, as far as the proof before a launch (simulator/proof) follows it:
// its instruction and the modifiers of integer arithmetic. The handler alone does not say it.
#pragma once

#include "simulator/isa/opcode.h"

namespace lockstep::program {

struct Meaning {
  isa::Opcode opcode = isa::Opcode::kInvalid;  // kInvalid: the operation computes nothing
  isa::Type type = isa::Type::kNone, source_type = isa::Type::kNone;
  isa::Compare compare = isa::Compare::kNone;
  isa::BoolOp bool_op = isa::BoolOp::kNone;
  isa::Half half = isa::Half::kNone;
  // One scalar destination, scalar sources, and no modifier beyond those above.
  bool plain = false;
};

}  // namespace lockstep::program
