// What an operation computes, as far as the proof before a launch (simulator/proof) and the
// translation (simulator/translate) follow it: its instruction and the modifiers of common
// arithmetic. The handler alone does not say it.
#pragma once

#include <cstdint>

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
  // The rest is the translation's.
  isa::Rounding rounding = isa::Rounding::kNone;
  bool ftz = false;
  bool left = false;    // shf.l
  bool packs = false;   // mov between a register and a vector of registers, without a sink
  bool common = false;  // no modifier but those of this struct
  std::uint8_t bytes[5] = {0, 0, 0, 0, 0};  // of the registers, as AluKey::register_bytes
};

}  // namespace lockstep::program
