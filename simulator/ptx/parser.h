// Parses PTX text into a Module.
//
// Every instruction must match a row of the table of instruction forms (forms.h). One that does not
// makes its function unknown (Function::unknown), with the opcode as written and the line in the
// PTX: other functions do not need it. Whatever else is wrong is an error of the module, as a
// driver has it, also an opcode that PTX does not have at all. Nothing is skipped silently.
#pragma once

#include <string>
#include <string_view>
#include <variant>

#include "simulator/ptx/ir.h"

namespace lockstep::ptx {

struct ParseError {
  int line = 0;          // in the PTX text, from 1
  std::string function;  // kernel or function that holds the line, empty at module scope
  std::string message;   // what was wrong and what is accepted
  std::string to_string() const;
};

// Labels are resolved to instruction indices, registers to dense indices, nested scopes to distinct
// names.
std::variant<Module, ParseError> parse(std::string_view ptx);

}  // namespace lockstep::ptx
