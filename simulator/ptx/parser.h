// Parses PTX text into a Module.
//
// Every instruction must match a row of the table of instruction forms (forms.h). If one does not,
// its function is unknown (Function::unknown), with the opcode as written and its line; other
// functions can still be used. Every other mistake is an error of the module, as with a driver,
// including an opcode that PTX does not have. Nothing is skipped silently.
#pragma once

#include <string>
#include <string_view>
#include <variant>

#include "simulator/ptx/ir.h"

namespace lockstep::ptx {

struct ParseError {
  int line = 0;          // in the PTX text, from 1
  std::string function;  // kernel or function that contains the line; empty at module scope
  std::string message;   // what is wrong and what is accepted
  std::string to_string() const;
};

// Resolves labels to instruction indices, registers to dense indices, and names in nested scopes to
// unique names.
std::variant<Module, ParseError> parse(std::string_view ptx);

}  // namespace lockstep::ptx
