// Which code of the program accesses memory.
#pragma once

#include <vector>

namespace lockstep::runtime {

// The code that has executed the instruction `at`, from within a handler of its signal: an address
// behind each instruction, that of the access first and then those of the calls that led there.
// Where a function of the C or C++ library accesses the memory, the first is the program's call of
// it. At most the first two.
std::vector<const void*> program_frames(const void* at);

// Whether an instruction is of the C or C++ library.
bool is_of_library(const void* at);

}  // namespace lockstep::runtime
