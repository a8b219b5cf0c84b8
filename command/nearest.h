// The name that was meant where another was typed.
#pragma once

#include <string>
#include <vector>

namespace lockstep::command {

// The nearest of `names` to a misspelt one, if it is near enough to be meant; else empty.
std::string nearest(const std::string& typed, const std::vector<std::string>& names);

// "; did you mean races?", or nothing where `name` is empty.
std::string did_you_mean(const std::string& name);

}  // namespace lockstep::command
