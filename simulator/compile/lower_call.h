// Calls: of functions of the program, through pointers, and of the device's library.
#pragma once

#include "simulator/compile/function_builder.h"

namespace lockstep::compile {

void lower_call(FunctionBuilder& b, const Instruction& i);

}  // namespace lockstep::compile
