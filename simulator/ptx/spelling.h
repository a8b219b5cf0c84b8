// Converts parsed PTX to text for messages, reports and the dump.
#pragma once

#include <string>

#include "simulator/ptx/ir.h"

namespace lockstep::ptx {

// "%r1", "[%rd2+4]", "{%f1, %f2}". "->12" is a label: instruction 12 of the function. Immediates
// are hexadecimal bits.
std::string spell(const Operand& operand, const Function& function);

// "@!%p1 ld.global.f32 %f1, [%rd2+4]".
std::string spell(const Instruction& instruction, const Function& function);

}  // namespace lockstep::ptx
