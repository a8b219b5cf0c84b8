// Finds the conformance targets of a project, which `lockstep run` and `lockstep list` use if no
// list of suites is given.
#pragma once

#include <string>
#include <variant>
#include <vector>

namespace lockstep::command {

struct ConformanceTarget {
  std::string
      name;  // the value for --target: "build/conformance" for CMake, "//:conformance" for Bazel
  std::string build;   // the folder that CMake has configured; empty: a Bazel target
  std::string list;    // for CMake: the list of its suites
  std::string target;  // for CMake: the target's name
};

struct Project {
  std::string root;                        // absolute
  std::vector<ConformanceTarget> targets;  // CMake's by name, then Bazel's
  bool has_cmake_lists = false;            // the root contains CMakeLists.txt
  bool is_bazel = false;                   // the root is a Bazel workspace
};

// Finds the project that contains `folder`. Its root is the nearest folder, `folder` or above, with
// a lockstep.toml, a .git, a Bazel workspace or a CMake build folder. Otherwise it is the topmost
// of consecutive folders with a CMakeLists.txt, or else `folder`. CMake targets are those of build
// folders in the root and up to two levels below. Does not query Bazel.
Project find_project(const std::string& folder);

// Parses the targets of the rule `conformance` from the output of `bazel query --output=label`, one
// a line.
std::vector<ConformanceTarget> bazel_targets(const std::string& printed);

// Returns the target that `wanted` names: its whole name, or the part after its last '/' or ':'. If
// `wanted` is empty, returns the only target. Otherwise returns a sentence with the found targets
// and the remedy.
std::variant<ConformanceTarget, std::string> choose(const Project& project,
                                                    const std::string& wanted);

}  // namespace lockstep::command
