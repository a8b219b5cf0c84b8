#include "harness/ledger/ledger.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <set>
#include <utility>

namespace lockstep {
namespace {

// Every verdict but PASS needs an explanation: a skip or failure without one cannot be judged.
bool needs_reason(Verdict v) { return v != Verdict::kPass; }

std::set<std::string> recorded_names(const std::vector<Record>& records) {
  std::set<std::string> names;
  for (const Record& r : records) names.insert(r.property);
  return names;
}

}  // namespace

std::string problem_of(const Record& r) {
  if (r.verdict == Verdict::kFail) return fmt::format("{} failed: {}", r.property, r.reason);
  if (r.verdict == Verdict::kNotRun)
    return fmt::format("{} did not run to its end: {}", r.property, r.reason);
  return "";
}

void Ledger::plan(std::string property) {
  if (property.empty()) {
    errors_.push_back("a property without a name was planned");
    return;
  }
  if (++planned_[property] == 2)
    errors_.push_back(fmt::format("{} was planned more than once", property));
}

void Ledger::record(Record record) {
  if (!planned_.contains(record.property)) {
    errors_.push_back(fmt::format("{} has the verdict '{}' but was never planned", record.property,
                                  name(record.verdict)));
    return;
  }
  const auto earlier = std::find_if(records_.begin(), records_.end(),
                                    [&](const Record& r) { return r.property == record.property; });
  if (earlier != records_.end()) {
    errors_.push_back(fmt::format("{} was recorded twice: '{}', then '{}'", record.property,
                                  name(earlier->verdict), name(record.verdict)));
    return;
  }
  if (needs_reason(record.verdict) && record.reason.empty()) {
    errors_.push_back(fmt::format("{} has the verdict '{}' without a reason", record.property,
                                  name(record.verdict)));
  }
  // A NaN budget must fail as well, and the comparison does.
  if (record.verdict == Verdict::kPass && !(record.budget >= 0 && record.budget <= 1)) {
    errors_.push_back(fmt::format("{} passed although it used {} of its error bound",
                                  record.property, record.budget));
  }
  records_.push_back(std::move(record));
}

std::vector<std::string> Ledger::open() const {
  const std::set<std::string> done = recorded_names(records_);
  std::vector<std::string> open;
  for (const auto& [property, times] : planned_) {
    if (!done.contains(property)) open.push_back(property);
  }
  return open;
}

Tally Ledger::tally() const {
  Tally t;
  t.planned = planned_.size();
  for (const Record& r : records_) {
    switch (r.verdict) {
      case Verdict::kPass: ++t.passed; break;
      case Verdict::kFail: ++t.failed; break;
      case Verdict::kWaived: ++t.waived; break;
      case Verdict::kNotApplicable: ++t.not_applicable; break;
      case Verdict::kNotRun: ++t.not_run; break;
    }
    t.cases += r.cases;
    t.seconds += r.seconds;
    if (r.budget > t.budget) t.budget = r.budget;
  }
  t.not_run += t.planned - records_.size();
  return t;
}

std::vector<std::string> Ledger::problems() const {
  std::vector<std::string> out = errors_;
  if (planned_.empty()) out.push_back("no property was planned");
  for (const Record& r : records_) {
    if (std::string problem = problem_of(r); !problem.empty()) out.push_back(std::move(problem));
  }
  for (const std::string& property : open())
    out.push_back(fmt::format("{} was planned but has no verdict", property));
  return out;
}

}  // namespace lockstep
