#include "harness/conform/suites.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <set>

namespace lockstep {
namespace {

std::vector<std::string_view> split(std::string_view text, char separator) {
  std::vector<std::string_view> parts;
  while (true) {
    const auto at = text.find(separator);
    parts.push_back(text.substr(0, at));
    if (at == text.npos) return parts;
    text.remove_prefix(at + 1);
  }
}

}  // namespace

Manifest parse_manifest(std::string_view text) {
  Manifest m;
  std::set<std::string> families;
  for (std::string_view line : split(text, '\n')) {
    if (line.empty()) continue;
    const auto fields = split(line, '\t');
    const bool silicon = fields.size() == 4 && fields[3] == "silicon";
    if ((fields.size() != 3 && !silicon) || fields[0].empty() || fields[1].empty()) {
      return {
          {},
          fmt::format("the list of suites has a line that is not family, program and label: '{}'",
                      line)};
    }
    if (!families.emplace(fields[0]).second)
      return {{}, fmt::format("the list of suites names '{}' twice", fields[0])};
    m.suites.push_back(
        {std::string(fields[0]), std::string(fields[1]), std::string(fields[2]), silicon, ""});
  }
  if (m.suites.empty()) m.error = "the list of suites is empty";
  return m;
}

Manifest read_manifest(const std::string& path) {
  if (path.empty())
    return {
        {},
        "there is no list of suites: --manifest=FILE names one. The suites of a project are run "
        "by its own target: cmake --build build --target conformance (lockstep_conformance), "
        "or bazel run //:conformance"};
  std::ifstream in(path);
  if (std::error_code none; !in || std::filesystem::is_directory(path, none))
    return {{}, fmt::format("the list of suites, {}, cannot be read", path)};
  return parse_manifest(std::string(std::istreambuf_iterator<char>(in), {}));
}

Manifest select_suites(const std::vector<Suite>& all, const std::vector<std::string>& wanted) {
  std::set<std::string, std::less<>> names;
  for (const std::string& list : wanted) {
    for (std::string_view name : split(list, ',')) names.emplace(name);
  }
  Manifest m;
  for (const Suite& suite : all) {
    if (wanted.empty() || names.erase(suite.family) > 0) m.suites.push_back(suite);
  }
  if (!names.empty()) {
    std::vector<std::string> known;
    for (const Suite& s : all) known.push_back(s.family);
    return {{},
            fmt::format("there is no suite '{}'; the suites are: {}", fmt::join(names, "', '"),
                        fmt::join(known, ", "))};
  }
  return m;
}

Manifest suites_for(bool silicon, const std::vector<Suite>& selected,
                    const std::vector<std::string>& wanted) {
  Manifest m;
  for (const Suite& s : selected) {
    if (silicon || !s.silicon) {
      m.suites.push_back(s);
    } else if (!wanted.empty()) {
      return {{},
              fmt::format("'{}' measures a GPU, which the simulated one is not: --device=gpu",
                          s.family)};
    }
  }
  return m;
}

}  // namespace lockstep
