// A program that runs while the command does something else.
#pragma once

#include <sys/types.h>

#include <optional>
#include <string>
#include <vector>

#include "simulator/exec/child.h"

namespace lockstep::exec {

// Ends with this one, at the latest when this is destroyed.
class Process {
 public:
  // stdout and stderr go to `output`; stdin is empty.
  Process(const std::vector<std::string>& command, const Environment& set,
          const std::string& output);
  ~Process();
  Process(const Process&) = delete;
  Process& operator=(const Process&) = delete;

  // Its exit status, or 128 + the signal that ended it; nothing while it runs.
  std::optional<int> poll();
  pid_t id() const { return process_; }
  // Ends it and what it has started.
  void stop();

 private:
  pid_t process_ = -1;
  std::optional<int> status_;
};

}  // namespace lockstep::exec
