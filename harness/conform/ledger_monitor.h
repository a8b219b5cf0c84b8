// Runs a suite in one process after another, until every property has a verdict of its own. The
// ledger shows how far each process came.
//
// A sticky CUDA error, a crash or a hang ends the process. It must cost only the property in which
// it happened: the properties after it run in a new process.
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

// How far a suite is, for people.
struct SuiteProgress {
  std::size_t done = 0, planned = 0;  // properties
  std::string running;                // a property; empty before the first
  double seconds = 0;                 // since the suite began
};

struct SuiteProcesses {
  Command command;  // of the first process, but for --ledger and the log
  std::filesystem::path
      ledgers;                  // folder for <family>.json, <family>.2.json, ...; it must be there
  std::filesystem::path logs;   // and for <family>.log, <family>.2.log, ...
  double property_limit = 300;  // seconds that one property may take
};

// The properties that a process left without a verdict of their own and that a new one can run: in
// the order of the plan. `died` says that the process did not reach its end: the property that ran
// then is the one it cost.
std::vector<std::string> left_over(const LedgerFile& file, bool died);

// Puts the verdicts of a later process, which ran what `left_over` named, into the ledger of the
// first.
void add_later(LedgerFile& whole, const LedgerFile& later);

// Calls `tick` about every 100 ms. Ledgers and logs of an earlier run of the suite are removed.
SuiteResult run_in_processes(const Suite& suite, const SuiteProcesses& processes,
                             const std::function<void(const SuiteProgress&)>& tick = {});

}  // namespace lockstep
