// The arithmetic of an operation: its instruction and common modifiers, which cannot be derived
// from the handler. Used by proofs before a launch (simulator/proof) and by the translation
// (simulator/translate).
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
  // One scalar destination, scalar sources, and only the modifiers above.
  bool plain = false;
  // The other members are used only by the translation.
  isa::Rounding rounding = isa::Rounding::kNone;
  bool ftz = false;
  bool left = false;    // shf.l
  bool packs = false;   // mov between a register and a vector of registers, without a sink
  bool common = false;  // only the modifiers of this struct
  std::uint8_t bytes[5] = {0, 0, 0, 0, 0};  // of each register, like AluKey::register_bytes
};

}  // namespace lockstep::program
