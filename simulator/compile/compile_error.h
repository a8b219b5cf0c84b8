// The reason why the simulated GPU cannot run a function.
#pragma once

#include <string>

namespace lockstep::compile {

// Thrown by the passes and caught by compile(). The message names the opcode, line and function.
struct CompileError {
  std::string message;
  int ptx_line = 0;  // 0: no single line
  // An undefined name: a driver does not link such a program, whichever kernels are launched.
  bool whole_program = false;
};

}  // namespace lockstep::compile
