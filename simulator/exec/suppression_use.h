// The use of a file of suppressions in a run, and the generation of such a file from a run's
// findings.
#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

namespace lockstep::exec {

struct UnusedSuppression {
  int line = 0;      // counted from 1
  std::string text;  // "race  f*", without its comment
};

// The lines of the file's `text` (check/suppressions.h) that match none of the suppressed findings.
// Ignores lines that cannot be read: such a file was refused before the run.
std::vector<UnusedSuppression> unused_suppressions(const std::string& text,
                                                   const nlohmann::json& suppressed);

// A file that suppresses every error of `findings`: one line for each kind and kernel, with its
// first place as a comment.
std::string suppressions_for(const nlohmann::json& findings);

}  // namespace lockstep::exec
