#include "harness/report/passport_diff.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <set>

#include "harness/report/measurement_change.h"
#include "harness/report/timing_diff.h"

namespace lockstep {
namespace {

// On the same cases, a budget changes only with the kernel and the device. Other cases, and more
// cases, have other worst ones; that is no regression. Shares of the bound below a hundredth are
// insignificant.
constexpr double kBudgetFactor = 1.1, kBudgetFloor = 0.01;

bool red(Verdict v) { return v == Verdict::kFail || v == Verdict::kNotRun; }

// A regression is a change to red, or from a pass to a waived failure. A device that lacks a
// capability is a different device, and no regression.
bool is_step_back(Verdict before, Verdict after) {
  if (red(after)) return !red(before);
  return before == Verdict::kPass && after == Verdict::kWaived;
}

std::vector<std::string> names_of(const Passport& p) {
  std::vector<std::string> names;
  for (const PassportSuite& s : p.suites) names.insert(names.end(), s.order.begin(), s.order.end());
  return names;
}

bool same_cases(const PassportProperty& a, const PassportProperty& b) {
  return a.seed == b.seed && a.cases == b.cases;
}

std::string reason_of(const PassportProperty& p) { return p.reason.empty() ? "" : ": " + p.reason; }

void compare_verdicts(const std::string& name, const PassportProperty& a, const PassportProperty& b,
                      PassportDiff& d) {
  if (a.verdict == b.verdict && (a.verdict != Verdict::kFail || a.reason == b.reason)) return;
  std::string sentence = fmt::format("{}: {} -> {}{}", name, lockstep::name(a.verdict),
                                     lockstep::name(b.verdict), reason_of(b));
  (is_step_back(a.verdict, b.verdict) ? d.verdicts_worse : d.verdicts_other)
      .push_back(std::move(sentence));
}

void compare_bits(const std::string& name, const PassportProperty& a, const PassportProperty& b,
                  PassportDiff& d, std::size_t& other_cases) {
  if (a.digest.empty() || b.digest.empty() || a.verdict != Verdict::kPass ||
      b.verdict != Verdict::kPass)
    return;
  if (!same_cases(a, b)) {
    ++other_cases;
    return;
  }
  ++d.digests_compared;
  if (a.digest != b.digest)
    d.bits.push_back(fmt::format("{}: the outputs of {} cases are not the same ({} -> {})", name,
                                 a.cases, a.digest, b.digest));
}

// `one_arithmetic`: both devices should compute the same results.
void compare_budgets(const std::string& name, const PassportProperty& a, const PassportProperty& b,
                     bool one_arithmetic, PassportDiff& d) {
  if (a.verdict != Verdict::kPass || b.verdict != Verdict::kPass) return;
  const std::string sentence = fmt::format("{}: {:.3f} -> {:.3f}{}", name, a.budget, b.budget,
                                           same_cases(a, b) ? "" : " (of other cases)");
  if (b.budget > std::max(a.budget * kBudgetFactor, kBudgetFloor)) {
    (same_cases(a, b) && one_arithmetic ? d.budget_worse : d.budget_other).push_back(sentence);
  } else if (a.budget > std::max(b.budget * kBudgetFactor, kBudgetFloor)) {
    d.budget_other.push_back(sentence);
  }
}

void compare_goldens(const std::string& name, const PassportProperty& a, const PassportProperty& b,
                     PassportDiff& d) {
  for (const auto& [scene, before] : a.golden) {
    const auto after = b.golden.find(scene);
    if (after == b.golden.end()) {
      d.verdicts_worse.push_back(fmt::format("{}: the golden '{}' was not drawn", name, scene));
    } else if (before != after->second) {
      (after->second == "same" ? d.verdicts_other : d.verdicts_worse)
          .push_back(
              fmt::format("{}: the golden '{}': {} -> {}", name, scene, before, after->second));
    }
  }
}

// Whether the suite measures the device's arithmetic: its outputs are then specific to a device
// generation.
bool measures(const PassportSuite& s) {
  return std::any_of(s.properties.begin(), s.properties.end(),
                     [](const auto& p) { return !p.second.measurements.empty(); });
}

void compare_measurements(const PassportProperty& a, const PassportProperty& b, bool one_generation,
                          PassportDiff& d) {
  std::vector<std::string>& found = one_generation ? d.measured_worse : d.measured_other;
  for (const Measurement& before : a.measurements) {
    const auto after = std::find_if(b.measurements.begin(), b.measurements.end(),
                                    [&](const Measurement& m) { return m.name == before.name; });
    if (after == b.measurements.end()) {
      found.push_back(fmt::format("{}: not measured any more", before.name));
    } else if (std::string change = change_of(before, *after); !change.empty()) {
      found.push_back(std::move(change));
    }
  }
}

std::string entry(const Passport& p, const char* key) {
  return p.device.contains(key) ? p.device.at(key) : "";
}

// The part of the suites' properties that the run executed; empty if it executed all.
std::string part_of(const Passport& run) {
  if (run.options.contains("pattern"))
    return fmt::format("of properties with {} in their names", run.options.at("pattern"));
  if (run.options.contains("last_failed")) return "of what had failed before";
  return run.partial;
}

// Why the run could not include a suite that the other run has; empty if it should.
std::string not_for(const Passport& run, const std::string& family) {
  if (run.options.contains("suites"))
    return fmt::format("the second run was of {} alone", run.options.at("suites"));
  if (const std::string part = part_of(run); !part.empty()) return "the second run was " + part;
  // Suites that measure a GPU have this suffix (bazel/kernel_test.bzl). A run on the simulated GPU
  // omits them.
  if (!family.ends_with("_timing")) return "";
  if (entry(run, "simulated") == "true")
    return "it measures a GPU, and the second run was on the simulated one";
  return run.options.contains("sanitizer")
             ? "it measures a GPU, and the second run was under a sanitizer"
             : "";
}

void section(std::string& out, const char* head, const std::vector<std::string>& sentences) {
  if (sentences.empty()) return;
  out += fmt::format("\n{} ({}):\n", head, sentences.size());
  for (const std::string& s : sentences) out += "  " + s + "\n";
}

std::string one_line(const Passport& p) {
  const auto count = [&](const char* key) { return p.counts.contains(key) ? p.counts.at(key) : 0; };
  return fmt::format("{}; commit {}{}; {}; {} of {} pass, {} cases, largest budget {:.3f}; {}",
                     p.device_text(), p.commit.empty() ? "unknown" : p.commit.substr(0, 12),
                     p.modified ? " (modified)" : "", p.created, count("pass"), count("planned"),
                     count("cases"), p.budget, p.green ? "green" : "NOT GREEN");
}

}  // namespace

std::vector<std::string> PassportDiff::reasons() const {
  std::vector<std::string> all;
  for (const auto* worse : {&verdicts_worse, &bits, &budget_worse, &timing_worse, &measured_worse})
    all.insert(all.end(), worse->begin(), worse->end());
  return all;
}

PassportDiff diff_passports(const Passport& before, const Passport& after) {
  PassportDiff d;
  for (const auto& [which, p] :
       {std::pair<const char*, const Passport*>{"first", &before}, {"second", &after}}) {
    if (p->options.contains("case"))
      d.not_comparable.push_back(fmt::format("the {} is of a single case (--case)", which));
    if (names_of(*p).empty())
      d.not_comparable.push_back(fmt::format("the {} has no properties", which));
  }
  if (!d.not_comparable.empty()) return d;

  const bool one_generation =
      entry(before, "compute_capability") == entry(after, "compute_capability");
  std::size_t other_cases = 0, other_generation = 0, not_run_again = 0;
  // If the second run lacks a whole suite, the user may not have selected it. If it lacks a
  // property of a suite that it has, the property is missing.
  std::set<std::string> suites_after, suites_before;
  for (const PassportSuite& s : after.suites) suites_after.insert(s.family);
  for (const PassportSuite& s : before.suites) {
    suites_before.insert(s.family);
    if (!suites_after.contains(s.family)) {
      // Without such a reason, the suite's absence is a regression.
      if (const std::string why = not_for(after, s.family); !why.empty()) {
        d.not_compared.push_back(fmt::format("suite {}: {}", s.family, why));
      } else {
        d.verdicts_worse.push_back(fmt::format("suite {} is gone", s.family));
      }
      continue;
    }
    d.suites.push_back(s.family);
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
      if (one_generation || !measures(s)) {
        compare_bits(name, a, *b, d, other_cases);
      } else {
        other_generation += !a.digest.empty() && !b->digest.empty();
      }
      // A capability that the other device lacks is already reported as a verdict.
      if (a.verdict == Verdict::kPass && b->verdict == Verdict::kPass)
        compare_measurements(a, *b, one_generation, d);
      compare_budgets(name, a, *b, one_generation || !measures(s), d);
      compare_goldens(name, a, *b, d);
      for (std::string& change : timing_changes(a, *b)) d.timing_other.push_back(std::move(change));
      d.timings += a.timings.size();
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
    d.not_compared.push_back(
        fmt::format("{} properties: the second run was {}", not_run_again, part_of(after)));
  if (other_cases > 0) {
    d.not_compared.push_back(fmt::format(
        "outputs of {} properties: they ran other cases (seed or number)", other_cases));
  }
  if (other_generation > 0) {
    d.not_compared.push_back(fmt::format(
        "outputs of {} properties: each generation has its own, and what was measured says how",
        other_generation));
  }
  return d;
}

namespace {

// Adds the sentences that are not in `to`.
void add_new(std::vector<std::string>& to, const std::vector<std::string>& from) {
  for (const std::string& s : from) {
    if (std::find(to.begin(), to.end(), s) == to.end()) to.push_back(s);
  }
}

}  // namespace

PassportDiff diff_runs(const std::vector<Passport>& before, const std::vector<Passport>& after) {
  PassportDiff d = diff_passports(before.front(), after.front());
  for (std::size_t i = 1; i < before.size() && i < after.size() && d.not_comparable.empty(); ++i) {
    const PassportDiff next = diff_passports(before[i], after[i]);
    for (const auto list :
         {&PassportDiff::not_comparable, &PassportDiff::verdicts_worse,
          &PassportDiff::verdicts_other, &PassportDiff::bits, &PassportDiff::budget_worse,
          &PassportDiff::budget_other, &PassportDiff::timing_other, &PassportDiff::measured_worse,
          &PassportDiff::measured_other, &PassportDiff::not_compared, &PassportDiff::suites})
      add_new(d.*list, next.*list);
  }
  if (!d.not_comparable.empty()) return d;
  if (const std::size_t a = before.size(), b = after.size(); a != b) {
    const std::size_t alone = std::max(a, b) - std::min(a, b);
    d.not_compared.push_back(fmt::format("{} run{} of the {} {} no counterpart", alone,
                                         alone == 1 ? "" : "s", a > b ? "first" : "second",
                                         alone == 1 ? "has" : "have"));
  }
  if (d.timings == 0) return d;
  TimingJudgement j = judge_timings(before, after);
  if (!j.why_not.empty()) {
    d.timings_are = fmt::format("the durations are information: {}", j.why_not);
    return d;
  }
  d.timings_are = fmt::format(
      "the durations of {} pairs of runs in turn: {} slower, {} faster, {} the same, {} not known",
      j.pairs, j.slower.size(), j.faster.size(), j.same, j.inconclusive);
  d.timing_worse = std::move(j.slower);
  d.timing_other = std::move(j.faster);  // single runs add nothing
  return d;
}

std::string verdict_line(const PassportDiff& d) {
  if (!d.not_comparable.empty())
    return fmt::format("not comparable: {}", fmt::join(d.not_comparable, "; "));
  constexpr std::size_t kShown = 3;
  const auto some = [](std::vector<std::string> sentences) {
    const std::size_t all = sentences.size();
    if (all > kShown) sentences.resize(kShown);
    return fmt::format("{}{}", fmt::join(sentences, "; "),
                       all > kShown ? fmt::format("; and {} more", all - kShown) : "");
  };
  const std::vector<std::string> reasons = d.reasons();
  std::string line =
      reasons.empty()
          ? "not worse: no verdict, output, use of an error bound or measurement is a step back"
          : fmt::format("WORSE, for {} reason{}: {}", reasons.size(),
                        reasons.size() == 1 ? "" : "s", some(reasons));
  line += fmt::format(". Compared: {} properties of {}, the outputs of {} bit for bit", d.compared,
                      fmt::join(d.suites, ", "), d.digests_compared);
  line +=
      fmt::format(". Not compared: {}", d.not_compared.empty() ? "nothing" : some(d.not_compared));
  if (!d.timings_are.empty()) line += fmt::format(". Timing: {}", d.timings_are);
  return line + ".";
}

std::string diff_text(const Passport& before, const Passport& after, const PassportDiff& d) {
  std::string out = fmt::format("{}\n\nbefore: {}\nafter:  {}\n", verdict_line(d), one_line(before),
                                one_line(after));
  section(out, "Worse verdicts", d.verdicts_worse);
  section(out, "Other bits", d.bits);
  section(out, "More of the error bound is used", d.budget_worse);
  section(out, "Slower", d.timing_worse);
  section(out, "Computes otherwise", d.measured_worse);
  section(out, "Other verdicts", d.verdicts_other);
  section(out, "Other budgets", d.budget_other);
  section(out, "Timings, for information", d.timing_other);
  section(out, "Another generation computes otherwise", d.measured_other);
  section(out, "Not compared", d.not_compared);
  return out;
}

}  // namespace lockstep
