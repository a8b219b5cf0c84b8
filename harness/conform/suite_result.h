// The result of one suite, from its program's exit status and its ledger.
#pragma once

#include <string>
#include <vector>

#include "harness/conform/subprocess.h"
#include "harness/conform/suites.h"
#include "harness/ledger/ledger.h"
#include "harness/ledger/ledger_file.h"

namespace lockstep {

struct SuiteResult {
  Suite suite;
  ProcessEnd end;
  std::string log;  // file with the program's output
  LedgerFile file;  // as the program wrote it; beside `ledger`, only its device and seed are used
  Ledger ledger;    // planned by the program; open properties are NOT_RUN
  std::vector<std::string> problems;  // empty: green

  bool green() const { return problems.empty(); }
};

// Judges a suite. `ledger_error` is a sentence if the program left no readable ledger. The
// program's own verdict does not suffice: the ledger is closed again here, and must agree with the
// exit status.
SuiteResult assess(Suite suite, ProcessEnd end, LedgerFile file, const std::string& ledger_error);

}  // namespace lockstep
