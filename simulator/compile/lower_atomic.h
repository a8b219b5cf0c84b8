// atom and red (PTX ISA 9.7.13.5, 9.7.13.6).
#pragma once

#include "simulator/compile/function_builder.h"

namespace lockstep::compile {

void lower_atomic(FunctionBuilder& b, const Instruction& i);

}  // namespace lockstep::compile
