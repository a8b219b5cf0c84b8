// Instructions that threads execute together: shuffles, votes, barriers, fences (PTX ISA 9.7.9,
// 9.7.13).
#pragma once

#include "simulator/compile/function_builder.h"

namespace lockstep::compile {

void lower_collective(FunctionBuilder& b, const Instruction& i);       // among the lanes of a warp
void lower_barrier(FunctionBuilder& b, const Instruction& i);          // bar, barrier
void lower_cluster_barrier(FunctionBuilder& b, const Instruction& i);  // barrier.cluster
void lower_fence(FunctionBuilder& b, const Instruction& i);

}  // namespace lockstep::compile
