// Repeats the suites, each run with its own random seeds, until a run is not green. This measures
// how often the suites fail without a defect.
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
  int green = 0;                 // completed runs with all suites green
  std::vector<SuiteSum> sums;    // per suite, over all completed runs
  std::vector<SuiteResult> red;  // the results that ended the repetition
  std::string error;             // a sentence, if a folder could not be made
  bool all_green() const { return error.empty() && red.empty() && green == planned; }
};

// Run k (from 1) has the seed options.random_seed + k - 1 and writes ledgers and logs to
// out/runs/<k>. Up to `jobs` suites run at the same time, in the order of the runs. After the first
// suite that is not green, no suite starts. Calls `green_run` for each green run, one call at a
// time.
RepeatedRuns repeat_suites(const std::vector<Suite>& suites, const SuiteOptions& options, int runs,
                           int jobs, const std::filesystem::path& out,
                           const std::function<void(int run, const Tally& tally)>& green_run);

}  // namespace lockstep
