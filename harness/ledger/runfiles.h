// Finds the data files that Bazel puts beside a program, whether it was started by bazel test, by
// bazel run, or directly.
#pragma once

#include <string>
#include <string_view>

namespace lockstep {

// The path of a file or program, named from the workspace's root ("harness/ledger/waivers.json");
// empty if there is none.
std::string runfile(std::string_view path);

}  // namespace lockstep
