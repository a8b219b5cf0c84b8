// `lockstep exec --watch`: runs the program again each time a file changes.
#pragma once

#include <functional>
#include <string>
#include <vector>

namespace lockstep::exec {

// Calls `run` at once, and again whenever one of `files` has changed and then stayed unchanged for
// some tenths of a second: a linker writes a program in several steps. A missing file is waited
// for. Ends at SIGINT, SIGTERM or SIGHUP and returns the last result of `run`. `waiting` is called
// before each wait.
int watch(const std::vector<std::string>& files, const std::function<int()>& run,
          const std::function<void()>& waiting);

}  // namespace lockstep::exec
