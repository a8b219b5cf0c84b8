// A run's findings as a self-contained HTML page.
#pragma once

#include <string>

#include "simulator/exec/report.h"

namespace lockstep::exec {

// Each finding with its text and all frames of its stacks, then the kernels and the command.
std::string html_report(const ProgramRun& run);

}  // namespace lockstep::exec
