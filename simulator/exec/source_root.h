// Names of source files relative to a repository.
#pragma once

#include <string>

namespace lockstep::exec {

// The name of `file` relative to `root`, a folder that contains it. A relative `file` is relative
// to the working folder. Empty if `root` is empty or does not contain the file.
std::string below_root(const std::string& file, const std::string& root);

}  // namespace lockstep::exec
