// Copies through tensor maps, and changes of tensor maps.
#pragma once

#include "simulator/compile/function_builder.h"

namespace lockstep::compile {

void lower_tensor_copy(FunctionBuilder& b, const Instruction& i);

}  // namespace lockstep::compile
