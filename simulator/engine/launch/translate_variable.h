// LOCKSTEP_TRANSLATE for programs without the runtime: tests, fuzzers and differential programs.
#pragma once

#include <cstdio>
#include <cstdlib>
#include <string_view>

#include "simulator/engine/launch/launch.h"

namespace lockstep::engine {

// off without the variable. Another word than off, on, always and compare ends the process with 2.
inline LaunchConfig::Translate translate_by_variable() {
  using Translate = LaunchConfig::Translate;
  const char* const variable = std::getenv("LOCKSTEP_TRANSLATE");
  const std::string_view word = variable == nullptr ? "" : variable;
  if (word.empty() || word == "off") return Translate::kOff;
  if (word == "on") return Translate::kOn;
  if (word == "always") return Translate::kAlways;
  if (word == "compare") return Translate::kCompare;
  std::fprintf(stderr, "LOCKSTEP_TRANSLATE='%s' is not 'off', 'on', 'always' or 'compare'\n",
               variable);
  std::exit(2);
}

}  // namespace lockstep::engine
