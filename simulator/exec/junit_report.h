// A run of a program in JUnit's XML format, for continuous integration servers.
#pragma once

#include <string>

#include "simulator/exec/report.h"

namespace lockstep::exec {

// One test suite with the program's name. Its test cases: each launched kernel, which fails with
// its errors; "host calls", which fails with errors outside kernels; and "exit status", which fails
// if `lockstep exec` ends with a status other than 0. Information becomes the output of its case.
// The text is UTF-8; characters that XML 1.0 cannot represent become '?'.
std::string junit_report(const ProgramRun& run);

}  // namespace lockstep::exec
