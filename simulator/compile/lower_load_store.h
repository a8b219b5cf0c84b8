// ld, ldu and st, of memory and of parameters (PTX ISA 9.7.9).
#pragma once

#include "simulator/compile/function_builder.h"

namespace lockstep::compile {

void lower_load_store(FunctionBuilder& b, const Instruction& i);

}  // namespace lockstep::compile
