#include "harness/ledger/selection.h"

namespace lockstep {
namespace {

bool matches(std::string_view pattern, std::string_view text) {
  // After a mismatch, continues at the last *, which then matches one more character.
  std::size_t p = 0, t = 0, star = pattern.npos, retry = 0;
  while (t < text.size()) {
    if (p < pattern.size() && pattern[p] == '*') {
      star = p++;
      retry = t;
    } else if (p < pattern.size() && (pattern[p] == '?' || pattern[p] == text[t])) {
      ++p, ++t;
    } else if (star != pattern.npos) {
      p = star + 1;
      t = ++retry;
    } else {
      return false;
    }
  }
  while (p < pattern.size() && pattern[p] == '*') ++p;
  return p == pattern.size();
}

bool any_matches(std::string_view patterns, std::string_view text) {
  while (true) {
    const auto colon = patterns.find(':');
    const std::string_view pattern = patterns.substr(0, colon);
    if (!pattern.empty() && matches(pattern, text)) return true;
    if (colon == patterns.npos) return false;
    patterns.remove_prefix(colon + 1);
  }
}

}  // namespace

bool filter_selects(std::string_view filter, std::string_view full_name) {
  const auto dash = filter.find('-');
  std::string_view wanted = filter.substr(0, dash);
  if (dash != filter.npos && wanted.empty()) wanted = "*";
  if (!any_matches(wanted, full_name)) return false;
  return dash == filter.npos || !any_matches(filter.substr(dash + 1), full_name);
}

}  // namespace lockstep
