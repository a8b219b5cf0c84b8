// Tensor memory: allocation, loads, stores, copies, multiplications, and their order.
#pragma once

#include "simulator/compile/function_builder.h"

namespace lockstep::compile {

void lower_tensor_memory(FunctionBuilder& b, const Instruction& i);

}  // namespace lockstep::compile
