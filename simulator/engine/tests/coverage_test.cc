#include "simulator/engine/launch/coverage.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "simulator/engine/tests/testing.h"

namespace lockstep::engine {
namespace coverage_test {

using testing::Machine;

// All threads execute line 1; those with x < n line 2; line 3 is a branch on x < n; the others
// execute 4; 5 is in a function inlined on 6; 7 is a branch table on x & 3; 9 is in another kernel.
constexpr const char* kText = R"(
.file 1 "/proc/self/cwd/kernels/k.cu"
.visible .entry k(.param .u32 n)
{
  .reg .pred %p<3>;
  .reg .b32 %r<9>;
  .loc 1 1 0
  ld.param.u32 %r1, [n];
  mov.u32 %r2, %tid.x;
  setp.lt.u32 %p1, %r2, %r1;
  .loc 1 2 3
  @%p1 add.u32 %r3, %r2, 1;
  .loc 1 3 3
  @%p1 bra DONE;
  .loc 1 4 3
  add.u32 %r3, %r2, 2;
DONE:
  .loc 1 5 7, function_name $names, inlined_at 1 6 9
  add.u32 %r4, %r2, 3;
  .loc 1 7 3
  and.b32 %r5, %r2, 3;
TABLE: .branchtargets L0, L1, L2, L2;
  brx.idx %r5, TABLE;
L0:
  ret;
L1:
  ret;
L2:
  ret;
}
.visible .entry never()
{
  .loc 1 9 3
  ret;
}
.section .debug_str
{
$names:
.b8 104,101,108,112,0
}
)";

class CoverageTest : public ::testing::Test {
 protected:
  CoverageTest() {
    gpu.load(kText);
    gpu.config.coverage = &coverage;
  }
  ModuleCoverage covered() const { return coverage_of(*gpu.module, coverage); }
  // The instruction of kernel k on that line whose text begins with `text`.
  InstructionCoverage at(int line, const std::string& text) const {
    const ModuleCoverage all = covered();
    for (const InstructionCoverage& i : all.functions.front().instructions) {
      if (i.source.line == line && i.text.starts_with(text)) return i;
    }
    ADD_FAILURE() << "no " << text << " on line " << line;
    return {};
  }

