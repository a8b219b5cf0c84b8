// `lockstep exec --watch`: repeats a run whenever a file changes.
#pragma once

#include <functional>
#include <string>
#include <vector>

namespace lockstep::exec {

// Calls `run` at once, and again whenever one of `files` has changed and then been stable for some
// tenths of a second: a linker writes a program in several steps. Waits for missing files. Calls
// `waiting` before each wait. Ends at SIGINT, SIGTERM or SIGHUP and returns the last status of
// `run`.
int watch(const std::vector<std::string>& files, const std::function<int()>& run,
          const std::function<void()>& waiting);

}  // namespace lockstep::exec
