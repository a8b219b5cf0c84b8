// Inputs and outputs of loading a program, beside the program itself.
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
  // The place, if one function is at fault: the index of its text, the line in it (0: none) and the
  // function's mangled name.
  std::size_t text = 0;
  int ptx_line = 0;
  std::string function;
};

// The managed variables of a program, in the order of its texts. All devices share this memory; it
// is released with its last owner.
using ManagedVariables = std::vector<std::shared_ptr<const memory::Allocation>>;

// All variables of a program on one device, in the order of its texts.
using PlacedVariables = std::vector<const memory::Allocation*>;

// How virtual registers share a warp's register file.
enum class RegisterPlaces : std::uint8_t {
  kShared,    // registers that are never live together may share a place
  kSeparate,  // each register has its own place: slower and simpler, for comparison with kShared
};

}  // namespace lockstep::program
