// Environment variables for compilers and frameworks that run in a simulated process.
// docs/guide/python_clients.md describes their effect.
#pragma once

#include <functional>
#include <string>

#include "simulator/exec/child.h"

namespace lockstep::exec {

// The paths of the stand-in for ptxas and of the Python modules.
struct ClientFiles {
  std::string ptxas;    // "" if missing: then nothing is set for Triton
  std::string modules;  // "" if missing
};

// Finds the files beside `folder`, which contains lockstep-exec.
ClientFiles find_client_files(const std::string& folder);

// Adds the variables to `set`. `lookup`: std::getenv, or a test's replacement.
// `compute_capability`: of the simulated device, such as 90.
//
// A variable that selects a compiler is always set, since machine code cannot run. Any other
// variable keeps an existing value.
void set_up_clients(const ClientFiles& files, int compute_capability,
                    const std::function<const char*(const char* name)>& lookup, Environment* set);

}  // namespace lockstep::exec
