// Calls of program functions, calls through pointers, and calls of the device library.
#pragma once

#include "simulator/compile/function_builder.h"

namespace lockstep::compile {

void lower_call(FunctionBuilder& b, const Instruction& i);

}  // namespace lockstep::compile
