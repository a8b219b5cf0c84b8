// Runs modules on the GPU in a separate process. A kernel may destroy the process's context or
// never end. The process is then killed, and another one started.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "simulator/fuzz/differential/program.h"

namespace lockstep::fuzz::differential {

class Runner {
 public:
  ~Runner();

  struct Outcome {
    std::string fault;       // how a kernel failed
    std::size_t failed = 0;  // the failed program, if known: less than the number of programs
    std::vector<std::uint64_t> digests;  // by program
    std::vector<std::uint8_t> memory;    // of the first program, if requested
  };
  // Throws std::runtime_error if no process with a GPU can be started.
  Outcome run(std::span<const Program> programs, std::span<const std::uint8_t> skipped,
              const std::string& cubin, int milliseconds, bool memory);

  // The GPU's name.
  const std::string& name();
  std::uint64_t started() const { return started_; }

 private:
  void start();
  void end();

  pid_t pid_ = -1;
  int channel_ = -1;
  std::string name_;
  std::uint64_t started_ = 0;
};

// The main function of a runner's process: serves requests on a socket until it is closed.
int serve(int channel);

inline constexpr std::size_t kMaxPrograms = 256;  // of a module

}  // namespace lockstep::fuzz::differential
