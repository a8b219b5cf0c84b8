// Makes a process fail that exits before all of its properties have run.
//
// A library may call exit(0), quick_exit or _exit, and Bazel before 8 takes status 0 for a passed
// test. While the guard is armed, each of these calls ends the process with kEarlyExit, after a
// message that names the running property and its case. Fatal signals and the runner's SIGTERM
// (time limit) are passed on unchanged, after the same message.
#pragma once

#include <string_view>

namespace lockstep::exit_guard {

inline constexpr int kEarlyExit = 70;

// From here on, in this process alone (forked children, as death tests make them, may end as they
// please).
void arm();
// The property that runs now, empty between properties. Copied; safe to read from a signal handler.
void running(std::string_view property);
// The case of it that runs now, and the command line that runs it again; empty between cases. As
// running(). The message has both, each in a line after one of these.
void running_case(std::string_view text, std::string_view replay);
inline constexpr char kCase[] = "\n  case:   ", kReplay[] = "\n  replay: ";
// All properties have run: from here on the process may end.
void disarm();

}  // namespace lockstep::exit_guard
