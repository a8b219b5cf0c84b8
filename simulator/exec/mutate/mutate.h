// lockstep mutate: judges a program's tests with mutants of its kernels and of its runtime calls.
// docs/reference/mutation.md is its manual.
#pragma once

#include <string>
#include <vector>

#include "command/arguments.h"
#include "simulator/exec/child.h"

namespace lockstep::exec {

using MutateOptions = command::MutateArguments;

// `command` and `set` as for run_child. Returns the exit status of the command: 0; 1 if the score
// is below --fail-under; 2 if nothing could be judged; 130 if interrupted.
int mutate(const MutateOptions& options, const std::vector<std::string>& command,
           const Environment& set);

}  // namespace lockstep::exec
