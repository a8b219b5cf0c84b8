// Parses PTX text into a Module.
//
// Every instruction must match a row of the table of instruction forms (forms.h). If one does not,
// its function is marked as unknown (Function::unknown), with the opcode as written and its PTX
// line; other functions are not affected. Any other mistake is an error of the module, as in a
// driver. This includes an opcode that PTX does not have. Nothing is skipped silently.
#pragma once

#include <string>
#include <string_view>
#include <variant>

#include "simulator/ptx/ir.h"

namespace lockstep::ptx {

struct ParseError {
  int line = 0;          // in the PTX text, from 1
  std::string function;  // kernel or function that holds the line, empty at module scope
  std::string message;   // the mistake, and what is accepted
  std::string to_string() const;
};

// Labels become instruction indices, registers dense indices, and names in nested scopes become
// unique.
std::variant<Module, ParseError> parse(std::string_view ptx);

}  // namespace lockstep::ptx
