// Textures and surfaces (PTX ISA 9.7.10, 9.7.11).
#pragma once

#include "simulator/compile/function_builder.h"

namespace lockstep::compile {

void lower_texture(FunctionBuilder& b, const Instruction& i);  // tex, tld4
void lower_surface(FunctionBuilder& b, const Instruction& i);  // suld, sust, sured
void lower_image_query(FunctionBuilder& b, const Instruction& i);

}  // namespace lockstep::compile
