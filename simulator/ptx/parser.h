// Parses PTX text into a Module.
//
// Every instruction must match a row of the table of instruction forms (forms.h); one that does not is an error that
// names the opcode as written, the line in the PTX and the kernel or function that holds it. Nothing is skipped silently.
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

// Labels are resolved to instruction indices, registers to dense indices, nested scopes to distinct names.
std::variant<Module, ParseError> parse(std::string_view ptx);

}  // namespace lockstep::ptx
