#include "command/project.h"

#include <algorithm>
#include <filesystem>
#include <initializer_list>
#include <sstream>

#include "command/nearest.h"

namespace lockstep::command {
namespace {

namespace fs = std::filesystem;

bool has(const fs::path& folder, std::initializer_list<const char*> names) {
  std::error_code error;
  return std::any_of(names.begin(), names.end(),
                     [&](const char* name) { return fs::exists(folder / name, error); });
}

bool is_workspace(const fs::path& folder) {
  return has(folder, {"WORKSPACE", "WORKSPACE.bazel", "MODULE.bazel"});
}

fs::path root_of(const fs::path& folder) {
  for (fs::path at = folder;; at = at.parent_path()) {
    if (is_workspace(at) || has(at, {"lockstep.toml", ".git", "CMakeCache.txt"})) return at;
    if (at == at.parent_path()) break;
  }
  fs::path top = folder;
  while (has(top, {"CMakeLists.txt"}) && has(top.parent_path(), {"CMakeLists.txt"}))
    top = top.parent_path();
  return top;
}

// The folder for lists of suites that CMake's lockstep_conformance writes, in the build folder.
constexpr const char* kLists = "lockstep-suites";

void add_lists(const fs::path& folder, const fs::path& root, int levels, Project& project) {
  std::error_code error;
  for (fs::directory_iterator at(folder / kLists, error), end; !error && at != end;
       at.increment(error)) {
    if (at->path().extension() != ".tsv") continue;
    const std::string target = at->path().stem();
    project.targets.push_back({(folder.lexically_relative(root) / target).lexically_normal(),
                               folder, at->path(), target});
  }
  if (levels == 0) return;
  error.clear();
  for (fs::directory_iterator at(folder, error), end; !error && at != end; at.increment(error)) {
    std::error_code none;
    if (at->path().filename() != kLists && !at->is_symlink(none) && at->is_directory(none))
      add_lists(at->path(), root, levels - 1, project);
  }
}

bool fits(const std::string& name, const std::string& wanted) {
  return name == wanted || name.ends_with("/" + wanted) || name.ends_with(":" + wanted);
}

// The names, one per line, after a sentence.
std::string listed(const std::vector<ConformanceTarget>& targets) {
  std::string lines;
  for (const ConformanceTarget& t : targets) lines += "\n  " + t.name;
  return lines;
}

std::string none_found(const Project& project) {
  std::string sentence = "no conformance target in " + project.root + ": ";
  if (project.is_bazel)
    sentence += "it is a workspace of Bazel's, and no package has a rule conformance(name = ...). ";
  if (project.has_cmake_lists)
    sentence +=
        "it has a CMakeLists.txt, and no build folder with a list of suites. Call "
        "lockstep_conformance(conformance) at its end, and configure it: cmake -B build. ";
  if (!project.is_bazel && !project.has_cmake_lists)
    sentence +=
        "it is no workspace of Bazel's, has no CMakeLists.txt, and no build folder of CMake's. "
        "Type the command in the folder of your project. ";
  return sentence + "--manifest=FILE names a list of suites in place of a target";
}

}  // namespace

Project find_project(const std::string& folder) {
  std::error_code error;
  fs::path from = fs::absolute(folder, error).lexically_normal();
  if (!from.has_filename()) from = from.parent_path();  // ".../."
  const fs::path root = root_of(from);
  Project project = {.root = root.string(), .targets = {}};
  project.is_bazel = is_workspace(root);
  project.has_cmake_lists = has(root, {"CMakeLists.txt"});
  add_lists(root, root, 2, project);
  std::sort(project.targets.begin(), project.targets.end(),
            [](const auto& a, const auto& b) { return a.name < b.name; });
  return project;
}

std::vector<ConformanceTarget> bazel_targets(const std::string& printed) {
  std::vector<ConformanceTarget> targets;
  std::istringstream in(printed);
  for (std::string line; std::getline(in, line);)
    if (line.starts_with("//") || line.starts_with("@")) targets.push_back({.name = line});
  return targets;
}

std::variant<ConformanceTarget, std::string> choose(const Project& project,
                                                    const std::string& wanted) {
  if (project.targets.empty()) return none_found(project);
  std::vector<ConformanceTarget> fitting;
  std::vector<std::string> names;
  for (const ConformanceTarget& t : project.targets) {
    names.push_back(t.name);
    if (t.name == wanted) return t;
    if (wanted.empty() || fits(t.name, wanted)) fitting.push_back(t);
  }
  if (fitting.size() == 1) return fitting.front();
  if (fitting.empty())
    return "there is no conformance target '" + wanted + "' in " + project.root +
           did_you_mean(nearest(wanted, names)) + ". There are:" + listed(project.targets);
  return "several conformance targets " + (wanted.empty() ? "are" : "named '" + wanted + "' are") +
         " in " + project.root + ":" + listed(fitting) +
         "\nName one: --target=" + fitting.front().name +
         ", or in lockstep.toml below [run]: target = \"" + fitting.front().name + "\"";
}

}  // namespace lockstep::command
