// The words of an opcode: which modifier each stands for.
#pragma once

#include <string_view>

#include "simulator/isa/opcode.h"

namespace lockstep::isa {

// Words seen so far of those whose place among their kind says what they mean.
struct WordsSoFar {
  int types = 0, spaces = 0, layouts = 0;
};

// Sets the field of `m` that `token` (with its dot) stands for in `opcode`. False when the token is
// not known: a mistake in the table.
bool apply_token(Opcode opcode, std::string_view token, Modifiers& m, WordsSoFar& words);

}  // namespace lockstep::isa
