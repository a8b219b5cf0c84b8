// Names of source files as a repository has them.
#pragma once

#include <string>

namespace lockstep::exec {

// The name from `root`, a folder, of a file that lies below it. A relative name is
// meant from the working folder. Empty where `root` is, and for a file that lies elsewhere.
std::string below_root(const std::string& file, const std::string& root);

}  // namespace lockstep::exec
