// What loading a program takes and gives beside the program itself.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "simulator/memory/device_memory.h"

namespace lockstep::program {

struct LoadError {
  std::string message;  // names opcode, PTX line and kernel
  // Where, when one function is to blame: which of the texts, the line in it (0: none), and the
  // function's name, mangled.
  std::size_t text = 0;
  int ptx_line = 0;
  std::string function;
};

// The managed variables of a program, in the order of its texts: one memory for all devices,
// released with the last of its owners.
using ManagedVariables = std::vector<std::shared_ptr<const memory::Allocation>>;

// All variables of a program on one device, in the order of its texts.
using PlacedVariables = std::vector<const memory::Allocation*>;

// Where a function's virtual registers lie in a warp's register file.
enum class RegisterPlaces : std::uint8_t {
  kShared,    // registers that are never live together may have one place
  kSeparate,  // each has its own: a slower, simpler way to do the same, to hold the other against
};

}  // namespace lockstep::program
