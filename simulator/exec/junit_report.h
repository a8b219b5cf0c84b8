// A run of a program as JUnit's XML, for servers of continuous integration.
#pragma once

#include <string>

#include "simulator/exec/report.h"

namespace lockstep::exec {

// One test suite, named as the program is. Its test cases: each kernel that was launched, which
// fails with its errors; "host calls", which fails with errors that no kernel has; and "exit
// status", which fails where `lockstep exec` ends with another status than 0. Information is the
// output of its case. Text is UTF-8; what XML 1.0 cannot hold is '?'.
std::string junit_report(const ProgramRun& run);

}  // namespace lockstep::exec
