// The output of a run: a line when a suite ends and, on a terminal, a status line of the running
// suites.
#pragma once

#include <cstddef>
#include <map>
#include <mutex>
#include <string>

#include "harness/conform/ledger_monitor.h"
#include "harness/conform/suite_result.h"
#include "harness/conform/target.h"
#include "harness/report/run_report.h"

namespace lockstep {

// Colours if stdout is a terminal with colours and NO_COLOR is unset (no-color.org).
Paint paint_of_stdout();

class Progress {
 public:
  Progress(std::size_t suites, bool several_targets);

  void tick(const Target& target, const Suite& suite, const SuiteProgress& p);
  // Prints the result of the suite with this number, from 1.
  void end(const Target& target, std::size_t number, const SuiteResult& r);

 private:
  std::string label(const Target& target, const Suite& suite) const;

  std::size_t suites_;
  bool several_, live_;
  Paint paint_;
  std::mutex mutex_;
  std::map<std::string, std::string> running_;
};

}  // namespace lockstep
