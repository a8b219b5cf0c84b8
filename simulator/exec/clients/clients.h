// What compilers and frameworks that run in a simulated process have to be set to: each reads
// variables of the environment. docs/guide/python_clients.md describes the effect.
#pragma once

#include <functional>
#include <string>

#include "simulator/exec/child.h"

namespace lockstep::exec {

// Where the stand-in for ptxas and the modules for Python lie.
struct ClientFiles {
  std::string ptxas;    // "" where it is missing: then nothing is set for Triton
  std::string modules;  // "" likewise
};

// The files beside `folder`, which lockstep-exec lies in.
ClientFiles find_client_files(const std::string& folder);

// Adds the variables to `set`. `lookup` is std::getenv, or a test's. `compute_capability`: the
// simulated device's, such as 90.
//
// A variable that says which compiler runs is always set: machine code cannot run. Any other keeps
// the value that it has.
void set_up_clients(const ClientFiles& files, int compute_capability,
                    const std::function<const char*(const char* name)>& lookup, Environment* set);

}  // namespace lockstep::exec
