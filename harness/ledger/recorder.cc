#include "harness/ledger/recorder.h"

#include <fmt/format.h>

#include <cstddef>
#include <utility>

#include "harness/device/device.h"
#include "harness/device/gpu_policy.h"
#include "harness/ledger/exit_guard.h"
#include "harness/ledger/selection.h"
#include "harness/ledger/session.h"
#include "harness/property/replay.h"

namespace lockstep {
namespace {

std::string full_name(const ::testing::TestInfo& test) {
  return fmt::format("{}.{}", test.test_suite_name(), test.name());
}

// GoogleTest's rule for tests that it never runs on its own.
bool is_disabled(const ::testing::TestInfo& test) {
  return std::string_view(test.name()).starts_with("DISABLED_") ||
         std::string_view(test.test_suite_name()).find("DISABLED_") != std::string_view::npos;
}

std::string texts(const ::testing::TestResult& result,
                  bool (::testing::TestPartResult::*wanted)() const) {
  std::string text;
  for (int i = 0; i < result.total_part_count(); ++i) {
    const ::testing::TestPartResult& part = result.GetTestPartResult(i);
    if ((part.*wanted)()) text += fmt::format("{}{}", text.empty() ? "" : "\n", part.message());
  }
  return text;
}

bool is_red(Verdict v) { return v == Verdict::kFail || v == Verdict::kNotRun; }

Record red(Record record, Verdict verdict, std::string reason, const std::string& message) {
  record.verdict = verdict;
  record.reason = std::move(reason);
  if (!message.empty()) record.message += (record.message.empty() ? "" : "\n") + message;
  return record;
}

}  // namespace

Record judge(Record r, const TestOutcome& outcome, bool replaying) {
  // A property completes its record; a plain TEST leaves it open.
  const bool plain = r.verdict == Verdict::kNotRun && r.reason.empty();
  if (!outcome.finding.empty() && r.verdict != Verdict::kFail) {
    return red(std::move(r), Verdict::kFail, "finding:" + outcome.finding, outcome.finding_text);
  }
  if (plain) {
    if (outcome.failed)
      return red(std::move(r), Verdict::kFail, name(Reason::kExpectation), outcome.failure_text);
    if (outcome.skipped) {
      return red(std::move(r), Verdict::kNotRun,
                 fmt::format("GTEST_SKIP: {} (a capability that the device lacks is declared with "
                             "require_capability)",
                             outcome.skip_text.empty() ? "no reason given" : outcome.skip_text),
                 "");
    }
    if (replaying)
      return red(std::move(r), Verdict::kNotRun, "it takes no --case, as it generates none", "");
    r.verdict = Verdict::kPass;
    return r;
  }
  if (r.verdict == Verdict::kPass || r.verdict == Verdict::kNotApplicable) {
    if (outcome.failed)
      return red(std::move(r), Verdict::kFail, name(Reason::kExpectation), outcome.failure_text);
  }
  if (r.verdict == Verdict::kPass) {
    if (outcome.skipped)
      return red(std::move(r), Verdict::kNotRun,
                 "GTEST_SKIP inside a property: " + outcome.skip_text, "");
    if (r.cases == 0)
      return red(std::move(r), Verdict::kNotRun, "not one generated case ran to its end", "");
    if (replaying && r.cases != 1) {
      return red(std::move(r), Verdict::kNotRun,
                 fmt::format("it ran {} cases in place of the one that --case names", r.cases), "");
    }
  }
  if (r.verdict == Verdict::kFail && !r.minimal_case.empty() && r.replay.empty())
    r.replay = replay_line(r.property, r.minimal_case);
  return r;
}

Recorder::Recorder(LedgerFile header, RecorderOptions options)
    : file_(std::move(header)), options_(std::move(options)) {}

void Recorder::OnTestProgramStart(const ::testing::UnitTest& program) {
  const std::string filter = GTEST_FLAG_GET(filter);
  std::vector<std::string> disabled;
  for (int s = 0; s < program.total_test_suite_count(); ++s) {
    const ::testing::TestSuite& suite = *program.GetTestSuite(s);
    for (int t = 0; t < suite.total_test_count(); ++t) {
      const ::testing::TestInfo& test = *suite.GetTestInfo(t);
      const std::string property = full_name(test);
      const bool matches = filter_selects(filter, property);
      ++registered_;
      selected_ += matches;
      if (test.should_run()) {
        ledger_.plan(property);
        file_.planned.push_back(property);
      } else if (matches && is_disabled(test) && !options_.replaying) {
        disabled.push_back(property);
      } else if (matches && !options_.sharded) {
        write_errors_.push_back(fmt::format(
            "{} is selected by the filter '{}' but GoogleTest will not run it", property, filter));
      }
    }
  }
  // Disabled tests belong to no shard, so every shard reports them.
  for (const std::string& property : disabled) {
    ledger_.plan(property);
    file_.planned.push_back(property);
    Record r;
    r.property = property;
    r.reason =
        "DISABLED_ in the source: a test that never runs proves nothing; mend it, waive it, or "
        "delete it";
    ledger_.record(r);
  }
  write();
}

void Recorder::OnTestStart(const ::testing::TestInfo& test) {
  const std::string property = full_name(test);
  exit_guard::running(property);
  begin_property(property);
  started_ = std::chrono::steady_clock::now();
  launches_before_ = kernel_launches().value_or(0);
  file_.running = property;
  write();
  if (!options_.blocked.empty()) {
    current_record().reason = options_.blocked.substr(
        0, options_.blocked.find(". "));  // without the advice, which was printed once
    // A fatal failure here keeps GoogleTest from running the body.
    GTEST_FATAL_FAILURE_("Not run: see above.");
  }
  // A property detects a lost device itself; a plain TEST would report it as its own failure.
  if (!device_lost().empty()) {
    current_record().reason = std::string(kDeviceLostAfter) + device_lost();
    GTEST_FATAL_FAILURE_("Not run: the device is lost.");
  }
}

void Recorder::OnTestEnd(const ::testing::TestInfo& test) {
  const ::testing::TestResult& result = *test.result();
  TestOutcome outcome;
  outcome.failed = result.Failed();
  outcome.skipped = result.Skipped();
  outcome.failure_text = texts(result, &::testing::TestPartResult::failed);
  outcome.skip_text = texts(result, &::testing::TestPartResult::skipped);
  for (const ReportedFinding& f : take_findings()) {
    if (outcome.finding.empty()) outcome.finding = f.kind;
    outcome.finding_text += (outcome.finding_text.empty() ? "" : "\n") + f.text;
  }

  Record r = end_property();
  // GoogleTest skips all tests after the first failure, without a reason.
  if (outcome.skipped && outcome.skip_text.empty() && GTEST_FLAG_GET(fail_fast) && r.reason.empty())
    r.reason = "not reached: the program ends with the first failure";
  r = judge(std::move(r), outcome, options_.replaying);
  if (const auto launches = kernel_launches()) {
    // A smaller number: the property has reset the counters.
    const auto by_property =
        *launches >= launches_before_ ? *launches - launches_before_ : *launches;
    kernels_ran_ = kernels_ran_ || by_property > 0;
    r.notes["kernel_launches"] = std::to_string(by_property);
  }
  // "./properties/stencil.cc" in builds that compile all sources as one.
  const std::string_view file = test.file();
  r.notes["source"] =
      fmt::format("{}:{}", file.starts_with("./") ? file.substr(2) : file, test.line());
  r.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - started_).count();
  r = apply_waivers(std::move(r), options_.waivers, options_.today);
  if (is_red(r.verdict) && !outcome.failed) {
    ADD_FAILURE() << r.property << ": " << name(r.verdict) << ": " << r.reason
                  << (r.message.empty() ? "" : "\n") << r.message;
  }
  ::testing::Test::RecordProperty("verdict", name(r.verdict));
  if (!options_.device.empty()) ::testing::Test::RecordProperty("device", options_.device);
  ledger_.record(std::move(r));
  exit_guard::running("");
  file_.running.clear();
  write();
}

