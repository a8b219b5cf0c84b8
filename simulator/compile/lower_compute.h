// Instructions that compute: registers in, registers out.
#pragma once

#include "simulator/compile/function_builder.h"

namespace lockstep::compile {

void lower_compute(FunctionBuilder& b, const Instruction& i);

}  // namespace lockstep::compile
