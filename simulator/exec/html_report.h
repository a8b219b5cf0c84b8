// A run's findings as one page of HTML that needs no other file.
#pragma once

#include <string>

#include "simulator/exec/report.h"

namespace lockstep::exec {

// Each finding with its text and with all frames of its stacks; then the kernels and the command.
std::string html_report(const ProgramRun& run);

}  // namespace lockstep::exec
