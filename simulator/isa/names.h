// Converts the enumerators of opcode.h to their spellings, and back.
//
// Spellings are those of PTX without the leading dot: "f32", "global", "rn". Source: PTX ISA 9.0.
#pragma once

#include <string_view>

#include "simulator/isa/opcode.h"

namespace lockstep::isa {

// The enumerator's name without its prefix: "ld", "bar_warp_sync".
std::string_view opcode_name(Opcode opcode);

// "f32"; empty for kNone.
std::string_view type_name(Type type);
// kNone if `name` is no type. Accepts no leading dot.
Type type_from_name(std::string_view name);

// "shared::cluster"; empty for kNone and kGeneric, which PTX does not spell.
std::string_view space_name(Space space);
// kNone if `name` is no state space. "shared" and "shared::cta" are the same space.
Space space_from_name(std::string_view name);

// "%tid.x".
std::string_view special_register_name(SpecialRegister reg);
// kNone if `name` (with its leading '%') is no special register.
SpecialRegister special_register_from_name(std::string_view name);
// The type with which the manual declares the special register.
Type special_register_type(SpecialRegister reg);

}  // namespace lockstep::isa
