// Tensor memory: allocation of columns, loads, stores, copies, multiplication and ordering.
#pragma once

#include "simulator/compile/function_builder.h"

namespace lockstep::compile {

void lower_tensor_memory(FunctionBuilder& b, const Instruction& i);

}  // namespace lockstep::compile
