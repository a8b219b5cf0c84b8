#include "simulator/runtime/state/findings.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <nlohmann/json.hpp>

namespace lockstep::runtime {
namespace findings_test {

check::Finding sample() {
  check::Finding f;
  f.kind = check::Kind::kOutOfBounds;
  f.kernel = "stencil(float*, int)";
  f.space = "global";
  f.access.site.file = "stencil.cu";
  f.access.site.line = 41;
  f.access.site.ptx_line = 88;
  f.access.site.instruction = "st.global.f32";
  f.access.block = {1, 2, 3};
  f.access.thread = {4, 5, 6};
  f.access.address = 0x120000001000;
  f.access.size = 4;
  f.access.is_write = true;
  f.where = "4 bytes past the end of 'y'";
  f.detail = "the last block is partial";
  f.occurrences = 9;
  return f;
}

TEST(Findings, JsonHasEveryField) {
  check::Finding race = sample();
  race.kind = check::Kind::kRace;
  race.other = race.access;
  race.other->site.line = 57;
  const auto array = nlohmann::json::parse(to_json({sample(), race}));
  ASSERT_EQ(array.size(), 2u);
  const auto& f = array[0];
  EXPECT_EQ(f["kind"], "out-of-bounds");
  EXPECT_EQ(f["severity"], "error");
  EXPECT_EQ(f["kernel"], "stencil(float*, int)");
  EXPECT_EQ(f["space"], "global");
  EXPECT_EQ(f["block"], (std::vector<int>{1, 2, 3}));
  EXPECT_EQ(f["thread"], (std::vector<int>{4, 5, 6}));
  EXPECT_EQ(f["address"], 0x120000001000u);
  EXPECT_EQ(f["size"], 4);
  EXPECT_EQ(f["write"], true);
  EXPECT_EQ(f["file"], "stencil.cu");
  EXPECT_EQ(f["line"], 41);
  EXPECT_EQ(f["ptx_line"], 88);
  EXPECT_EQ(f["instruction"], "st.global.f32");
  EXPECT_EQ(f["where"], "4 bytes past the end of 'y'");
  EXPECT_EQ(f["detail"], "the last block is partial");
  EXPECT_EQ(f["occurrences"], 9);
  EXPECT_EQ(f["text"], sample().to_string());
  EXPECT_FALSE(f.contains("other"));
  EXPECT_EQ(array[1]["other"]["line"], 57);
}

TEST(Findings, NoneIsAnEmptyArray) { EXPECT_EQ(to_json({}), "[]"); }

TEST(Findings, BytesThatAreNoUtf8DoNotBreakTheJson) {
  check::Finding f = sample();
  f.where = "buffer '\xff\xfe'";
  EXPECT_TRUE(nlohmann::json::accept(to_json({f})));
}

TEST(FindingLog, TakingEmptiesItAndSatisfiesTheExitStatus) {
  FindingLog log;
  log.set_quiet(true);
  EXPECT_FALSE(log.errors_untaken());
  log.add({sample()});
  EXPECT_TRUE(log.errors_untaken());
  EXPECT_EQ(log.take().size(), 1u);
  EXPECT_FALSE(log.errors_untaken());
  EXPECT_TRUE(log.take().empty());
}

TEST(FindingLog, InformationIsNoError) {
  FindingLog log;
  log.set_quiet(true);
  check::Finding f = sample();
  f.severity = check::Severity::kInformation;
  log.add({f});
  EXPECT_FALSE(log.errors_untaken());
}

// It hides no error, before or after it, in one launch or in two.
TEST(FindingLog, InformationBesideAnErrorChangesNothing) {
  check::Finding information = sample();
  information.severity = check::Severity::kInformation;
  for (const std::vector<check::Finding>& both : {std::vector{information, sample()},
                                                  {sample(), information},
                                                  {information, sample(), information}}) {
    for (const bool one_launch : {true, false}) {
      FindingLog log;
      log.set_quiet(true);
      if (one_launch) {
        log.add(both);
      } else {
        for (const check::Finding& f : both) log.add({f});
      }
      EXPECT_TRUE(log.errors_untaken());
      // A suppressed error does not count as an error.
      FindingLog suppressed;
      suppressed.set_quiet(true);
      suppressed.add({sample()}, true);
      suppressed.add({information});
      EXPECT_FALSE(suppressed.errors_untaken());
    }
  }
}

TEST(FindingLog, PrintsUnlessQuiet) {
  FindingLog log;
  testing::internal::CaptureStderr();
  log.add({sample()});
  EXPECT_NE(testing::internal::GetCapturedStderr().find("4 bytes past the end of 'y'"),
            std::string::npos);
  EXPECT_FALSE(log.set_quiet(true));
  testing::internal::CaptureStderr();
  log.add({sample()});
  EXPECT_EQ(testing::internal::GetCapturedStderr(), "");
  EXPECT_TRUE(log.set_quiet(false));
}

check::Finding failed_call(std::uint64_t caller) {
  check::Finding f;
  f.kind = check::Kind::kApiError;
  f.call = "cudaMalloc";
  f.error = "cudaErrorMemoryAllocation";
  f.caller = reinterpret_cast<const void*>(caller);
  f.where = "cudaMalloc answered cudaErrorMemoryAllocation (out of memory)";
  return f;
}

TEST(FindingLog, CountsRepeatsWhenAsked) {
  FindingLog log;
  log.set_quiet(true);
  EXPECT_EQ(log.add({sample(), sample()}).size(), 2u) << "not asked";
  log.take();
  log.count_repeats();
  const auto first = log.add({sample(), sample()});
  ASSERT_EQ(first.size(), 1u);
  EXPECT_TRUE(log.add({sample()}).empty());
  check::Finding elsewhere = sample();
  elsewhere.access.site.line = 42;
  EXPECT_EQ(log.add({elsewhere}).size(), 1u);
  const auto changed = log.changed();
  ASSERT_EQ(changed.size(), 1u);
  EXPECT_EQ(changed[0].number, first[0].number);
  EXPECT_EQ(changed[0].finding.occurrences, 27u);
  log.take();
  EXPECT_EQ(log.add({sample()}).size(), 1u) << "what was taken is reported again";
}

TEST(FindingLog, WhatOneCallOfTheHostMeetsAgainIsCountedWhenAsked) {
  FindingLog log;
  log.set_quiet(true);
  check::Finding read;
  read.kind = check::Kind::kUninitialised;
  read.severity = check::Severity::kInformation;
  read.where =
      "cudaMemcpy copies 7 bytes to the host that nobody has written, the first 1 byte into "
      "cudaMalloc #1 (17 bytes)";
  const int places[2] = {};
  const auto of = [&](const int* caller) {
    check::Finding f = read;
    f.caller = caller;
    return f;
  };
  for (int i = 0; i < 2; ++i) EXPECT_EQ(log.add({of(&places[0])}).size(), 1u) << "not asked";
  log.take();
  log.count_repeats();
  EXPECT_EQ(log.add({of(&places[0])}).size(), 1u);
  read.where =
      "cudaMemcpy copies 7 bytes to the host that nobody has written, the first 1 byte into "
      "cudaMalloc #2 (17 bytes)";
  EXPECT_TRUE(log.add({of(&places[0])}).empty());
  EXPECT_EQ(log.add({of(&places[1])}).size(), 1u);
  for (int i = 0; i < 2; ++i)
    EXPECT_EQ(log.add({of(nullptr)}).size(), 1u) << "unknown places are not one place";
  ASSERT_EQ(log.changed().size(), 1u);
  EXPECT_EQ(log.changed()[0].finding.occurrences, 2u);
}

TEST(FindingLog, SuppressedOnesAreCountedAndNeitherPrintedNorTaken) {
  FindingLog log;
  log.count_repeats();
  testing::internal::CaptureStderr();
  EXPECT_EQ(log.add({sample()}, true).size(), 1u);
  EXPECT_TRUE(log.add({sample()}, true).empty());
  EXPECT_EQ(testing::internal::GetCapturedStderr(), "");
  EXPECT_FALSE(log.errors_untaken());
  ASSERT_EQ(log.changed().size(), 1u);
  EXPECT_TRUE(log.changed()[0].suppressed);
  EXPECT_TRUE(log.take().empty());
}

TEST(FindingLog, AFailedCallIsAnErrorUntilItHasBeenLookedAtAsOftenAsItHappened) {
  FindingLog log;
  log.set_quiet(true);
  std::optional<Reported> first, again, other;
  const std::uint64_t number = log.add_failure(failed_call(1), false, &first);
  ASSERT_TRUE(first.has_value());
  EXPECT_EQ(first->number, number);
  EXPECT_EQ(first->finding.occurrences, 1u);
  EXPECT_EQ(log.add_failure(failed_call(1), false, &again), number);
  EXPECT_FALSE(again.has_value());
  EXPECT_NE(log.add_failure(failed_call(2), false, &other), number) << "from another place";
  EXPECT_FALSE(log.looked_at(number, 1).has_value());
  const auto informed = log.looked_at(number, 1);
  ASSERT_TRUE(informed.has_value());
  EXPECT_EQ(informed->finding.severity, check::Severity::kInformation);
  EXPECT_EQ(informed->finding.occurrences, 2u);
  EXPECT_TRUE(log.errors_untaken()) << "the other one";
  EXPECT_TRUE(log.looked_at(other->number, 1).has_value());
  EXPECT_FALSE(log.errors_untaken());
  log.add_failure(failed_call(1), false, &again);
  EXPECT_TRUE(log.errors_untaken());
  EXPECT_FALSE(log.looked_at(number, 1).has_value()) << "reported before";
  EXPECT_FALSE(log.errors_untaken());
  EXPECT_FALSE(log.looked_at(99, 1).has_value());
}

// Each case runs in its own process, because exit handlers run once.
int run_and_exit(bool add, bool take, int status) {
  auto* log = new FindingLog;
  watch_exit(log);
  if (add) log->add({sample()});
  if (take) log->take();
  std::exit(status);
}

TEST(ExitStatusDeathTest, ShowsErrorsThatNobodyTook) {
  EXPECT_EXIT(run_and_exit(true, false, 0), testing::ExitedWithCode(kExitWithFindings),
              "errors were found: the exit status is 86");
}
TEST(ExitStatusDeathTest, IsTheProgramsOwnWhenTheyWereTaken) {
  EXPECT_EXIT(run_and_exit(true, true, 0), testing::ExitedWithCode(0), "");
}
TEST(ExitStatusDeathTest, IsTheProgramsOwnWhenThereWereNone) {
  EXPECT_EXIT(run_and_exit(false, false, 0), testing::ExitedWithCode(0), "");
}
TEST(ExitStatusDeathTest, IsNeverMadeBetter) {
  EXPECT_EXIT(run_and_exit(true, false, 3), testing::ExitedWithCode(3), "");
}

}  // namespace findings_test
}  // namespace lockstep::runtime
