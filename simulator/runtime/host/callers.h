// Finds the code of the program that accesses memory.
#pragma once

#include <vector>

namespace lockstep::runtime {

// The call stack of the instruction `at`, from within a handler of its signal: at most two
// addresses, each behind an instruction. The first is that of the access, the second that of the
// call that led there. If a function of the C or C++ library accesses the memory, the first is the
// program's call of that function.
std::vector<const void*> program_frames(const void* at);

// Whether an instruction belongs to the C or C++ library.
bool is_of_library(const void* at);

}  // namespace lockstep::runtime
