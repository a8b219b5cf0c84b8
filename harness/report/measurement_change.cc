#include "harness/report/measurement_change.h"

#include <fmt/format.h>

#include <charconv>
#include <cmath>

namespace lockstep {
namespace {

constexpr char kAtOnce[] = "products at once", kBits[] = "bits below the largest",
               kCut[] = "terms are cut", kSumBits[] = "bits of a sum",
               kRounded[] = "sums are rounded";

// The number at the beginning of a text, or -1.
int leading_number(const std::string& text) {
  int n = -1;
  std::from_chars(text.data(), text.data() + text.size(), n);
  return n;
}

bool nearest(const std::string& direction) { return direction.starts_with("to the nearest"); }

// Whether inputs gave no value, or only a bound: a difference is then no change.
bool is_bound(const std::string& text) {
  return text.starts_with("no effect") || text.starts_with("at most") ||
         text.starts_with("at least");
}

// Whether the value affects the error of a result.
bool is_of_precision(const std::string& name) {
  return name == kAtOnce || name == kBits || name == kCut || name == kSumBits || name == kRounded;
}

}  // namespace

double share_lost(const Measurement& unit) {
  const int at_once = leading_number(unit.value(kAtOnce));
  if (at_once <= 0 || unit.terms < 2) return -1;
  const double steps = std::ceil(static_cast<double>(unit.terms - 1) / at_once);
  double lost = 0;
  if (const int bits = leading_number(unit.value(kBits)); bits > 0)
    lost += (at_once + 1) * std::ldexp(nearest(unit.value(kCut)) ? 0.5 : 1.0, -bits);
  if (const int bits = leading_number(unit.value(kSumBits)); bits > 0)
    lost += std::ldexp(nearest(unit.value(kRounded)) ? 0.5 : 1.0, -bits);
  return steps * lost;
}

std::string change_of(const Measurement& before, const Measurement& after) {
  std::string changes;
  bool precision = false;
  const auto add = [&](const std::string& name, const std::string& now, const std::string& was) {
    if (now == was || (is_bound(now) && is_bound(was)) || now.starts_with("no effect") ||
        was.starts_with("no effect"))
      return;
    precision = precision || is_of_precision(name);
    if (!changes.empty()) changes += "; ";
    if (name == kBits && leading_number(now) > 0 && leading_number(was) > 0) {
      changes +=
          fmt::format("{} bits are kept below the largest term where there were {}", now, was);
    } else {
      changes += fmt::format("{}: {} where it was {}", name, now.empty() ? "not measured" : now,
                             was.empty() ? "not measured" : was);
    }
  };
  for (const auto& [name, was] : before.values) add(name, after.value(name), was);
  for (const auto& [name, now] : after.values) {
    if (before.value(name).empty()) add(name, now, "");
  }
  if (changes.empty()) return "";
  std::string sentence = fmt::format("{}: {}", before.name, changes);
  const double apart = share_lost(before) + share_lost(after);
  if (precision && share_lost(before) >= 0 && share_lost(after) >= 0)
    sentence +=
        fmt::format("; results may differ by up to {:.2g} of the largest term or sum", apart);
  return sentence;
}

}  // namespace lockstep
