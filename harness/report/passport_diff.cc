#include "harness/report/passport_diff.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <set>

namespace lockstep {
namespace {

// With the same cases a budget changes only with the kernel and the device; other cases, and above all more of them,
// meet other worst ones, which is no step back. Shares of the bound below a hundredth say nothing.
constexpr double kBudgetFactor = 1.1, kBudgetFloor = 0.01;
// A duration is another one when the intervals are apart and the medians differ by more than clocks do between runs.
constexpr double kTimingFactor = 1.05;

bool red(Verdict v) { return v == Verdict::kFail || v == Verdict::kNotRun; }

// Steps back are: into red, and from a pass into a failure that is only waived. A device that lacks a capability is
// another device, not a worse one.
bool is_step_back(Verdict before, Verdict after) {
  if (red(after)) return !red(before);
  return before == Verdict::kPass && after == Verdict::kWaived;
}

std::vector<std::string> names_of(const Passport& p) {
  std::vector<std::string> names;
  for (const PassportSuite& s : p.suites) names.insert(names.end(), s.order.begin(), s.order.end());
  return names;
}

bool same_cases(const PassportProperty& a, const PassportProperty& b) { return a.seed == b.seed && a.cases == b.cases; }

std::string reason_of(const PassportProperty& p) { return p.reason.empty() ? "" : ": " + p.reason; }

void compare_verdicts(const std::string& name, const PassportProperty& a, const PassportProperty& b, PassportDiff& d) {
  if (a.verdict == b.verdict && (a.verdict != Verdict::kFail || a.reason == b.reason)) return;
  std::string sentence =
      fmt::format("{}: {} -> {}{}", name, lockstep::name(a.verdict), lockstep::name(b.verdict), reason_of(b));
  (is_step_back(a.verdict, b.verdict) ? d.verdicts_worse : d.verdicts_other).push_back(std::move(sentence));
}

void compare_bits(const std::string& name, const PassportProperty& a, const PassportProperty& b, PassportDiff& d,
                  std::size_t& other_cases) {
  if (a.digest.empty() || b.digest.empty() || a.verdict != Verdict::kPass || b.verdict != Verdict::kPass) return;
  if (!same_cases(a, b)) {
    ++other_cases;
    return;
  }
  ++d.digests_compared;
  if (a.digest != b.digest)
    d.bits.push_back(
        fmt::format("{}: the outputs of {} cases are not the same ({} -> {})", name, a.cases, a.digest, b.digest));
}

void compare_budgets(const std::string& name, const PassportProperty& a, const PassportProperty& b, PassportDiff& d) {
  if (a.verdict != Verdict::kPass || b.verdict != Verdict::kPass) return;
  const std::string sentence =
      fmt::format("{}: {:.3f} -> {:.3f}{}", name, a.budget, b.budget, same_cases(a, b) ? "" : " (of other cases)");
  if (b.budget > std::max(a.budget * kBudgetFactor, kBudgetFloor)) {
    (same_cases(a, b) ? d.budget_worse : d.budget_other).push_back(sentence);
  } else if (a.budget > std::max(b.budget * kBudgetFactor, kBudgetFloor)) {
    d.budget_other.push_back(sentence);
  }
}

void compare_goldens(const std::string& name, const PassportProperty& a, const PassportProperty& b, PassportDiff& d) {
  for (const auto& [scene, before] : a.golden) {
    const auto after = b.golden.find(scene);
    if (after == b.golden.end()) {
      d.verdicts_worse.push_back(fmt::format("{}: the golden '{}' was not drawn", name, scene));
    } else if (before != after->second) {
      (after->second == "same" ? d.verdicts_other : d.verdicts_worse)
          .push_back(fmt::format("{}: the golden '{}': {} -> {}", name, scene, before, after->second));
    }
  }
}

void compare_timings(const PassportProperty& a, const PassportProperty& b, bool one_gpu, PassportDiff& d) {
  for (const Timing& before : a.timings) {
    const auto after =
        std::find_if(b.timings.begin(), b.timings.end(), [&](const Timing& t) { return t.name == before.name; });
    if (after == b.timings.end() || !(before.median > 0) || !(after->median > 0)) continue;
    const double ratio = after->median / before.median;
    const std::string sentence =
        fmt::format("{}: {:.2f} us [{:.2f}, {:.2f}] -> {:.2f} us [{:.2f}, {:.2f}], x{:.3f}", before.name, before.median,
                    before.low, before.high, after->median, after->low, after->high, ratio);
    if (ratio > kTimingFactor && after->low > before.high) {
      (one_gpu ? d.timing_worse : d.timing_other).push_back("slower  " + sentence);
    } else if (ratio < 1 / kTimingFactor && after->high < before.low) {
      d.timing_other.push_back("faster  " + sentence);
    }
  }
  for (const TimingVerdict& before : a.timing_verdicts) {
    const auto after = std::find_if(b.timing_verdicts.begin(), b.timing_verdicts.end(),
                                    [&](const TimingVerdict& t) { return t.name == before.name; });
    if (after == b.timing_verdicts.end() || after->verdict == before.verdict) continue;
    const std::string sentence = fmt::format("{}: {} (x{:.3f}) -> {} (x{:.3f})", before.name, before.verdict,
                                             before.ratio, after->verdict, after->ratio);
    (one_gpu && after->verdict == "SLOWER" ? d.timing_worse : d.timing_other).push_back(sentence);
  }
}

std::string entry(const Passport& p, const char* key) { return p.device.contains(key) ? p.device.at(key) : ""; }

// What of it was run, where that was less than all properties of its suites; else empty.
std::string part_of(const Passport& run) {
  if (run.options.contains("pattern"))
    return fmt::format("of properties with {} in their names", run.options.at("pattern"));
  if (run.options.contains("last_failed")) return "of what had failed before";
  return run.partial;
}

// Why the run cannot have had the suite, though the other had it; empty when it should.
std::string not_for(const Passport& run, const std::string& family) {
  if (run.options.contains("suites")) return fmt::format("the second run was of {} alone", run.options.at("suites"));
  if (const std::string part = part_of(run); !part.empty()) return "the second run was " + part;
  // What measures a GPU is named so (bazel/kernel_test.bzl), and left out where there is nothing to measure.
  if (!family.ends_with("_timing")) return "";
  if (entry(run, "simulated") == "true") return "it measures a GPU, and the second run was on the simulated one";
  return run.options.contains("sanitizer") ? "it measures a GPU, and the second run was under a sanitizer" : "";
}

void section(std::string& out, const char* head, const std::vector<std::string>& sentences) {
  if (sentences.empty()) return;
  out += fmt::format("\n{} ({}):\n", head, sentences.size());
  for (const std::string& s : sentences) out += "  " + s + "\n";
}

std::string one_line(const Passport& p) {
  const auto count = [&](const char* key) { return p.counts.contains(key) ? p.counts.at(key) : 0; };
  return fmt::format("{}; commit {}{}; {}; {} of {} pass, {} cases, largest budget {:.3f}; {}", p.device_text(),
                     p.commit.empty() ? "unknown" : p.commit.substr(0, 12), p.modified ? " (modified)" : "", p.created,
                     count("pass"), count("planned"), count("cases"), p.budget, p.green ? "green" : "NOT GREEN");
}

}  // namespace

bool PassportDiff::worse() const {
  return !verdicts_worse.empty() || !bits.empty() || !budget_worse.empty() || !timing_worse.empty();
}

PassportDiff diff_passports(const Passport& before, const Passport& after) {
  PassportDiff d;
  for (const auto& [which, p] : {std::pair<const char*, const Passport*>{"first", &before}, {"second", &after}}) {
    if (p->options.contains("case"))
      d.not_comparable.push_back(fmt::format("the {} is of a single case (--case)", which));
    if (names_of(*p).empty()) d.not_comparable.push_back(fmt::format("the {} has no properties", which));
  }
  if (!d.not_comparable.empty()) return d;

  const bool one_gpu = entry(before, "name") == entry(after, "name") && entry(before, "simulated") == "false" &&
                       entry(after, "simulated") == "false";
  std::size_t other_cases = 0, not_run_again = 0;
  // A suite that the second run did not have at all was not asked for; a property that its suite lost is missing.
  std::set<std::string> suites_after, suites_before;
  for (const PassportSuite& s : after.suites) suites_after.insert(s.family);
  for (const PassportSuite& s : before.suites) {
    suites_before.insert(s.family);
    if (!suites_after.contains(s.family)) {
      // If nothing says that it was not asked for, its absence is a step back.
      if (const std::string why = not_for(after, s.family); !why.empty()) {
        d.not_compared.push_back(fmt::format("suite {}: {}", s.family, why));
      } else {
        d.verdicts_worse.push_back(fmt::format("suite {} is gone", s.family));
      }
      continue;
    }
    for (const std::string& name : s.order) {
      const PassportProperty& a = s.properties.at(name);
      const PassportProperty* const b = after.find(name);
      if (b == nullptr && !part_of(after).empty()) {
        ++not_run_again;
        continue;
      }
      if (b == nullptr) {
        d.verdicts_worse.push_back(fmt::format("{}: {} -> gone", name, lockstep::name(a.verdict)));
        continue;
      }
      ++d.compared;
      compare_verdicts(name, a, *b, d);
      compare_bits(name, a, *b, d, other_cases);
      compare_budgets(name, a, *b, d);
      compare_goldens(name, a, *b, d);
      compare_timings(a, *b, one_gpu, d);
    }
  }
  for (const PassportSuite& s : after.suites) {
    if (!suites_before.contains(s.family) && before.options.contains("suites")) continue;
    for (const std::string& name : s.order) {
      if (before.find(name) != nullptr) continue;
      const PassportProperty& b = s.properties.at(name);
      (red(b.verdict) ? d.verdicts_worse : d.verdicts_other)
          .push_back(fmt::format("{}: new, {}{}", name, lockstep::name(b.verdict), reason_of(b)));
    }
  }
  if (d.compared == 0) {
    PassportDiff none;
    none.not_comparable.push_back("they have no property in common");
    return none;
  }
  if (not_run_again > 0)
    d.not_compared.push_back(fmt::format("{} properties: the second run was {}", not_run_again, part_of(after)));
  if (other_cases > 0) {
    d.not_compared.push_back(
        fmt::format("outputs of {} properties: they ran other cases (seed or number)", other_cases));
  }
  return d;
}

std::string diff_text(const Passport& before, const Passport& after, const PassportDiff& d) {
  std::string out = fmt::format("before: {}\nafter:  {}\n", one_line(before), one_line(after));
  if (!d.not_comparable.empty()) {
    section(out, "Not comparable", d.not_comparable);
    return out;
  }
  section(out, "Worse verdicts", d.verdicts_worse);
  section(out, "Other bits", d.bits);
  section(out, "More of the error bound is used", d.budget_worse);
  section(out, "Slower", d.timing_worse);
  section(out, "Other verdicts", d.verdicts_other);
  section(out, "Other budgets", d.budget_other);
  section(out, "Other timings", d.timing_other);
  section(out, "Not compared", d.not_compared);
  out += fmt::format("\n{} properties compared, outputs of {} bit for bit: {}\n", d.compared, d.digests_compared,
                     d.worse() ? "WORSE" : "not worse");
  return out;
}

}  // namespace lockstep
