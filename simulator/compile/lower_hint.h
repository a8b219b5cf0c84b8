// Hints to the hardware, which change no value, memory or execution order here.
#pragma once

#include "simulator/compile/function_builder.h"

namespace lockstep::compile {

void lower_hint(FunctionBuilder& b, const Instruction& i);  // pmevent, setmaxnreg, griddepcontrol
void lower_cache_hint(FunctionBuilder& b,
                      const Instruction& i);  // prefetch, applypriority, cp.async.bulk.prefetch
void lower_cache_policy(FunctionBuilder& b, const Instruction& i);  // createpolicy

}  // namespace lockstep::compile
