// How many bytes the memory operand of an x86-64 instruction has.
#pragma once

#include <cstdint>

namespace lockstep::runtime {

// Of moves, arithmetic, and vector loads and stores, from the instruction's bytes (Intel SDM,
// volume 2); 1 where they are others: that the access begins at an address is then all that is
// known. String instructions count one element.
unsigned access_width(const std::uint8_t* instruction);

}  // namespace lockstep::runtime
