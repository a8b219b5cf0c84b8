// A process that leaves before its properties have all run must not look like success.
//
// A library that calls exit(0), a kernel wrapper that tears the process down, quick_exit or _exit:
// Bazel before 8 takes the status 0 that they leave for a passed test. While the guard is armed
// each of those ends the process with kEarlyExit, after naming the property that ran. Fatal signals
// and the runner's SIGTERM (time limit) are passed on unchanged, after the same sentence.
#pragma once

#include <string_view>

namespace lockstep::exit_guard {

inline constexpr int kEarlyExit = 70;

// From here on, in this process alone (forked children, as death tests make them, may end as they
// please).
void arm();
// The property that runs now, empty between properties. Copied; safe to read from a signal handler.
void running(std::string_view property);
// All properties have run: from here on the process may end.
void disarm();

}  // namespace lockstep::exit_guard
