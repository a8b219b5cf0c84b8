// Connects GoogleTest and the ledger: plans the properties of a run, gives every test exactly one
// verdict, and summarises the run.
//
// Some red verdicts are unknown to GoogleTest: a skip without a capability, or a property that ran
// no case. The recorder makes them failures in GoogleTest as well, so that its output and its XML
// never look better than the ledger.
#pragma once

#include <gtest/gtest.h>

#include <chrono>
#include <string>
#include <vector>

#include "harness/ledger/ledger.h"
#include "harness/ledger/ledger_file.h"
#include "harness/ledger/waivers.h"

namespace lockstep {

struct RecorderOptions {
  std::vector<std::string> ledger_paths;  // the ledger files, rewritten at each change
  std::vector<Waiver> waivers;
  std::string today = today_utc();  // the date for the waivers
  std::string blocked;  // a sentence: why nothing may run (no GPU); every property is then NOT_RUN
  bool replaying = false;  // --case: the property that runs must use the case
  bool sharded = false;
  bool expects_kernels = false;  // LOCKSTEP_EXPECT_KERNELS=1
  std::string device;            // recorded with each property
};

// The result of a test's body and GoogleTest's view of it, from which judge() makes one verdict.
// judge() is a pure function, so that each rule can be tested.
struct TestOutcome {
  bool failed = false, skipped = false;  // GoogleTest's result
  std::string failure_text, skip_text;   // its messages
  std::string finding;                   // kind of the first finding that no case has taken
  std::string finding_text;
};
Record judge(Record record, const TestOutcome& outcome, bool replaying);

class Recorder : public ::testing::EmptyTestEventListener {
 public:
  Recorder(LedgerFile header, RecorderOptions options);

  void OnTestProgramStart(const ::testing::UnitTest& program) override;
  void OnTestStart(const ::testing::TestInfo& test) override;
  void OnTestEnd(const ::testing::TestInfo& test) override;

  // Call after RUN_ALL_TESTS, with its return value `gtest_result`. Closes and writes the ledger.
  // Returns the problems; none: green.
  std::vector<std::string> close(const ::testing::UnitTest& program, int gtest_result);
  const Ledger& ledger() const { return ledger_; }
  // The number of properties that the filter selects, in any shard.
  int selected_anywhere() const { return selected_; }

 private:
  void write();

  LedgerFile file_;
  GrowingLedger text_;  // of file_
  RecorderOptions options_;
  Ledger ledger_;
  std::vector<std::string> write_errors_;
  std::chrono::steady_clock::time_point started_;
  int registered_ = 0, selected_ = 0;
  unsigned long long launches_before_ = 0;  // of the running property
  bool kernels_ran_ = false;
};

// "[ LEDGER ] 12 planned: 12 pass, 0 fail, 0 waived, 0 not applicable, 0 not run; 2400 cases,
// largest budget 0.81, 3.2 s"
std::string summary_line(const Tally& tally);
// Verdict, reason, minimal case and replay line of each record that is not a pass, for display.
std::string details(const std::vector<Record>& records);

}  // namespace lockstep
