// counters, coverage and mutate without a program: the simulated GPU's tool on the suites of a
// checkout.
#pragma once

#include <string>

#include "command/command_line.h"

namespace lockstep::command {

// Becomes the tool, or, for mutate, runs it on one suite after the other. Results go below
// CHECKOUT/lockstep-out; options that were typed replace the defaults. The tools are those that
// LOCKSTEP_TOOL_EXEC and LOCKSTEP_TOOL_CONFORM name. Returns the exit status: of mutate the worst
// of a suite's, and 2 for a suite that there is not.
int run_on_suites(const CommandLine& line, const std::string& checkout);

}  // namespace lockstep::command
