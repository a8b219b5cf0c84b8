#include "simulator/check/suppressions.h"

#include <optional>

namespace lockstep::check {
namespace {

constexpr int kMaxKinds = 32;
constexpr std::uint32_t kEveryKind = ~0u;

std::string_view trim(std::string_view s) {
  constexpr std::string_view kBlank = " \t\r";
  const std::size_t first = s.find_first_not_of(kBlank);
  return first == s.npos ? std::string_view{}
                         : s.substr(first, s.find_last_not_of(kBlank) - first + 1);
}

std::optional<std::uint32_t> kinds_named(std::string_view word) {
  if (word == "*") return kEveryKind;
  for (int k = 0; k < kMaxKinds; ++k) {
    if (name(static_cast<Kind>(k)) == word && word != "unknown") return 1u << k;
  }
  return std::nullopt;
}

std::string known_kinds() {
  std::string names;
  for (int k = 0; k < kMaxKinds; ++k) {
    const std::string one = name(static_cast<Kind>(k));
    if (one != "unknown") names += (names.empty() ? "" : ", ") + one;
  }
  return names;
}

}  // namespace

// When the text stops matching, the last '*' matches one more character.
bool fits(std::string_view pattern, std::string_view text) {
  std::size_t p = 0, t = 0, star = pattern.npos, resume = 0;
  while (t < text.size()) {
    if (p < pattern.size() && pattern[p] == '*') {
      star = p++;
      resume = t;
    } else if (p < pattern.size() && (pattern[p] == '?' || pattern[p] == text[t])) {
      ++p;
      ++t;
    } else if (star != pattern.npos) {
      p = star + 1;
      t = ++resume;
    } else {
      return false;
    }
  }
  while (p < pattern.size() && pattern[p] == '*') ++p;
  return p == pattern.size();
}

std::variant<Suppressions, std::string> Suppressions::parse(std::string_view text) {
  Suppressions result;
  for (int number = 1; !text.empty(); ++number) {
    const std::size_t end = text.find('\n');
    std::string_view line = text.substr(0, end);
    text.remove_prefix(end == text.npos ? text.size() : end + 1);
    line = trim(line.substr(0, line.find('#')));
    if (line.empty()) continue;
    const std::size_t gap = line.find_first_of(" \t");
    const std::string_view kind = line.substr(0, gap),
                           kernel = gap == line.npos ? std::string_view{} : trim(line.substr(gap));
    const auto kinds = kinds_named(kind);
    const std::string where = "line " + std::to_string(number) + ": ";
    if (line.find('\0') != line.npos) return where + "this file is no text";
    if (!kinds)
      return where + "'" + std::string(kind) + "' is no kind of finding; there are " +
             known_kinds() + ", and * for all";
    if (kernel.empty())
      return where + "a kernel's name must follow the kind; * stands for every kernel";
    result.rules_.push_back({*kinds, std::string(kernel)});
  }
  return result;
}

bool Suppressions::cover(const Finding& finding) const {
  return !empty() &&
         contains(kinds_in(finding.kernel.empty() ? finding.call : finding.kernel), finding.kind);
}

std::uint32_t Suppressions::kinds_in(std::string_view kernel) const {
  std::uint32_t kinds = 0;
  for (const Rule& rule : rules_) {
    if (fits(rule.kernel, kernel)) kinds |= rule.kinds;
  }
  return kinds;
}

}  // namespace lockstep::check
