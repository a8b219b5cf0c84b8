// Planted faults in a program without the harness. The simulated GPU must print the finding with
// kernel, block, thread, allocation and source line, and change the exit status.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>
#include <string>
#include <vector>

#include "harness/ledger/runfiles.h"
#include "tests/end_to_end/run.h"

namespace lockstep::end_to_end {
namespace faults_test {

using ::testing::AllOf;
using ::testing::ContainsRegex;
using ::testing::HasSubstr;
using ::testing::Not;

constexpr int kUntakenFindings = 86;

// "tests/end_to_end/faults.cu:14", from the comment that marks the planted line.
std::string planted(const std::string& what, const std::string& source = "faults.cu") {
  const std::string path = "tests/end_to_end/" + source;
  std::ifstream in(runfile(path));
  std::string line;
  for (int number = 1; std::getline(in, line); ++number) {
    if (line.find("// planted: " + what) != line.npos) return fmt::format("{}:{}", path, number);
  }
  return path + " has no line marked " + what;
}

TEST(PlainFaults, ARightKernelEndsGreenAndSilent) {
  for (const char* fault : {"none", "race-mended"}) {
    const Ended r = run("plain_faults", {fault});
    EXPECT_EQ(r.status, 0) << r.output;
    EXPECT_EQ(r.output, "answered: cudaSuccess\n");
  }
}

TEST(PlainFaults, OutOfBoundsNamesAllocationThreadAndLine) {
  const Ended r = run("plain_faults", {"out-of-bounds"});
  EXPECT_EQ(r.status, kUntakenFindings) << r.output;
  EXPECT_THAT(r.output,
              ContainsRegex("out-of-bounds: st\\.global\\.[a-z0-9.]+ of 4 bytes at 0x[0-9a-f]+"));
  EXPECT_THAT(r.output, ContainsRegex("(past|beyond|after) the end of [^\n]*400 bytes"));
  EXPECT_THAT(r.output, HasSubstr("writes_past_the_end_kernel"));
  EXPECT_THAT(r.output, HasSubstr("block (0,0,0) thread (0,0,0)"));
  EXPECT_THAT(r.output, HasSubstr(planted("out-of-bounds")));
  EXPECT_THAT(r.output, HasSubstr("answered: cudaErrorIllegalAddress"));
}

TEST(PlainFaults, MisalignedNamesTheLine) {
  const Ended r = run("plain_faults", {"misaligned"});
  EXPECT_EQ(r.status, kUntakenFindings) << r.output;
  EXPECT_THAT(r.output, ContainsRegex("misaligned: ld\\.global\\.[a-z0-9.]+ of 4 bytes"));
  EXPECT_THAT(r.output, HasSubstr(planted("misaligned")));
  EXPECT_THAT(r.output, HasSubstr("answered: cudaErrorMisalignedAddress"));
}

TEST(PlainFaults, UninitialisedNamesTheLine) {
  const Ended r = run("plain_faults", {"uninitialised"});
  EXPECT_EQ(r.status, kUntakenFindings) << r.output;
  EXPECT_THAT(r.output, ContainsRegex("uninitialised: [a-z]+\\.[^\n]*never written"));
  EXPECT_THAT(r.output, HasSubstr("thread (0,0,0)"));
  EXPECT_THAT(r.output, AllOf(HasSubstr(planted("uninitialised")), HasSubstr("(ld.shared.f32)")));
}

TEST(PlainFaults, ReadingWhatNobodyCopiedIsUninitialised) {
  const Ended r = run("plain_faults", {"no-copy"});
  EXPECT_EQ(r.status, kUntakenFindings) << r.output;
  EXPECT_THAT(r.output, ContainsRegex("uninitialised: [a-z]+\\.[^\n]*never written"));
  EXPECT_THAT(r.output, AllOf(HasSubstr("doubles_kernel"), HasSubstr("(ld.global.f32)")));
}

TEST(PlainFaults, UseAfterFreeNamesTheAllocation) {
  const Ended r = run("plain_faults", {"use-after-free"});
  EXPECT_EQ(r.status, kUntakenFindings) << r.output;
  EXPECT_THAT(r.output,
              ContainsRegex("use-after-free: ld\\.global\\.[a-z0-9.]+ of 4 bytes[^\n]*400 bytes"));
  EXPECT_THAT(r.output, ContainsRegex("at [^\n]*tests/end_to_end/faults\\.cu:[0-9]+"));
  EXPECT_THAT(r.output, HasSubstr("answered: cudaErrorIllegalAddress"));
}

TEST(PlainFaults, ARaceNamesBothSides) {
  const Ended r = run("plain_faults", {"race"});
  EXPECT_EQ(r.status, kUntakenFindings) << r.output;
  EXPECT_THAT(r.output, HasSubstr("race: "));
  EXPECT_THAT(r.output,
              AllOf(HasSubstr(planted("race (write)")), HasSubstr(planted("race (read)"))));
}

TEST(Unimplemented, AKernelWithAnUnknownInstructionIsRefusedWhenItIsLaunched) {
  const Ended other = run("unimplemented", {});
  EXPECT_EQ(other.status, 0) << other.output;
  EXPECT_THAT(other.output, HasSubstr("answered cudaSuccess"));
  const Ended r = run("unimplemented", {"launch it"});
  EXPECT_EQ(r.status, 4) << r.output;
  EXPECT_THAT(r.output, HasSubstr("istypep.texref"));
  EXPECT_THAT(r.output, HasSubstr("asks_for_a_reference"));
  EXPECT_THAT(r.output, ContainsRegex("line [0-9]+|unimplemented\\.cu:[0-9]+"));
  EXPECT_THAT(r.output, Not(HasSubstr("answered cudaSuccess")));
}

}  // namespace faults_test
}  // namespace lockstep::end_to_end
