// Maps the words of an opcode to modifiers.
#pragma once

#include <string_view>

#include "simulator/isa/opcode.h"

namespace lockstep::isa {

// Counts of the words seen so far whose meaning depends on their position among words of their
// kind.
struct WordsSoFar {
  int types = 0, spaces = 0, layouts = 0;
};

// Sets the field of `m` for `token` (with its dot) in `opcode`. Returns false if the token is
// unknown, which is a mistake in the table.
bool apply_token(Opcode opcode, std::string_view token, Modifiers& m, WordsSoFar& words);

}  // namespace lockstep::isa