std::vector<std::string> Recorder::close(const ::testing::UnitTest& program, int gtest_result) {
  std::vector<std::string> problems = ledger_.problems();
  if (ledger_.tally().planned == 0) {
    // Some shards are empty if there are more shards than properties. A filter must still match a
    // property in some shard.
    problems.clear();
    if (registered_ == 0) problems.push_back("the program has no properties");
    if (registered_ > 0 && selected_ == 0) {
      problems.push_back(fmt::format("filter '{}' matches none of {} properties",
                                     GTEST_FLAG_GET(filter), registered_));
    } else if (registered_ > 0 && !options_.sharded) {
      problems.push_back("no property was planned");
    }
  }
  bool red_record = false;
  for (const Record& r : ledger_.records())
    red_record = red_record || is_red(r.verdict) || r.verdict == Verdict::kWaived;
  bool outside = program.ad_hoc_test_result().Failed();
  for (int s = 0; s < program.total_test_suite_count(); ++s)
    outside = outside || program.GetTestSuite(s)->ad_hoc_test_result().Failed();
  if (outside || (gtest_result != 0 && !red_record)) {
    problems.push_back(
        "GoogleTest failed outside of every property (an environment, or a suite's set-up or "
        "tear-down)");
  }
  const Tally tally = ledger_.tally();
  // If the device lacks a capability, the properties that remain may launch no kernel.
  const bool nothing_for_the_device = tally.not_applicable > 0 && tally.cases == 0;
  if (options_.expects_kernels && tally.passed > 0 && !nothing_for_the_device &&
      kernel_launches() && !kernels_ran_) {
    problems.push_back(
        "not one kernel was launched, although the program's properties are about kernels "
        "(LOCKSTEP_EXPECT_KERNELS=1)");
  }
  problems.insert(problems.end(), write_errors_.begin(), write_errors_.end());
  file_.complete = true;
  file_.problems = problems;
  write_errors_.clear();
  write();
  problems.insert(problems.end(), write_errors_.begin(), write_errors_.end());
  return problems;
}

