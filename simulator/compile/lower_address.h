// Addresses: conversions between state spaces, and addresses in other blocks of a cluster (PTX
// ISA 9.7.9).
#pragma once

#include "simulator/compile/function_builder.h"

namespace lockstep::compile {

void lower_address(FunctionBuilder& b, const Instruction& i);          // cvta, isspacep
void lower_cluster_address(FunctionBuilder& b, const Instruction& i);  // mapa, getctarank

}  // namespace lockstep::compile
