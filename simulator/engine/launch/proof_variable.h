// Reads LOCKSTEP_PROOF, for programs without the runtime: tests, fuzzers and differential programs.
#pragma once

#include <cstdio>
#include <cstdlib>
#include <string_view>

#include "simulator/engine/launch/launch.h"

namespace lockstep::engine {

// Returns kOff if the variable is not set. A value other than off, on or compare ends the process
// with exit code 2.
inline LaunchConfig::Proof proof_by_variable() {
  using Proof = LaunchConfig::Proof;
  const char* const variable = std::getenv("LOCKSTEP_PROOF");
  const std::string_view word = variable == nullptr ? "" : variable;
  if (word.empty() || word == "off") return Proof::kOff;
  if (word == "on") return Proof::kOn;
  if (word == "compare") return Proof::kCompare;
  std::fprintf(stderr, "LOCKSTEP_PROOF='%s' is not 'off', 'on' or 'compare'\n", variable);
  std::exit(2);
}

}  // namespace lockstep::engine
