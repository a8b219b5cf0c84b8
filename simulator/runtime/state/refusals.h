// Device code that the simulated GPU refuses: the functions, the reasons, and their places in the
// source.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "simulator/memory/device_memory.h"

namespace lockstep::runtime {

struct SourcePlace {
  std::string file;  // empty without -lineinfo
  int line = 0;
};

// The source place of a PTX line, counted from 1. For inlined code, the place into which it was
// inlined.
SourcePlace source_of(std::string_view ptx, int ptx_line);

struct Refusal {
  std::string function;  // demangled; empty if no single function is the cause
  std::string message;   // names the function, the instruction and the PTX line
  SourcePlace source;
};

// The functions of a module (one text, or several linked texts) that cannot be run, each with its
// first error, in the order of the texts. Empty: all can be run. `kernels`, unless nullptr, gets
// the kernels that therefore cannot be launched, demangled; all kernels if the module as a whole is
// refused. `memory` is restored.
std::vector<Refusal> find_refusals(std::vector<std::string> texts, memory::DeviceMemory& memory,
                                   std::vector<std::string>* kernels = nullptr);

// The kernels that a text defines, demangled, in order.
std::vector<std::string> kernels_in(std::string_view ptx);

}  // namespace lockstep::runtime
