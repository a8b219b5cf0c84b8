// Tensor memory: its columns, what is loaded, stored, copied and multiplied there, and its order.
#pragma once

#include "simulator/compile/function_builder.h"

namespace lockstep::compile {

void lower_tensor_memory(FunctionBuilder& b, const Instruction& i);

}  // namespace lockstep::compile
