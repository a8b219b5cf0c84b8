// Makes a process fail if it exits before all of its properties have run.
//
// A library may call exit(0), quick_exit or _exit, and Bazel before 8 takes status 0 for a passed
// test. While the guard is armed, each of these calls ends the process with kEarlyExit, after a
// message with the running property and its case. Fatal signals and the runner's SIGTERM (time
// limit) print the same message and then have their usual effect.
#pragma once

#include <string_view>

namespace lockstep::exit_guard {

inline constexpr int kEarlyExit = 70;

// Arms the guard in this process alone. Forked children, such as death tests, may end in any way.
void arm();
// Sets the running property; empty between properties. The text is copied, and a signal handler may
// read it.
void running(std::string_view property);
// Sets the running case of the property and its replay line; empty between cases. Copied, as by
// running(). The message prints each on a line after one of these constants.
void running_case(std::string_view text, std::string_view replay);
inline constexpr char kCase[] = "\n  case:   ", kReplay[] = "\n  replay: ";
// Disarms the guard after all properties have run.
void disarm();

}  // namespace lockstep::exit_guard
