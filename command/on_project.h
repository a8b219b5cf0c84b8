// run and list in a project of a user's: its conformance target is built and run.
#pragma once

#include "command/command_line.h"

namespace lockstep::command {

// Names the target on stderr. A target of CMake's is built, and `words` gets its list of suites as
// --manifest; nothing is returned. A target of Bazel's is started, and this returns the exit status
// where it cannot be. So it does where there is no target, where there are several and none is
// named (2), and where the build fails (1).
std::optional<int> enter_project(const CommandLine& line, std::vector<std::string>& words);

}  // namespace lockstep::command
