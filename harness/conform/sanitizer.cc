#include "harness/conform/sanitizer.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <chrono>

namespace lockstep {
namespace {

constexpr std::array<std::string_view, 4> kTools = {"memcheck", "racecheck", "initcheck",
                                                    "synccheck"};

std::vector<std::string> candidates() {
  std::vector<std::string> paths;
  std::string path = environment("PATH");
  while (!path.empty()) {
    const auto colon = path.find(':');
    paths.push_back(path.substr(0, colon) + "/compute-sanitizer");
    path = colon == path.npos ? "" : path.substr(colon + 1);
  }
  for (const std::string& toolkit :
       {environment("CUDA_PATH"), environment("CUDA_HOME"), std::string("/usr/local/cuda")}) {
    if (!toolkit.empty()) paths.push_back(toolkit + "/bin/compute-sanitizer");
  }
  return paths;
}

// Describes how the probe ended under the tool.
std::string verdict_of(const ProcessEnd& end) {
  if (end.how == ProcessEnd::How::kExited && end.status == kFindings) return "a finding";
  return end.succeeded() ? "nothing" : end.describe();
}

}  // namespace

std::vector<std::string> Sanitizer::prefix() const {
  // Errors returned by CUDA calls are not reported: suites cause some on purpose.
  return {
      program, "--tool", tool, "--error-exitcode", std::to_string(kFindings), "--report-api-errors",
      "no"};
}

Sanitizer find_sanitizer(std::string_view tool) {
  Sanitizer s;
  s.tool = tool;
  if (std::find(kTools.begin(), kTools.end(), tool) == kTools.end()) {
    s.error = fmt::format("--sanitizer={} is none of {}", tool, fmt::join(kTools, ", "));
    return s;
  }
  if (const std::string named = environment("COMPUTE_SANITIZER"); !named.empty()) {
    s.program = named;
    if (access(named.c_str(), X_OK) != 0)
      s.error = fmt::format("COMPUTE_SANITIZER is {}, which is no program", named);
    return s;
  }
  const std::vector<std::string> paths = candidates();
  const auto found = std::find_if(paths.begin(), paths.end(), [](const std::string& p) {
    return access(p.c_str(), X_OK) == 0;
  });
  if (found == paths.end()) {
    s.error =
        "there is no compute-sanitizer on PATH nor in a CUDA toolkit (CUDA_PATH, /usr/local/cuda); "
        "it comes with NVIDIA's toolkit. COMPUTE_SANITIZER may name one";
  } else {
    s.program = *found;
  }
  return s;
}

std::string proof_of_life(const Sanitizer& sanitizer, const std::string& probe, const Command& base,
                          const std::function<ProcessEnd(const Command&)>& run) {
  for (const auto& [variant, expected] :
       {std::pair<const char*, const char*>{"faulty", "a finding"}, {"correct", "nothing"}}) {
    Command c = base;
    c.argv = sanitizer.prefix();
    c.argv.insert(c.argv.end(), {probe, sanitizer.tool, variant});
    c.time_limit = std::chrono::seconds(120);
    const std::string got = verdict_of(run(c));
    if (got != expected) {
      return fmt::format(
          "{} --tool {} answers {} on the {}, where it should answer {}: what "
          "it says of the suites would mean nothing (its own words are in {})",
          sanitizer.program, sanitizer.tool, got,
          variant == std::string_view("faulty") ? "planted fault" : "negative control", expected,
          base.output);
    }
  }
  return "";
}

}  // namespace lockstep
