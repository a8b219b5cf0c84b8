#include "simulator/runtime/findings.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <nlohmann/json.hpp>

namespace lockstep::runtime {
namespace {

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

TEST(FindingLog, PrintsUnlessQuiet) {
  FindingLog log;
  testing::internal::CaptureStderr();
  log.add({sample()});
  EXPECT_NE(testing::internal::GetCapturedStderr().find("4 bytes past the end of 'y'"), std::string::npos);
  EXPECT_FALSE(log.set_quiet(true));
  testing::internal::CaptureStderr();
  log.add({sample()});
  EXPECT_EQ(testing::internal::GetCapturedStderr(), "");
  EXPECT_TRUE(log.set_quiet(false));
}

// A process of its own each: exit handlers run once.
int run_and_exit(bool add, bool take, int status) {
  auto* log = new FindingLog;
  watch_exit(log);
  if (add) log->add({sample()});
  if (take) log->take();
  std::exit(status);
}

TEST(ExitStatusDeathTest, ShowsErrorsThatNobodyTook) {
  EXPECT_EXIT(run_and_exit(true, false, 0), testing::ExitedWithCode(kExitWithFindings), "nobody took them");
}
TEST(ExitStatusDeathTest, IsTheProgramsOwnWhenTheyWereTaken) { EXPECT_EXIT(run_and_exit(true, true, 0), testing::ExitedWithCode(0), ""); }
TEST(ExitStatusDeathTest, IsTheProgramsOwnWhenThereWereNone) { EXPECT_EXIT(run_and_exit(false, false, 0), testing::ExitedWithCode(0), ""); }
TEST(ExitStatusDeathTest, IsNeverMadeBetter) { EXPECT_EXIT(run_and_exit(true, false, 3), testing::ExitedWithCode(3), ""); }

}  // namespace
}  // namespace lockstep::runtime
