// Unused lines of a suppressions file, and a suppressions file for the findings of a run.
#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

namespace lockstep::exec {

struct UnusedSuppression {
  int line = 0;      // counts from 1
  std::string text;  // "race  f*", without the comment
};

// The lines of the file's `text` (check/suppressions.h) that match none of the suppressed findings.
// Malformed lines are ignored: the run was refused because of them.
std::vector<UnusedSuppression> unused_suppressions(const std::string& text,
                                                   const nlohmann::json& suppressed);

// A suppressions file for every error in `findings`: a line for each kind and kernel, with its
// first place as a comment.
std::string suppressions_for(const nlohmann::json& findings);

}  // namespace lockstep::exec
