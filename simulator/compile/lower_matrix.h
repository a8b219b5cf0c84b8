// Instructions on matrices that are distributed over the lanes of a warp.
#pragma once

#include "simulator/compile/function_builder.h"

namespace lockstep::compile {

// Category::kMatrix, kMatrixLoadStore and kWarpgroup.
void lower_matrix(FunctionBuilder& b, const Instruction& i);

}  // namespace lockstep::compile
