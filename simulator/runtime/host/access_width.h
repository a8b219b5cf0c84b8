// The number of bytes that an x86-64 instruction's memory operand has.
#pragma once

#include <cstdint>

namespace lockstep::runtime {

// Decodes moves, arithmetic, and vector loads and stores (Intel SDM, volume 2). Returns 1 for other
// instructions: then only the start of the access is known. String instructions count one element.
unsigned access_width(const std::uint8_t* instruction);

}  // namespace lockstep::runtime
