// Whether a run must end early: a signal interrupted it, or it stops at the first failure.
#pragma once

#include <string>

namespace lockstep {

// After this call, SIGINT or SIGTERM requests the end of the run, with its results so far. A second
// signal ends the process at once.
void stop_on_signals();

// Requests the end of the run after a failure, as the user asked for.
void stop_at_failure();

// Why the run must end, as text: "interrupted by SIGINT", "stopped at the first failure". Empty: it
// continues. Thread-safe.
std::string stop_reason();

// 128 + the number of the signal; 0: no signal.
int stop_status();

}  // namespace lockstep
