// Runs the suites under NVIDIA's compute-sanitizer, after a test of the tool on planted faults.
//
// A tool that is missing, does not know the GPU or finds nothing would make every suite look clean.
// So before the first suite it must find a planted fault, and must report nothing in the negative
// control.
#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "harness/conform/subprocess.h"

namespace lockstep {

// The exit status of a program in which the tool has found something; that of the simulated GPU's
// findings too.
inline constexpr int kFindings = 86;

struct Sanitizer {
  std::string program;  // path of compute-sanitizer
  std::string tool;     // memcheck, racecheck, initcheck or synccheck
  std::string error;    // a sentence; then there is none

  // What comes before a program's own words.
  std::vector<std::string> prefix() const;
};

// `tool` as --sanitizer= names it. The program is COMPUTE_SANITIZER where that is set, else the one
// on PATH, below CUDA_PATH or CUDA_HOME, or in /usr/local/cuda.
Sanitizer find_sanitizer(std::string_view tool);

// Runs `probe` (harness/conform/sanitizer_probe.cu) with and without its fault under the tool.
// Empty when the first is found and the second is not; else a sentence. `run` is run_process, but
// in tests. `base` is the environment of the suites.
std::string proof_of_life(const Sanitizer& sanitizer, const std::string& probe, const Command& base,
                          const std::function<ProcessEnd(const Command&)>& run);

}  // namespace lockstep
