// What a run made of a file of suppressions, and such a file for what a run has found.
#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

namespace lockstep::exec {

struct UnusedSuppression {
  int line = 0;      // counts from 1
  std::string text;  // "race  f*", without comment
};

// The lines of the file's `text` (check/suppressions.h) that cover none of the suppressed findings.
// Lines that cannot be read are left out: the run was refused for them.
std::vector<UnusedSuppression> unused_suppressions(const std::string& text,
                                                   const nlohmann::json& suppressed);

// A file that suppresses every error among `findings`: a line for each kind and kernel, with its
// first place as a comment.
std::string suppressions_for(const nlohmann::json& findings);

}  // namespace lockstep::exec
