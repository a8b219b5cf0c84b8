#include "harness/report/run_report.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <fstream>
#include <set>
#include <string_view>

#include "harness/report/cause.h"

namespace lockstep {
namespace {

using Row = std::array<std::string, 10>;

constexpr std::size_t kMessageLines = 24;

Row row(const std::string& family, const Tally& t, double seconds) {
  const auto n = [](std::uint64_t x) { return std::to_string(x); };
  return {family,
          n(t.planned),
          n(t.passed),
          n(t.failed),
          n(t.waived),
          n(t.not_applicable),
          n(t.not_run),
          n(t.cases),
          fmt::format("{:.3f}", t.budget),
          fmt::format("{:.1f}", seconds)};
}

std::string indented(const std::string& text) {
  std::string out;
  std::size_t lines = 0, at = 0;
  while (at < text.size()) {
    const auto end = std::min(text.find('\n', at), text.size());
    if (++lines > kMessageLines)
      return out + "      ... (all of it is in the log and the passport)\n";
    out += "      " + text.substr(at, end - at) + "\n";
    at = end + 1;
  }
  return out;
}

// Why a suite ran no property, if the reason is the same for all.
std::string one_reason(const SuiteResult& s) {
  const auto& records = s.ledger.records();
  if (records.size() < 2) return {};
  for (const Record& r : records) {
    if (r.verdict != Verdict::kNotRun || r.reason != records.front().reason) return {};
  }
  return records.front().reason;
}

bool same_cause(const Record& a, const Record& b) {
  if (a.verdict != b.verdict || a.reason != b.reason) return false;
  // For a property that did not run, the reason is the whole explanation.
  if (a.verdict == Verdict::kNotRun) return true;
  const std::string cause = cause_of(a.reason, a.message);
  return a.verdict == Verdict::kFail && !cause.empty() && cause == cause_of(b.reason, b.message);
}

// The first message of the simulated GPU in the log: it explains more than a CUDA error can.
std::string explanation(const std::string& log) {
  constexpr std::string_view kSays = "lockstep: ";
  std::ifstream in(log);
  for (std::string line; std::getline(in, line);) {
    if (line.starts_with(kSays)) return line.substr(kSays.size());
  }
  return {};
}

}  // namespace

std::vector<std::string> RunReport::problems() const {
  std::vector<std::string> out;
  if (suites.empty() && partial.empty()) out.push_back("no suite was run");
  if (!partial.empty()) {
    out.push_back(not_begun.empty() ? "the run was " + partial
                                    : fmt::format("the run was {}: {} did not begin", partial,
                                                  fmt::join(not_begun, ", ")));
  }
  for (const SuiteResult& s : suites) {
    for (const std::string& p : s.problems) out.push_back(fmt::format("{}: {}", s.suite.family, p));
  }
  // Verdicts of different devices must not be in one passport.
  const SuiteResult* first = nullptr;
  for (const SuiteResult& s : suites) {
    if (s.file.device.empty()) continue;
    if (first == nullptr) first = &s;
    if (s.file.device != first->file.device) {
      out.push_back(
          fmt::format("{} and {} ran on different devices", first->suite.family, s.suite.family));
    }
  }
  return out;
}

void add(Tally& sum, const Tally& t) {
  sum.planned += t.planned;
  sum.passed += t.passed;
  sum.failed += t.failed;
  sum.waived += t.waived;
  sum.not_applicable += t.not_applicable;
  sum.not_run += t.not_run;
  sum.cases += t.cases;
  sum.budget = std::max(sum.budget, t.budget);
  sum.seconds += t.seconds;
}

Tally total(const std::vector<SuiteResult>& suites) {
  Tally sum;
  for (const SuiteResult& s : suites) add(sum, s.ledger.tally());
  return sum;
}

std::string table(const std::vector<SuiteResult>& suites) {
  std::vector<SuiteSum> sums;
  for (const SuiteResult& s : suites)
    sums.push_back({s.suite.family, s.ledger.tally(), s.end.seconds});
  return table(sums);
}

std::string table(const std::vector<SuiteSum>& sums) {
  std::vector<Row> rows = {{"family", "planned", "pass", "fail", "waived", "not applicable",
                            "not run", "cases", "budget", "seconds"}};
  SuiteSum all = {"all", {}, 0};
  for (const SuiteSum& s : sums) {
    rows.push_back(row(s.family, s.tally, s.seconds));
    add(all.tally, s.tally);
    all.seconds += s.seconds;
  }
  if (sums.size() > 1) rows.push_back(row(all.family, all.tally, all.seconds));
  std::array<std::size_t, std::tuple_size_v<Row>> widths{};
  for (const Row& r : rows) {
    for (std::size_t i = 0; i < r.size(); ++i) widths[i] = std::max(widths[i], r[i].size());
  }
  std::string out;
  for (std::size_t n = 0; n < rows.size(); ++n) {
    const bool sum = sums.size() > 1 && n + 1 == rows.size();
    std::string line = fmt::format("{:<{}}", rows[n][0], widths[0]);
    for (std::size_t i = 1; i < rows[n].size(); ++i)
      line += fmt::format("  {:>{}}", rows[n][i], widths[i]);
    if (sum) out += std::string(line.size(), '-') + "\n";
    out += line + "\n";
    if (n == 0) out += std::string(line.size(), '-') + "\n";
  }
  return out;
}

std::string failures(const std::vector<SuiteResult>& suites, const Paint& paint) {
  std::string out, before;
  for (const SuiteResult& s : suites) {
    if (s.green()) continue;
    out += fmt::format("\n{}: {}; its log is {}\n", s.suite.family, paint.bad("not green"), s.log);
    if (const std::string reason = one_reason(s); !reason.empty()) {
      const std::string why = explanation(s.log);
      std::string all = reason + (why.empty() ? "" : "\n    " + why);
      out += fmt::format("  none of its {} properties ran: {}\n", s.ledger.records().size(),
                         all == before ? "the same reason" : all);
      before = std::move(all);
      continue;
    }
    const auto& records = s.ledger.records();
    std::set<std::string> listed;
    for (const Record& r : records) {
      if (problem_of(r).empty() || listed.contains(r.property)) continue;
      out += fmt::format("  {}\n", paint.bad(problem_of(r)));
      out += indented(r.message);
      if (!r.minimal_case.empty()) out += fmt::format("    minimal case: {}\n", r.minimal_case);
      if (!r.replay.empty()) out += fmt::format("    replay: {}\n", r.replay);
      for (const Record& other : records) {
        if (other.property == r.property || listed.contains(other.property) ||
            !same_cause(r, other))
          continue;
        listed.insert(other.property);
        out += fmt::format("    also: {}\n", other.property);
        if (!other.replay.empty()) out += fmt::format("      {}\n", other.replay);
      }
      listed.insert(r.property);
    }
    for (const std::string& problem : s.problems) {
      const auto already_reported = [&](const Record& r) { return problem_of(r) == problem; };
      if (std::none_of(s.ledger.records().begin(), s.ledger.records().end(), already_reported))
        out += fmt::format("  {}\n", problem);
    }
  }
  return out;
}

}  // namespace lockstep
