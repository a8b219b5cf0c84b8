#include "harness/property/replay.h"

#include <fmt/format.h>
#include <unistd.h>

#include <array>
#include <climits>
#include <cstdlib>
#include <string>

namespace lockstep {
namespace {

// The settings that affect a simulated run besides the case itself.
constexpr std::array<const char*, 7> kSettings = {
    "LOCKSTEP_DEVICE", "LOCKSTEP_SCHEDULE",          "LOCKSTEP_CHECKS",      "LOCKSTEP_MEMORY",
    "LOCKSTEP_GO_ON",  "LOCKSTEP_INSTRUCTION_LIMIT", "LOCKSTEP_SUPPRESSIONS"};
// Variables that the program also needs if it is started directly: the folder of its CUDA runtime,
// and the number of devices. Bazel and conform set them themselves.
constexpr std::array<const char*, 2> kSurroundings = {"LD_LIBRARY_PATH", "LOCKSTEP_DEVICES"};

std::string environment(const char* variable) {
  const char* value = std::getenv(variable);
  return value == nullptr ? "" : value;
}

// "LOCKSTEP_DEVICE=sm_80 ", for each variable that is set.
template <std::size_t kCount>
std::string assignments(const std::array<const char*, kCount>& variables) {
  std::string line;
  for (const char* variable : variables) {
    const std::string value = environment(variable);
    if (!value.empty()) line += fmt::format("{}={} ", variable, shell_quoted(value));
  }
  return line;
}

// Read once: every property may ask for it.
const std::string& program_path() {
  static const std::string path = [] {
    std::array<char, PATH_MAX> link{};
    const ssize_t n = readlink("/proc/self/exe", link.data(), link.size() - 1);
    return n > 0 ? std::string(link.data(), static_cast<std::size_t>(n)) : "";
  }();
  return path;
}

}  // namespace

bool parse_case_name(std::string_view name, CaseName& out, std::string& error) {
  const auto colon = name.find(": ");
  const std::string_view property = name.substr(0, colon);
  const auto dot = property.find('.');
  if (colon == name.npos || dot == property.npos || dot == 0 || dot + 1 == property.size() ||
      property.find(' ') != property.npos || colon + 2 == name.size()) {
    error = fmt::format(
        "'{}' does not name a case; the form is  Suite.Name: field=value field=value", name);
    return false;
  }
  out = {std::string(property), std::string(name.substr(colon + 2))};
  return true;
}

std::string shell_quoted(std::string_view text) {
  constexpr std::string_view kPlain =
      "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-./:=,+@%";
  if (!text.empty() && text.find_first_not_of(kPlain) == text.npos) return std::string(text);
  std::string out = "'";
  for (;;) {
    const std::size_t quote = text.find('\'');
    out.append(text.substr(0, quote));
    if (quote == text.npos) break;
    out += "'\\''";
    text.remove_prefix(quote + 1);
  }
  out += '\'';
  return out;
}

ReplayLine::ReplayLine(std::string_view property) {
  argument_ = fmt::format("--case={}: ", property);
  const std::string target = environment("TEST_TARGET"), conform = environment("LOCKSTEP_REPLAY");
  if (conform.empty() && !target.empty()) {
    before_ = "bazel test " + target + " ";
    argument_.insert(0, "--test_arg=");
    for (const char* setting : kSettings) {
      const std::string value = environment(setting);
      if (!value.empty())
        after_ += " " + shell_quoted(fmt::format("--test_env={}={}", setting, value));
    }
    return;
  }
  before_ = assignments(kSettings);
  before_ = conform.empty() ? assignments(kSurroundings) + before_ + shell_quoted(program_path())
                            : before_ + conform;
  before_ += ' ';
}

std::string ReplayLine::of(std::string_view case_text) const {
  std::string argument = argument_;
  argument += case_text;
  std::string line = before_;
  line += shell_quoted(argument);
  line += after_;
  return line;
}

std::string replay_line(std::string_view property, std::string_view case_text) {
  return ReplayLine(property).of(case_text);
}

}  // namespace lockstep
