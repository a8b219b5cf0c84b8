// Asynchronous copies and their groups (PTX ISA 9.7.9.25), discard, and multimem (9.7.9.14).
#pragma once

#include "simulator/compile/function_builder.h"

namespace lockstep::compile {

void lower_async_copy(FunctionBuilder& b, const Instruction& i);
void lower_multimem(FunctionBuilder& b, const Instruction& i);

}  // namespace lockstep::compile
