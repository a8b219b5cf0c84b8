// Runs a suite in one process after another, until every property has a verdict of its own. The
// ledger records how far each process got.
//
// A sticky CUDA error, a crash or a hang ends the process. It must affect only the property in
// which it happened: the properties after it run in a new process.
#pragma once

#include <filesystem>
#include <functional>
#include <string>
#include <vector>

#include "harness/conform/subprocess.h"
#include "harness/conform/suite_result.h"
#include "harness/conform/suites.h"
#include "harness/ledger/ledger_file.h"

namespace lockstep {

// The progress of a suite, for display.
struct SuiteProgress {
  std::size_t done = 0, planned = 0;  // properties
  std::string running;                // the running property; empty before the first
  double seconds = 0;                 // since the suite began
};

struct SuiteProcesses {
  Command command;                // the first process, without --ledger and the log
  std::filesystem::path ledgers;  // existing folder for <family>.json, <family>.2.json, ...
  std::filesystem::path logs;     // existing folder for <family>.log, <family>.2.log, ...
  double property_limit = 300;    // the most seconds for one property
};

// The properties that a process left without a verdict of their own and that a new process can run,
// in the order of the plan. `died`: the process ended early; the property that ran then has failed
// and is not repeated.
std::vector<std::string> left_over(const LedgerFile& file, bool died);

// Adds to the ledger of the first process the verdicts of a later process, which ran the properties
// of left_over().
void add_later(LedgerFile& whole, const LedgerFile& later);

// Runs the suite in processes as needed. Calls `tick` about every 100 ms. First removes ledgers and
// logs of an earlier run of the suite.
SuiteResult run_in_processes(const Suite& suite, const SuiteProcesses& processes,
                             const std::function<void(const SuiteProgress&)>& tick = {});

}  // namespace lockstep
