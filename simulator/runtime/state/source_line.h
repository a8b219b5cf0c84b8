// Places of the program in its source, by its debug information.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "simulator/check/finding.h"
#include "simulator/runtime/state/call_stack.h"

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

// An address as addr2line takes it, of the object that begins at `base`.
std::uint64_t offset_in_object(const void* address, const void* base);

// Whether an object, by its path, is Python's interpreter, or calls C functions for it (ctypes,
// libffi).
bool is_interpreter(std::string_view object);

// A call stack by debug information, up to the program's main() or an interpreter's code. A
// function that was inlined is a frame of its own, in front of the one that it is inlined into.
// Calls within CUDA's headers are left out.
std::vector<check::HostFrame> host_frames(const CallStack& stack);

}  // namespace lockstep::runtime
