// Places of the program in its source, by its debug information.
#pragma once

#include <string>

namespace lockstep::runtime {

// "main.cu:21" for the address of an instruction of this process. Empty where the program has no
// debug information (nvcc -g), or where the system has no libdw.so.1 (elfutils).
//
// Reads the debug information of the object that holds the address: milliseconds for the first
// address of an object. Thread-safe; not for signal handlers.
std::string source_line(const void* address);
// The function there by the object's symbols, mangled; of those that were inlined, the one that
// they are inlined into. Empty where there are no symbols. As source_line().
std::string source_function(const void* address);

}  // namespace lockstep::runtime
