// A program run as JUnit XML, for continuous integration servers.
#pragma once

#include <string>

#include "simulator/exec/report.h"

namespace lockstep::exec {

// One test suite, named after the program. Its test cases are: each launched kernel, which fails
// with its errors; "host calls", which fails with errors without a kernel; and "exit status", which
// fails if `lockstep exec` ends with a status other than 0. Information is the output of its test
// case. Text is UTF-8; characters that XML 1.0 does not allow become '?'.
std::string junit_report(const ProgramRun& run);

}  // namespace lockstep::exec
