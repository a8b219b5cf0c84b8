// Branches, ends and sleep (PTX ISA 9.7.12, 9.7.19), and the stack (9.7.17).
#pragma once

#include "simulator/compile/function_builder.h"

namespace lockstep::compile {

void lower_control(FunctionBuilder& b, const Instruction& i);
void lower_stack(FunctionBuilder& b, const Instruction& i);

}  // namespace lockstep::compile
