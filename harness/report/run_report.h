// The results of a run of several suites: a table for display, a passport for programs
// (docs/reference/passport.md), and JUnit XML for CI servers.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "harness/conform/suite_result.h"

namespace lockstep {

inline constexpr int kPassportSchema = 2;

struct RunReport {
  std::string commit;         // hash of the built tree; empty: unknown
  bool modified = false;      // whether the tree had changes beyond that commit
  std::string created;        // "2026-11-21T11:30:00Z"
  int driver_version = 0;     // of NVIDIA's driver, 13000: CUDA 13.0; 0: the simulated GPU
  std::string driver_module;  // version of its kernel module, "580.65.06"; empty: unknown
  // The options of the command line: "cases", "seed", "device", "suites"; only those given.
  std::map<std::string, std::string> options;
  std::vector<SuiteResult> suites;
  double seconds = 0;
  std::string partial;  // why the run ended early: "interrupted by SIGINT"; empty: it did not
  std::vector<std::string> not_begun;  // suites that did not begin, if it ended early

  // The problems of the suites and of the run as a whole: no suite ran, or suites ran on different
  // devices. Empty: green.
  std::vector<std::string> problems() const;
};

// A row of the table: a suite, or several runs of it.
struct SuiteSum {
  std::string family;
  Tally tally;
  double seconds = 0;  // of the suite's processes
};

// Adds counts and seconds; keeps the larger budget.
void add(Tally& sum, const Tally& t);
Tally total(const std::vector<SuiteResult>& suites);

// One row per suite and, if there are several, a row of totals. The columns: planned, pass, fail,
// waived, not applicable, not run, cases, the largest budget, seconds.
std::string table(const std::vector<SuiteSum>& sums);
std::string table(const std::vector<SuiteResult>& suites);

// Highlights words on a terminal with colours.
struct Paint {
  bool on = false;
  std::string good(const std::string& text) const {
    return on ? "\x1b[32m" + text + "\x1b[0m" : text;
  }
  std::string bad(const std::string& text) const {
    return on ? "\x1b[1;31m" + text + "\x1b[0m" : text;
  }
};

// For every suite that is not green: its problems, and the message, minimal case and replay line of
// each failure. Failures with one cause (cause.h) are printed once, with the replay lines of the
// others. If one reason kept a whole suite from running, the suite has one line with the simulated
// GPU's explanation.
std::string failures(const std::vector<SuiteResult>& suites, const Paint& paint = {});

std::string passport_json(const RunReport& report);
std::string junit_xml(const RunReport& report);

}  // namespace lockstep
