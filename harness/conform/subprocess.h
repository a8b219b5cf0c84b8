// Running a program to its end, or to its time limit.
#pragma once

#include <chrono>
#include <functional>
#include <map>
#include <string>
#include <vector>

namespace lockstep {

struct Command {
  std::vector<std::string> argv;           // argv[0] is the path of the program
  std::map<std::string, std::string> set;  // environment variables to set
  std::vector<std::string>
      unset;  // and to remove, before `set`; a trailing * removes every name that begins so
  std::string output;                       // file for stdout and stderr together; empty: inherited
  std::chrono::milliseconds time_limit{0};  // 0: none
  // Asked every 100 ms, with the seconds that the program has run: why it must end now, as if its
  // time were up; "" if it need not.
  std::function<std::string(double seconds)> overrun;
};

struct ProcessEnd {
  enum class How { kExited, kSignalled, kTimedOut, kNotStarted } how = How::kNotStarted;
  int status = 0;     // exit status, or signal
  std::string error;  // kNotStarted: why; kTimedOut by `overrun`: its words
  double seconds = 0;

  bool succeeded() const { return how == How::kExited && status == 0; }
  // "exit status 70", "signal SIGSEGV", "its time limit of 900 s", "not started: no such file"
  std::string describe() const;
};

// Waits for the end and calls `tick`, if given, every 100 ms meanwhile. At the time limit the
// program and all that it has started in its process group get SIGTERM, and SIGKILL two seconds
// later. The program dies with its parent.
ProcessEnd run_process(const Command& command,
                       const std::function<void(double seconds)>& tick = {});

// This process's environment variable; "" where it is not set.
std::string environment(const char* variable);

}  // namespace lockstep
