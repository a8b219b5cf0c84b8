#include "simulator/exec/suppression_use.h"

#include <algorithm>
#include <optional>
#include <set>
#include <sstream>
#include <utility>

#include "simulator/check/finding.h"
#include "simulator/check/suppressions.h"

namespace lockstep::exec {
namespace {

using nlohmann::json;

std::optional<check::Kind> kind_named(const std::string& name) {
  for (int k = 0; k < 32; ++k) {
    if (check::name(static_cast<check::Kind>(k)) == name) return static_cast<check::Kind>(k);
  }
  return std::nullopt;
}

// A finding's kernel; the call if the finding has no kernel.
std::string kernel_or_call(const json& finding) {
  const std::string kernel = finding.value("kernel", "");
  return kernel.empty() ? finding.value("call", "") : kernel;
}

bool covers(const check::Suppressions& one, const json& finding) {
  const auto kind = kind_named(finding.value("kind", ""));
  return kind && check::contains(one.kinds_in(kernel_or_call(finding)), *kind);
}

}  // namespace

std::vector<UnusedSuppression> unused_suppressions(const std::string& text,
                                                   const json& suppressed) {
  std::vector<UnusedSuppression> unused;
  std::istringstream lines(text);
  int number = 0;
  for (std::string line; std::getline(lines, line);) {
    ++number;
    const auto parsed = check::Suppressions::parse(line);
    const auto* const one = std::get_if<check::Suppressions>(&parsed);
    if (one == nullptr || one->empty()) continue;
    if (std::any_of(suppressed.begin(), suppressed.end(),
                    [&](const json& finding) { return covers(*one, finding); }))
      continue;
    line.erase(std::min(line.find('#'), line.size()));
    const std::size_t begin = line.find_first_not_of(" \t"), end = line.find_last_not_of(" \t\r");
    unused.push_back({number, line.substr(begin, end + 1 - begin)});
  }
  return unused;
}

std::string suppressions_for(const json& findings) {
  std::string text =
      "# KIND  KERNEL  # the first place. * in a kernel's name is any text, ? any character.\n";
  std::set<std::pair<std::string, std::string>> known;
  for (const json& finding : findings) {
    if (finding.value("severity", "") != "error") continue;
    const std::string kind = finding.value("kind", "");
    std::string kernel = kernel_or_call(finding);
    // Replaces '#', which occurs in the names of lambdas and starts a comment. Only * matches an
    // empty name.
    std::replace(kernel.begin(), kernel.end(), '#', '?');
    if (kernel.empty()) kernel = "*";
    if (!known.insert({kind, kernel}).second) continue;
    const std::string file = finding.value("file", "");
    text += kind + "  " + kernel;
    if (!file.empty()) text += "  # " + file + ":" + std::to_string(finding.value("line", 0));
    text += "\n";
  }
  return text;
}

}  // namespace lockstep::exec
