// Finding the data files that Bazel puts beside a program, whichever way it was started: bazel
// test, bazel run, or by its path.
#pragma once

#include <string>
#include <string_view>

namespace lockstep {

// Path of a file (or program) named from the workspace's root, "harness/ledger/waivers.json"; empty
// when there is none.
std::string runfile(std::string_view path);

}  // namespace lockstep
