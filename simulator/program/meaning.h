// The computation of an operation, as far as proofs (simulator/proof) and translation
// (simulator/translate) need it: its instruction and the modifiers of common arithmetic. The
// handler alone does not reveal it.
#pragma once

#include <cstdint>

#include "simulator/isa/opcode.h"

namespace lockstep::program {

struct Meaning {
  isa::Opcode opcode = isa::Opcode::kInvalid;  // kInvalid: the operation does not compute
  isa::Type type = isa::Type::kNone, source_type = isa::Type::kNone;
  isa::Compare compare = isa::Compare::kNone;
  isa::BoolOp bool_op = isa::BoolOp::kNone;
  isa::Half half = isa::Half::kNone;
  // One scalar destination, scalar sources, and no modifiers except those above.
  bool plain = false;
  // The members below are for the translation only.
  isa::Rounding rounding = isa::Rounding::kNone;
  bool ftz = false;
  bool left = false;    // shf.l
  bool packs = false;   // mov between a register and a vector of registers, without a sink
  bool common = false;  // no modifiers except those of this struct
  std::uint8_t bytes[5] = {0, 0, 0, 0, 0};  // of the registers, as AluKey::register_bytes
};

}  // namespace lockstep::program