  Machine gpu;
  Coverage coverage;
};

TEST_F(CoverageTest, CountsThreadsAndWhatTheirGuardsWere) {
  gpu.launch("k", 2, 32, std::uint32_t{20});
  EXPECT_EQ(at(1, "setp").count.ran, 64u);
  EXPECT_EQ(at(2, "add").count.reached, 64u);
  EXPECT_EQ(at(2, "add").count.ran, 40u);
  EXPECT_TRUE(at(2, "add").guarded);
  EXPECT_EQ(at(3, "bra").count.reached, 64u);
  EXPECT_EQ(at(3, "bra").count.ran, 40u);
  EXPECT_EQ(at(4, "add").count.ran, 24u);
  EXPECT_FALSE(at(4, "add").guarded);
  EXPECT_EQ(at(5, "add").count.ran, 64u);
}

TEST_F(CoverageTest, SeparatesAGuardThatIsAlwaysTrueFromOneThatNeverIs) {
  gpu.launch("k", 1, 32, std::uint32_t{32});
  EXPECT_EQ(at(3, "bra").count.ran, 32u);
  EXPECT_EQ(at(3, "bra").count.reached, 32u);
  EXPECT_EQ(at(4, "add").count.reached, 0u);
  coverage.clear();
  gpu.launch("k", 1, 32, std::uint32_t{0});
  EXPECT_EQ(at(3, "bra").count.ran, 0u);
  EXPECT_EQ(at(3, "bra").count.reached, 32u);
  EXPECT_EQ(at(2, "add").count.ran, 0u);
  EXPECT_EQ(at(4, "add").count.ran, 32u);
}

TEST_F(CoverageTest, KnowsWhereLanesPartedAndWherePartOfAWarpRan) {
  gpu.launch("k", 1, 32, std::uint32_t{32});
  EXPECT_FALSE(at(2, "add").count.parted);
  EXPECT_FALSE(at(5, "add").count.parted);
  EXPECT_FALSE(at(5, "add").count.partial);
  gpu.launch("k", 1, 32, std::uint32_t{5});
  EXPECT_TRUE(at(2, "add").count.parted) << "a false guard";
  EXPECT_TRUE(at(4, "add").count.parted) << "the others wait";
  EXPECT_FALSE(at(1, "setp").count.parted);
  EXPECT_FALSE(at(5, "add").count.parted) << "they have met again";
  gpu.launch("k", 1, 40, std::uint32_t{40});
  EXPECT_TRUE(at(5, "add").count.partial) << "eight threads";
  EXPECT_FALSE(at(5, "add").count.parted) << "all eight of them";
}

TEST_F(CoverageTest, CountsWhereABranchTableLeads) {
  gpu.launch("k", 1, 31, std::uint32_t{32});
  EXPECT_EQ(at(7, "brx").jumps, (std::vector<std::uint64_t>{8, 8, 8, 7}));
  EXPECT_TRUE(at(7, "and").jumps.empty());
}

TEST_F(CoverageTest, AddsUpLaunchesAndHostThreads) {
  gpu.config.host_threads = 3;
  for (int i = 0; i < 3; ++i) gpu.launch("k", 300, 64, std::uint32_t{20});
  EXPECT_EQ(at(3, "bra").count.reached, 3u * 300 * 64);
  EXPECT_EQ(at(3, "bra").count.ran, 3u * 300 * 20);
  EXPECT_EQ(at(7, "brx").jumps.at(0), 3u * 300 * 16);
}

TEST_F(CoverageTest, NamesPlacesAndInlinedCalls) {
  gpu.launch("k", 1, 32, std::uint32_t{32});
  const ModuleCoverage all = covered();
  ASSERT_EQ(all.functions.size(), 2u);
  EXPECT_EQ(all.functions[0].name, "k");
  EXPECT_TRUE(all.functions[0].is_kernel);
  EXPECT_EQ(at(1, "ld").source.file, "kernels/k.cu");
  EXPECT_EQ(at(1, "ld").inlined, -1);
  ASSERT_EQ(at(5, "add").inlined, 0);
  EXPECT_EQ(all.inlined.at(0).function, "help");
  ASSERT_EQ(all.inlined.at(0).calls.size(), 1u);
  EXPECT_EQ(all.inlined.at(0).calls[0].file, "kernels/k.cu");
  EXPECT_EQ(all.inlined.at(0).calls[0].line, 6);
  EXPECT_EQ(all.inlined.at(0).calls[0].column, 9);
  EXPECT_EQ(all.functions[1].name, "never");
  ASSERT_EQ(all.functions[1].instructions.size(), 1u);
  EXPECT_EQ(all.functions[1].instructions[0].source.line, 9);
  EXPECT_EQ(all.functions[1].instructions[0].count.reached, 0u);
}

TEST_F(CoverageTest, AnInstructionOfSeveralOperationsIsOne) {
  gpu.launch("k", 1, 32, std::uint32_t{32});
  const ModuleCoverage all = covered();
  const auto& body = all.functions.front().instructions;
  EXPECT_EQ(std::count_if(body.begin(), body.end(),
                          [](const auto& i) { return i.text.starts_with("mov"); }),
            1);
  EXPECT_EQ(body.size(), 12u);
}

TEST_F(CoverageTest, NobodyLaunchedIsNobodyCounted) {
  EXPECT_EQ(at(1, "setp").count.reached, 0u);
  EXPECT_EQ(at(7, "brx").jumps, (std::vector<std::uint64_t>{0, 0, 0, 0}));
}

TEST_F(CoverageTest, OfAnotherModuleIsRefused) {
  gpu.launch("k", 1, 32, std::uint32_t{32});
  Machine other;
  other.load(".visible .entry k()\n{\n  ret;\n}\n");
  other.config.coverage = &coverage;
  EXPECT_THROW(other.launch("k", 1, 32), std::invalid_argument);
}

}  // namespace coverage_test
}  // namespace lockstep::engine
