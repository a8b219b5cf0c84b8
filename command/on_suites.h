// counters, coverage and mutate without a program: runs the simulated GPU's tool on the suites of a
// checkout.
#pragma once

#include <string>

#include "command/command_line.h"

namespace lockstep::command {

// Becomes the tool; for mutate, runs it on one suite after the other. Results are in
// CHECKOUT/lockstep-out; options on the command line replace the defaults. LOCKSTEP_TOOL_EXEC and
// LOCKSTEP_TOOL_CONFORM name the tools. Returns the exit status: for mutate the worst of the
// suites', and 2 for an unknown suite.
int run_on_suites(const CommandLine& line, const std::string& checkout);

}  // namespace lockstep::command
