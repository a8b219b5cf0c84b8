// Prints programs as PTX.
#pragma once

#include <span>
#include <string>

#include "simulator/fuzz/differential/program.h"

namespace lockstep::fuzz::differential {

// A module of several programs, with kernels k0, k1 ... `target` 0: that of the first program.
std::string module_of(std::span<const Program> programs, int target = 0);

}  // namespace lockstep::fuzz::differential
