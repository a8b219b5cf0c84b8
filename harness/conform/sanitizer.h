// Runs the suites under NVIDIA's compute-sanitizer, after a test of the tool on planted faults.
//
// A tool that is missing, does not support the GPU or finds nothing would make every suite look
// clean. Therefore, before the first suite, it must find a planted fault and report nothing in a
// negative control.
#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "harness/conform/subprocess.h"

namespace lockstep {

// The exit status of a program in which the tool has found an error. Findings of the simulated GPU
// have the same status.
inline constexpr int kFindings = 86;

struct Sanitizer {
  std::string program;  // path of compute-sanitizer
  std::string tool;     // memcheck, racecheck, initcheck or synccheck
  std::string error;    // a sentence; empty: the tool was found

  // The words in front of a program's command line.
  std::vector<std::string> prefix() const;
};

// `tool` as in --sanitizer=. The program is COMPUTE_SANITIZER if set, otherwise the first on PATH,
// below CUDA_PATH or CUDA_HOME, or in /usr/local/cuda.
Sanitizer find_sanitizer(std::string_view tool);

// Runs `probe` (harness/conform/sanitizer_probe.cu) under the tool, with and without its fault.
// Returns an empty text if the tool finds the fault and nothing without it; otherwise a sentence.
// `run` is run_process, except in tests. `base` is the environment of the suites.
std::string proof_of_life(const Sanitizer& sanitizer, const std::string& probe, const Command& base,
                          const std::function<ProcessEnd(const Command&)>& run);

}  // namespace lockstep
