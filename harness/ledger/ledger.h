// The ledger: the planned properties, and the verdict of each.
//
// A run is green only if the ledger closes: every planned property has exactly one verdict, none
// failed, none is NOT_RUN, and at least one was planned. A property that is recorded twice, or was
// never planned, is an error.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "harness/ledger/verdict.h"

namespace lockstep {

// The record of one property.
struct Record {
  std::string property;  // "Stencil.MatchesItsReference"
  Verdict verdict = Verdict::kNotRun;
  // FAIL: label; NOT_APPLICABLE: the capability clause and the device's value; NOT_RUN: why;
  // WAIVED: url, expiry.
  std::string reason;
  std::uint64_t cases = 0;  // generated cases that ran
  double budget = 0;        // largest error/bound; 0: nothing was compared with a bound
  double seconds = 0;
  std::uint64_t seed = 0;
  std::string minimal_case;  // of a failure: text of the smallest case found
  std::string replay;        // of a failure: one line that runs exactly that case
  std::string message;
  std::map<std::string, std::string> notes;  // output digests and the like
};

// A sentence that describes the problem; empty unless the property failed or did not run.
std::string problem_of(const Record& record);

struct Tally {
  std::uint64_t planned = 0, passed = 0, failed = 0, waived = 0, not_applicable = 0, not_run = 0,
                cases = 0;
  double budget = 0, seconds = 0;
};

class Ledger {
 public:
  void plan(std::string property);
  // Records the verdict of a planned property. A second or unplanned record is an error of the
  // ledger.
  void record(Record record);
  const std::vector<Record>& records() const { return records_; }
  // Planned properties without a record.
  std::vector<std::string> open() const;
  Tally tally() const;  // counts properties without a record as NOT_RUN
  // Empty if the ledger closes and all is green; otherwise one sentence per problem.
  std::vector<std::string> problems() const;
  bool green() const { return problems().empty(); }

 private:
  std::map<std::string, int> planned_;
  std::vector<Record> records_;
  std::vector<std::string> errors_;
};

}  // namespace lockstep
