// mbarrier objects (PTX ISA 9.7.13.15).
#pragma once

#include "simulator/compile/function_builder.h"

namespace lockstep::compile {

void lower_mbarrier(FunctionBuilder& b, const Instruction& i);

}  // namespace lockstep::compile
