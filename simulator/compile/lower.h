// Lowers a function of the program to operations.
#pragma once

#include "simulator/compile/constant_file.h"
#include "simulator/compile/linker.h"
#include "simulator/program/handlers.h"
#include "simulator/program/program.h"

namespace lockstep::compile {

// Appends the operations of function `index` (in Linker::functions() and Program::functions) to the
// program. Throws CompileError.
void lower_function(const Linker& linker, std::uint32_t index, const program::Handlers& handlers,
                    ConstantFile& constants, program::Program& program,
                    program::RegisterPlaces places);

}  // namespace lockstep::compile
