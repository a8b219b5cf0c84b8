// Source places of the program, from its debug information.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "simulator/check/finding.h"
#include "simulator/runtime/state/call_stack.h"

namespace lockstep::runtime {

// "main.cu:21" for the address of an instruction of this process. Empty if the program has no debug
// information (nvcc -g), or the system has no libdw.so.1 (elfutils).
//
// Reads the debug information of the object that contains the address, which takes milliseconds for
// an object's first address. Thread-safe; not for signal handlers.
std::string source_line(const void* address);
// The function at the address, by the object's symbols, mangled. For inlined functions, the
// function into which they are inlined. Empty without symbols. See also source_line().
std::string source_function(const void* address);

// An address in the form that addr2line expects, for the object that starts at `base`.
std::uint64_t offset_in_object(const void* address, const void* base);

// Whether an object, given by its path, is Python's interpreter, or calls C functions for it
// (ctypes, libffi).
bool is_interpreter(std::string_view object);

// A call stack with debug information, up to the program's main() or an interpreter's code. An
// inlined function is a frame of its own, before the function into which it is inlined. Calls
// within CUDA's headers are omitted.
std::vector<check::HostFrame> host_frames(const CallStack& stack);

}  // namespace lockstep::runtime
