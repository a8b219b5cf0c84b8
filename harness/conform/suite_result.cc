#include "harness/conform/suite_result.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

namespace lockstep {
namespace {

void add(std::vector<std::string>& problems, const std::string& problem) {
  if (std::find(problems.begin(), problems.end(), problem) == problems.end())
    problems.push_back(problem);
}

}  // namespace

SuiteResult assess(Suite suite, ProcessEnd end, LedgerFile file, const std::string& ledger_error) {
  SuiteResult r;
  r.suite = std::move(suite);
  r.end = std::move(end);
  r.file = std::move(file);
  if (!ledger_error.empty()) {
    add(r.problems,
        fmt::format("{} left no ledger ({}): {}", r.suite.family, r.end.describe(), ledger_error));
    return r;
  }
  for (const std::string& property : r.file.planned) r.ledger.plan(property);
  for (const Record& record : r.file.records) r.ledger.record(record);
  if (!r.file.complete) {
    for (const std::string& property : r.ledger.open()) {
      Record record;
      record.property = property;
      record.reason =
          property == r.file.running
              ? fmt::format("the process ended while it ran: {}", r.end.describe())
              : fmt::format("never reached; the process ended before: {}", r.end.describe());
      r.ledger.record(std::move(record));
    }
    add(r.problems, fmt::format("{} ended before its end: {}", r.suite.family, r.end.describe()));
  }
  for (const std::string& problem : r.ledger.problems()) add(r.problems, problem);
  for (const std::string& problem : r.file.problems) add(r.problems, problem);
  if (!r.end.succeeded() && r.problems.empty()) {
    add(r.problems, fmt::format("{} ended with {} although its ledger closes", r.suite.family,
                                r.end.describe()));
  }
  if (r.end.succeeded() && !r.problems.empty()) {
    add(r.problems, fmt::format("{} ended with exit status 0 although its ledger does not close",
                                r.suite.family));
  }
  return r;
}

}  // namespace lockstep
