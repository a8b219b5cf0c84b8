// The words of an opcode: which modifier each stands for.
#pragma once

#include <string_view>

#include "simulator/isa/opcode.h"

namespace lockstep::isa {

// Sets the field of `m` that `token` (with its dot) stands for in `opcode`; `types` and `spaces` count those seen so far.
// False when the token is not known: a mistake in the table.
bool apply_token(Opcode opcode, std::string_view token, Modifiers& m, int& types, int& spaces);

}  // namespace lockstep::isa
