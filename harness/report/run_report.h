// What a run of several suites leaves: the table for people, the passport for machines
// (docs/reference/passport.md), JUnit for CI servers.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "harness/conform/suite_result.h"

namespace lockstep {

inline constexpr int kPassportSchema = 2;

struct RunReport {
  std::string commit;         // hash of the tree that was built; empty when unknown
  bool modified = false;      // and whether it had changes beyond that commit
  std::string created;        // "2026-11-21T11:30:00Z"
  int driver_version = 0;     // of NVIDIA's driver, 13000: CUDA 13.0; 0 on the simulated GPU
  std::string driver_module;  // and of its kernel module, "580.65.06"; empty when unknown
  // What the command line asked for: "cases", "seed", "device", "suites"; only what was given.
  std::map<std::string, std::string> options;
  std::vector<SuiteResult> suites;
  double seconds = 0;
  std::string partial;  // why it ended before its end: "interrupted by SIGINT"; empty: it did not
  std::vector<std::string> not_begun;  // suites that it did not come to, then

  // Of the suites, and of them together: none ran, or they ran on different devices. Empty means
  // green.
  std::vector<std::string> problems() const;
};

// A row of the table: a suite, or several runs of it.
struct SuiteSum {
  std::string family;
  Tally tally;
  double seconds = 0;  // of its processes
};

// Counts and seconds add up; of the budgets the larger one.
void add(Tally& sum, const Tally& t);
Tally total(const std::vector<SuiteResult>& suites);

// One row a suite and, with several, one of totals; columns are planned, pass, fail, waived, not
// applicable, not run, cases, the largest budget used and seconds.
std::string table(const std::vector<SuiteSum>& sums);
std::string table(const std::vector<SuiteResult>& suites);

// Words that stand out, where there is a terminal to show it.
struct Paint {
  bool on = false;
  std::string good(const std::string& text) const {
    return on ? "\x1b[32m" + text + "\x1b[0m" : text;
  }
  std::string bad(const std::string& text) const {
    return on ? "\x1b[1;31m" + text + "\x1b[0m" : text;
  }
};

// For every suite that is not green: its problems, and of each failure the message, the minimal
// case and the replay line. Failures of one cause (cause.h) are one, and the others are named with
// their replay lines. If one reason kept a whole suite from running, the suite has one line with
// the simulated GPU's explanation.
std::string failures(const std::vector<SuiteResult>& suites, const Paint& paint = {});

std::string passport_json(const RunReport& report);
std::string junit_xml(const RunReport& report);

}  // namespace lockstep
