// The memory ordering of an instruction: its semantics and scope (PTX ISA 8.5, 8.6, 9.7.9).
#pragma once

#include <cstdint>

#include "simulator/isa/opcode.h"

namespace lockstep::compile {

// The program::MemoryFlags of an access with these semantics.
std::uint8_t ordering(const isa::Modifiers& m);
// The scope of a strong access or a fence, as check::Scope.
std::uint8_t scope_of(const isa::Modifiers& m);
// The state space of an operand in brackets; generic if the opcode names none.
isa::Space space_of(const isa::Modifiers& m);

}  // namespace lockstep::compile
