// The conformance targets of a project: what `lockstep run` and `lockstep list` run where no list
// of suites is named.
#pragma once

#include <string>
#include <variant>
#include <vector>

namespace lockstep::command {

struct ConformanceTarget {
  std::string
      name;  // as --target takes it: "build/conformance" of CMake, "//:conformance" of Bazel
  std::string build;   // the folder that CMake has configured; empty: a target of Bazel's
  std::string list;    // CMake's: the list of its suites
  std::string target;  // CMake's: its name there
};

struct Project {
  std::string root;                        // absolute
  std::vector<ConformanceTarget> targets;  // CMake's by name, then Bazel's
  bool has_cmake_lists = false;            // CMakeLists.txt lies in the root
  bool is_bazel = false;                   // the root is a workspace of Bazel's
};

// The project that `folder` is in. Its root is the nearest folder, `folder` or above it, with a
// lockstep.toml, a .git, a workspace of Bazel's, or a build folder of CMake's; else the topmost of
// those above each other that have a CMakeLists.txt; else `folder`. Targets of CMake are those of
// build folders in the root and up to two levels below. Bazel is not asked.
Project find_project(const std::string& folder);

// The targets of a rule `conformance`, as `bazel query --output=label` prints them, one a line.
std::vector<ConformanceTarget> bazel_targets(const std::string& printed);

// The target that `wanted` names (all of a name, or what follows its last '/' or ':'); where it is
// empty, the only one. Otherwise a sentence with what was found and what to do.
std::variant<ConformanceTarget, std::string> choose(const Project& project,
                                                    const std::string& wanted);

}  // namespace lockstep::command
