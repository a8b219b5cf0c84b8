// Prints programs as PTX.
#pragma once

#include <span>
#include <string>

#include "simulator/fuzz/differential/program.h"

namespace lockstep::fuzz::differential {

// Prints a module of some programs with kernels k0, k1 and so on. `target` 0: the first program's
// target.
std::string module_of(std::span<const Program> programs, int target = 0);

}  // namespace lockstep::fuzz::differential
