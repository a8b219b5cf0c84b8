// Between GoogleTest and the ledger: plans what a run will execute, gives every test exactly one
// verdict, and sums the run up.
//
// Some red verdicts are none of GoogleTest's: a skip without a capability, a property that ran no
// case. They become failures there as well, so that its output and its XML never look better than
// the ledger.
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
  std::vector<std::string> ledger_paths;  // where the ledger is kept up to date
  std::vector<Waiver> waivers;
  std::string today = today_utc();  // for the waivers
  std::string blocked;  // a sentence why nothing may run (no GPU); every property then is NOT_RUN
  bool replaying = false;  // --case: the one property that runs must take it
  bool sharded = false;
  bool expects_kernels = false;  // LOCKSTEP_EXPECT_KERNELS=1
  std::string device;            // recorded with each property
};

// What a test's body left behind, and GoogleTest's view of it, joined to one verdict. Pure, so that
// each rule can be tested.
struct TestOutcome {
  bool failed = false, skipped = false;  // GoogleTest's result
  std::string failure_text, skip_text;   // its messages
  std::string finding;                   // kind of the first finding that nobody took
  std::string finding_text;
};
Record judge(Record record, const TestOutcome& outcome, bool replaying);

class Recorder : public ::testing::EmptyTestEventListener {
 public:
  Recorder(LedgerFile header, RecorderOptions options);

  void OnTestProgramStart(const ::testing::UnitTest& program) override;
  void OnTestStart(const ::testing::TestInfo& test) override;
  void OnTestEnd(const ::testing::TestInfo& test) override;

  // After RUN_ALL_TESTS, which returned `gtest_result`: closes the ledger, writes it, and returns
  // the problems, none when green.
  std::vector<std::string> close(const ::testing::UnitTest& program, int gtest_result);
  const Ledger& ledger() const { return ledger_; }
  // Properties that the filter selects, in this shard or another.
  int selected_anywhere() const { return selected_; }

 private:
  void write();

  LedgerFile file_;
  RecorderOptions options_;
  Ledger ledger_;
  std::vector<std::string> write_errors_;
  std::chrono::steady_clock::time_point started_;
  int registered_ = 0, selected_ = 0;
  unsigned long long launches_before_ = 0;  // of the property that runs
  bool kernels_ran_ = false;
};

// "[ LEDGER ] 12 planned: 12 pass, 0 fail, 0 waived, 0 not applicable, 0 not run; 2400 cases,
// largest budget 0.81, 3.2 s"
std::string summary_line(const Tally& tally);
// Verdict, reason, minimal case and replay line of each record that is not a pass, for people.
std::string details(const std::vector<Record>& records);

}  // namespace lockstep