void Recorder::write() {
  const std::vector<Record>& records = ledger_.records();
  file_.records.insert(file_.records.end(),
                       records.begin() + static_cast<std::ptrdiff_t>(file_.records.size()),
                       records.end());
  if (options_.ledger_paths.empty()) return;
  const std::string text = text_.text(file_);
  for (const std::string& path : options_.ledger_paths) {
    std::string error = write_ledger(path, text);
    // Later errors would repeat the first.
    if (!error.empty() && write_errors_.empty()) write_errors_.push_back(std::move(error));
  }
}

std::string summary_line(const Tally& t) {
  return fmt::format(
      "[ LEDGER ] {} planned: {} pass, {} fail, {} waived, {} not applicable, {} not run; {} "
      "cases, largest budget {:.3g}, {:.1f} s",
      t.planned, t.passed, t.failed, t.waived, t.not_applicable, t.not_run, t.cases, t.budget,
      t.seconds);
}

std::string details(const std::vector<Record>& records) {
  std::string out;
  for (const Record& r : records) {
    if (r.verdict == Verdict::kPass) continue;
    out += fmt::format("[ LEDGER ] {}: {}: {}\n", r.property, name(r.verdict), r.reason);
    if (!r.minimal_case.empty()) out += fmt::format("    minimal case: {}\n", r.minimal_case);
    if (!r.replay.empty()) out += fmt::format("    replay: {}\n", r.replay);
  }
  return out;
}

}  // namespace lockstep
