// Runs a program to its end or to a time limit.
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
      unset;           // removed before `set`; a trailing * removes every name with that prefix
  std::string output;  // file for stdout and stderr together; empty: inherited
  std::chrono::milliseconds time_limit{0};  // 0: none
  // Called every 100 ms with the program's running time. Returns why the program must end now, as
  // at its time limit, or "".
  std::function<std::string(double seconds)> overrun;
};

struct ProcessEnd {
  enum class How { kExited, kSignalled, kTimedOut, kNotStarted } how = How::kNotStarted;
  int status = 0;     // exit status, or signal
  std::string error;  // kNotStarted: why; kTimedOut by `overrun`: its text
  double seconds = 0;

  bool succeeded() const { return how == How::kExited && status == 0; }
  // "exit status 70", "signal SIGSEGV", "its time limit of 900 s", "not started: no such file"
  std::string describe() const;
};

// Waits for the end, and calls `tick`, if given, every 100 ms. At the time limit, the program and
// its process group receive SIGTERM, and two seconds later SIGKILL. The program also ends if its
// parent does.
ProcessEnd run_process(const Command& command,
                       const std::function<void(double seconds)>& tick = {});

// The value of an environment variable of this process; "" if unset.
std::string environment(const char* variable);

}  // namespace lockstep
