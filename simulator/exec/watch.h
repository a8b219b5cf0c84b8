// `lockstep exec --watch`: a run each time that a file changes.
#pragma once

#include <functional>
#include <string>
#include <vector>

namespace lockstep::exec {

// Calls `run` at once, and again whenever one of `files` has changed and then stayed as it is for
// some tenths of a second: a linker writes a program in several steps. A file that is missing for a
// while is waited for. Ends at SIGINT, SIGTERM or SIGHUP, with the last status of `run`.
// `waiting` is called before each wait.
int watch(const std::vector<std::string>& files, const std::function<int()>& run,
          const std::function<void()>& waiting);

}  // namespace lockstep::exec
