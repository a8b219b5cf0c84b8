// A program that runs asynchronously.
#pragma once

#include <sys/types.h>

#include <optional>
#include <string>
#include <vector>

#include "simulator/exec/child.h"

namespace lockstep::exec {

// A child process. It ends at the latest when this object is destroyed.
class Process {
 public:
  // Writes stdout and stderr to `output`; stdin is empty.
  Process(const std::vector<std::string>& command, const Environment& set,
          const std::string& output);
  ~Process();
  Process(const Process&) = delete;
  Process& operator=(const Process&) = delete;

  // The exit status, or 128 + the signal that ended the process; nullopt while it runs.
  std::optional<int> poll();
  pid_t id() const { return process_; }
  // Ends the process and its children.
  void stop();

 private:
  pid_t process_ = -1;
  std::optional<int> status_;
};

}  // namespace lockstep::exec
