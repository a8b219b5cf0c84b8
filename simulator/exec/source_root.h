// Names of source files relative to a repository.
#pragma once

#include <string>

namespace lockstep::exec {

// The name of a file relative to the folder `root`, if the file lies below it. A relative `file` is
// relative to the working folder. Empty if `root` is empty or the file lies elsewhere.
std::string below_root(const std::string& file, const std::string& root);

}  // namespace lockstep::exec
