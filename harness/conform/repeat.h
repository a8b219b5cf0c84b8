// Repeats the suites, each run with random seeds of its own, until a run is not green. It measures
// how often the suites raise a false alarm.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <string>
#include <vector>

#include "harness/conform/suite_run.h"
#include "harness/report/run_report.h"

namespace lockstep {

struct RepeatedRuns {
  int planned = 0;
  int green = 0;                 // runs that came to their end, all suites green
  std::vector<SuiteSum> sums;    // a suite each, over all its runs that came to their end
  std::vector<SuiteResult> red;  // what stopped it
  std::string error;             // a sentence, when a folder could not be made
  bool all_green() const { return error.empty() && red.empty() && green == planned; }
};

// Run k (from 1) takes options.random_seed + k - 1 and leaves ledgers and logs in out/runs/<k>.
// `jobs` suites run at the same time, those of one run before those of the next; after the first
// that is not green none is begun any more. Calls `green_run` for each run that ends green, one at
// a time.
RepeatedRuns repeat_suites(const std::vector<Suite>& suites, const SuiteOptions& options, int runs,
                           int jobs, const std::filesystem::path& out,
                           const std::function<void(int run, const Tally& tally)>& green_run);

}  // namespace lockstep
