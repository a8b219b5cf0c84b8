// Finds the intended name for a misspelt one.
#pragma once

#include <string>
#include <vector>

namespace lockstep::command {

// The nearest of `names` to `typed`, if it is near enough; otherwise empty.
std::string nearest(const std::string& typed, const std::vector<std::string>& names);

// "; did you mean races?", or an empty text for an empty `name`.
std::string did_you_mean(const std::string& name);

}  // namespace lockstep::command
