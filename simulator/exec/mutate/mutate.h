// lockstep mutate: judges a program's tests by mutants of its kernels and of its calls of the runtime. docs/mutation.md is its manual.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "simulator/exec/child.h"

namespace lockstep::exec {

struct MutateOptions {
  int sample = 0;                      // mutants chosen by chance; 0: all
  std::uint64_t seed = 1;              // of that choice
  std::vector<std::string> operators;  // names, "kernels" or "calls"; empty: all
  int jobs = 0;                        // 0: as many as the machine has processors
  std::string out = "lockstep-mutation";
  double fail_under = -1;            // per cent
  std::string files;                 // a regular expression: mutants of kernels from source files that it fits alone
  std::string callers;               // likewise: of calls made in functions that it fits
  std::string equivalents;           // file
  std::vector<std::string> first;    // arguments that make the program do less, for a first round
  std::vector<std::string> sources;  // folders in which source files are looked for
  bool resume = false;
};

// `command` and `set` as for run_child. The exit status of the command: 0; 1 below --fail-under; 2 when nothing could be judged; 130 interrupted.
int mutate(const MutateOptions& options, const std::vector<std::string>& command, const Environment& set);

}  // namespace lockstep::exec
