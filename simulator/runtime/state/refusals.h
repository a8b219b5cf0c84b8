// Device code that the simulated GPU does not take: which functions, for what reason, and where in
// the source that is.
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

// Where a line of a PTX text, counted from 1, comes from: of inlined code, where it was inlined
// into.
SourcePlace source_of(std::string_view ptx, int ptx_line);

struct Refusal {
  std::string function;  // demangled; empty when no single function is to blame
  std::string message;   // names it, the instruction and the PTX line
  SourcePlace source;
};

// The functions of a module, of linked texts or one, that cannot be run, each with the first reason
// found, in the order of the texts. None: all of it runs. `kernels`, unless nullptr: the kernels
// that therefore cannot be launched, demangled; all where the module as a whole is refused.
// `memory` is as before afterwards.
std::vector<Refusal> find_refusals(std::vector<std::string> texts, memory::DeviceMemory& memory,
                                   std::vector<std::string>* kernels = nullptr);

// The kernels that a text defines, demangled, in order.
std::vector<std::string> kernels_in(std::string_view ptx);

}  // namespace lockstep::runtime
