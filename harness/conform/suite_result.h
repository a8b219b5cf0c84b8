// The result of one suite: its program's exit status joined with the ledger that it left.
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
  std::string log;  // file with what the program printed
  LedgerFile file;  // as the program left it; only its device and seed matter beside `ledger`
  Ledger ledger;    // planned by the program, open properties recorded as NOT_RUN
  std::vector<std::string> problems;  // empty: green

  bool green() const { return problems.empty(); }
};

// `ledger_error` is a sentence when the program left no readable ledger. The program's word that
// all is well is not taken: the ledger is closed again here, and must agree with the exit status.
SuiteResult assess(Suite suite, ProcessEnd end, LedgerFile file, const std::string& ledger_error);

}  // namespace lockstep
