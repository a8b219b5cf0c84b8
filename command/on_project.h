// run and list in a user's project: builds and runs its conformance target.
#pragma once

#include "command/command_line.h"

namespace lockstep::command {

// Prints the target's name on stderr. Builds a CMake target and adds its list of suites to `words`
// as --manifest; then returns nothing. Becomes a Bazel target's program; returns an exit status
// only if that fails. Also returns an exit status if there is no target, if there are several and
// none is named (2), or if the build fails (1).
std::optional<int> enter_project(const CommandLine& line, std::vector<std::string>& words);

}  // namespace lockstep::command
