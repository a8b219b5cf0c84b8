// Whether a run must end early: a signal interrupted it, or it stops at the first failure.
#pragma once

#include <string>

namespace lockstep {

// From now on SIGINT and SIGTERM ask the run to end, with its results so far. A second one ends the
// process at once.
void stop_on_signals();

// The run is to end since a property failed, and that was asked for.
void stop_at_failure();

// Why the run is to end, for people: "interrupted by SIGINT", "stopped at the first failure";
// empty: it goes on. Safe on every thread.
std::string stop_reason();

// 128 + the signal that interrupted; 0 without one.
int stop_status();

}  // namespace lockstep
