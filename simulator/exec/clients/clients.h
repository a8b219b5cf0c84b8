// Environment variables that compilers and frameworks need in a simulated process.
// docs/guide/python_clients.md describes the effect.
#pragma once

#include <functional>
#include <string>

#include "simulator/exec/child.h"

namespace lockstep::exec {

// The paths of the stand-in for ptxas and of the Python modules.
struct ClientFiles {
  std::string ptxas;    // "" if it is missing; then no variable of Triton is set
  std::string modules;  // "" if they are missing
};

// Finds the files relative to `folder`, the folder of lockstep-exec.
ClientFiles find_client_files(const std::string& folder);

// Adds the variables to `set`. `lookup` is std::getenv, or a test's replacement.
// `compute_capability` is the simulated device's, for example 90.
//
// Variables that select a compiler are always set, because machine code cannot run. All other
// variables keep their existing values.
void set_up_clients(const ClientFiles& files, int compute_capability,
                    const std::function<const char*(const char* name)>& lookup, Environment* set);

}  // namespace lockstep::exec
