// A run's findings as one self-contained HTML page.
#pragma once

#include <string>

#include "simulator/exec/report.h"

namespace lockstep::exec {

// Contains each finding with its text and all frames of its stacks, then the kernels and the
// command.
std::string html_report(const ProgramRun& run);

}  // namespace lockstep::exec
