#include "harness/conform/choice.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cctype>
#include <cerrno>
#include <chrono>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <limits>
#include <numeric>

#include "harness/conform/suite_run.h"
#include "harness/ledger/runfiles.h"
#include "harness/ledger/selection.h"

namespace lockstep {
namespace {

std::string lower(std::string_view text) {
  std::string out(text);
  for (char& c : out) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  return out;
}

}  // namespace

SuiteProperties properties_of(const Suite& suite, const Target& target) {
  SuiteProperties out;
  const std::string program =
      std::filesystem::path(suite.program).is_absolute() ? suite.program : runfile(suite.program);
  if (program.empty()) {
    out.error =
        fmt::format("{}: its program {} is not among the runfiles", suite.family, suite.program);
    return out;
  }
  // In memory: on a full disk a file could be cut off, and would look like a shorter list.
  const int file = memfd_create("lockstep-list", MFD_CLOEXEC);
  if (file < 0) {
    out.error =
        fmt::format("{}: its properties cannot be listed: {}", suite.family, std::strerror(errno));
    return out;
  }
  const std::string answer = fmt::format("/proc/{}/fd/{}", getpid(), file);
  Command c = command_on(target);
  c.argv = {program, "--list"};
  c.unset = {"TEST_*", "GTEST_*", "TESTBRIDGE_*", "XML_OUTPUT_FILE"};
  c.output = answer;
  c.time_limit = std::chrono::seconds(60);
  const ProcessEnd end = run_process(c);
  std::ifstream in(answer);
  // A property's name is one word with a dot in it; ignores all other output.
  for (std::string line; std::getline(in, line);) {
    if (line.find('.') != line.npos && line.find(' ') == line.npos) out.names.push_back(line);
  }
  close(file);
  if (!end.succeeded())
    out.error = fmt::format("{} does not list its properties: {}", suite.family, end.describe());
  return out;
}

bool has_pattern(std::string_view property, std::string_view pattern) {
  const bool others = pattern.starts_with('!');
  if (others) pattern.remove_prefix(1);
  std::string filter;
  for (const char c : "*" + lower(pattern) + "*") filter += c == ',' ? "*:*" : std::string(1, c);
  return filter_selects(filter, lower(property)) != others;
}

LastFailed last_failed(const Passport& passport) {
  LastFailed out;
  out.suites.insert(passport.not_begun.begin(), passport.not_begun.end());
  for (const PassportSuite& s : passport.suites) {
    // A suite without a ledger has no properties to list.
    if (s.properties.empty()) out.suites.insert(s.family);
    for (const auto& [name, p] : s.properties) {
      if (p.verdict == Verdict::kFail || p.verdict == Verdict::kNotRun) out.properties.insert(name);
    }
  }
  return out;
}

Manifest choose_properties(const std::vector<Suite>& suites, const Target& target,
                           const std::string& why,
                           const std::function<bool(const Suite&, const std::string&)>& wanted) {
  Manifest m;
  std::size_t all = 0;
  for (const Suite& suite : suites) {
    const SuiteProperties properties = properties_of(suite, target);
    if (!properties.error.empty()) return {{}, properties.error};
    std::vector<std::string> chosen;
    for (const std::string& name : properties.names) {
      if (wanted(suite, name)) chosen.push_back(name);
    }
    all += properties.names.size();
    if (chosen.empty()) continue;
    m.suites.push_back(suite);
    m.suites.back().filter = fmt::format("{}", fmt::join(chosen, ":"));
  }
  if (m.suites.empty())
    m.error = fmt::format("{} none of {} properties; `list` shows them", why, all);
  return m;
}

std::vector<std::size_t> longest_first(const std::vector<Suite>& suites, const Passport& earlier) {
  const auto seconds = [&](std::size_t i) {
    const auto it = std::ranges::find(earlier.suites, suites[i].family, &PassportSuite::family);
    return it == earlier.suites.end() ? std::numeric_limits<double>::infinity() : it->seconds;
  };
  std::vector<std::size_t> order(suites.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::ranges::stable_sort(order, std::ranges::greater(), seconds);
  return order;
}

}  // namespace lockstep
