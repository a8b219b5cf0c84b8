// The words of an opcode and the modifiers that they stand for.
#pragma once

#include <string_view>

#include "simulator/isa/opcode.h"

namespace lockstep::isa {

// The number of words seen so far of the kinds in which the order determines the meaning.
struct WordsSoFar {
  int types = 0, spaces = 0, layouts = 0;
};

// Sets the field of `m` for `token` (with its dot) in `opcode`. False if the token is unknown: a
// mistake in the table.
bool apply_token(Opcode opcode, std::string_view token, Modifiers& m, WordsSoFar& words);

}  // namespace lockstep::isa
