#include "command/on_project.h"

#include <algorithm>
#include <cstdio>

#include "command/processes.h"
#include "command/project.h"

namespace lockstep::command {
namespace {

using Words = std::vector<std::string>;

constexpr int kRed = 1, kUsage = 2;

void say(const std::string& sentence) { std::fprintf(stderr, "lockstep: %s\n", sentence.c_str()); }

// The words without --target and its value, which may be a separate word.
Words without_target(const Words& words) {
  Words left;
  for (std::size_t i = 0; i < words.size(); ++i) {
    if (words[i] == "--target")
      ++i;
    else if (!words[i].starts_with("--target="))
      left.push_back(words[i]);
  }
  return left;
}

// Adds the targets of a Bazel workspace. Returns the exit status if Bazel fails.
std::optional<int> ask_bazel(Project& project, const std::string& wanted) {
  if (wanted.starts_with("//") || wanted.starts_with("@")) {
    project.targets.push_back({.name = wanted});
    return std::nullopt;
  }
  const Ended query = run({"bazel", "query", "--noshow_progress", "--output=label",
                           "kind(\"conformance_program rule\", //...)"},
                          project.root, Stdout::kKept);
  if (query.status == kNotStarted) {
    if (!project.targets.empty()) return std::nullopt;
    say(project.root + " is a workspace of Bazel's, and no bazel is on PATH");
    return kIncomplete;
  }
  if (query.status != 0) {
    say("bazel query did not find the conformance targets of " + project.root +
        ": --target=//PACKAGE:NAME names one");
    return kRed;
  }
  for (ConformanceTarget& t : bazel_targets(query.out)) project.targets.push_back(std::move(t));
  return std::nullopt;
}

int start_bazel(const std::string& label, const Words& words) {
  Words all = {"bazel", "run", label, "--"};
  // The rule's program runs its suites by default, and lists them with `list`.
  const std::size_t first = words.front() == "run" ? 1 : 0;
  all.insert(all.end(), words.begin() + static_cast<std::ptrdiff_t>(first), words.end());
  return become(all);
}

}  // namespace

std::optional<int> enter_project(const CommandLine& line, Words& words) {
  words = without_target(words);
  Project project = find_project(".");
  if (project.is_bazel) {
    if (const auto status = ask_bazel(project, line.run.target)) return status;
  }
  const auto chosen = choose(project, line.run.target);
  if (const auto* const sentence = std::get_if<std::string>(&chosen)) {
    say(*sentence);
    return kUsage;
  }
  const ConformanceTarget& target = std::get<ConformanceTarget>(chosen);
  say("conformance target " + target.name + " of " + project.root);
  if (target.build.empty()) return start_bazel(target.name, words);
  const Ended build = run({"cmake", "--build", target.build, "--target", target.target + "_suites"},
                          ".", Stdout::kToStderr);
  if (build.status == kNotStarted) {
    say("no cmake is on PATH, which builds the suites; --manifest=" + target.list +
        " runs them as they are");
    return kIncomplete;
  }
  if (build.status != 0) {
    say("the build failed; nothing was proved.");
    return kRed;
  }
  words.insert(words.begin() + 1, "--manifest=" + target.list);
  return std::nullopt;
}

}  // namespace lockstep::command
