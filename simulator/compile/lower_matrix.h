// Instructions on matrices that the lanes of a warp hold together.
#pragma once

#include "simulator/compile/function_builder.h"

namespace lockstep::compile {

// Category::kMatrix and kMatrixLoadStore.
void lower_matrix(FunctionBuilder& b, const Instruction& i);

}  // namespace lockstep::compile
