// The search for races where kernels run: what only several host threads show, and how a race names its threads. Which pairs race is tested in
// simulator/check, and by tests/checker.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "simulator/engine/testing/testing.h"

namespace lockstep::engine {
namespace {

using check::Kind;
using testing::Machine;
using testing::text;
using ::testing::HasSubstr;

// The block that finds all others counted in takes the counter back by a plain store. Their atomics are recorded, done and known to have been read
// at different times: whatever these are, the store comes after all of them.
TEST(Races, TheLastOfManyBlocksResetsTheirCounterOnSeveralHostThreads) {
  Machine gpu;
  gpu.config.host_threads = 4;
  gpu.load(R"(
.visible .entry last(.param .u64 count)
{
  .reg .b32 %r<5>;
  .reg .b64 %rd<2>;
  .reg .pred %p<3>;
  ld.param.u64 %rd1, [count];
  mov.u32 %r1, %tid.x;
  setp.ne.u32 %p1, %r1, 0;
  @%p1 bra END;
  atom.global.add.u32 %r2, [%rd1], 1;
  mov.u32 %r3, %nctaid.x;
  sub.u32 %r3, %r3, 1;
  setp.ne.u32 %p2, %r2, %r3;
  @%p2 bra END;
  mov.u32 %r4, 0;
  st.global.u32 [%rd1], %r4;
END:
  ret;
})");
  const auto count = gpu.buffer<std::uint32_t>({0});
  for (int i = 0; i < 10000; ++i) {
    const Outcome o = gpu.launch("last", 64, 64, count);
    ASSERT_TRUE(o.findings.empty()) << "launch " << i << "\n" << text(o);
  }
  EXPECT_EQ(gpu.fetch<std::uint32_t>(count, 1)[0], 0u);
}

// k(x): lane i has x in %rd1 and i in %r1.
Outcome run(const std::string& body) {
  Machine gpu;
  gpu.load(".visible .entry k(.param .u64 x)\n{\n  .shared .align 4 .b8 s[128];\n  .reg .b32 %r<9>;\n  .reg .b64 %rd<9>;\n  .reg .pred %p<3>;\n"
           "  ld.param.u64 %rd1, [x];\n  mov.u32 %r1, %tid.x;\n  setp.eq.u32 %p1, %r1, 0;\n  mov.u32 %r7, 0;\n" +
           body + "\n  ret;\n}\n");
  return gpu.launch("k", 1, 32, gpu.buffer(std::vector<std::uint32_t>(32, 0)));
}

TEST(Races, AreBetweenTwoThreadsThatAreNamed) {
  const Outcome global = run("  ld.global.u32 %r2, [%rd1];\n  @%p1 st.global.u32 [%rd1], %r7;");
  ASSERT_EQ(global.findings.size(), 1u) << text(global);
  EXPECT_EQ(global.findings[0].access.thread.x, 0u);
  EXPECT_EQ(global.findings[0].other->thread.x, 31u) << text(global);
  EXPECT_TRUE(global.findings[0].other->thread_known);
  const Outcome shared = run("  @%p1 st.shared.u32 [s], %r7;\n  bar.sync 0;\n  ld.shared.u32 %r2, [s];\n  @%p1 st.shared.u32 [s], %r2;");
  ASSERT_EQ(shared.findings.size(), 1u) << text(shared);
  EXPECT_EQ(shared.findings[0].access.thread.x, 0u);
  EXPECT_EQ(shared.findings[0].other->thread.x, 31u) << text(shared);
}

TEST(Races, AnotherThreadThatIsNotKnownIsNotCalledTheSame) {
  const Outcome o = run("  setp.eq.u32 %p2, %r1, 31;\n  ld.global.u32 %r2, [%rd1];\n  @%p2 st.global.u32 [%rd1], %r7;");
  ASSERT_EQ(o.findings.size(), 1u) << text(o);
  EXPECT_FALSE(o.findings[0].other->thread_known);
  EXPECT_THAT(text(o), HasSubstr("against read by another thread that did the same as block (0,0,0) thread (31,0,0)"));
}

// old = *p; do { assumed = old; old = atomicCAS(p, assumed, assumed + 1); } while (old != assumed);
std::string counts_by_swaps(const std::string& space, const std::string& address, const std::string& write = {}) {
  return "  ld." + space + ".u32 %r2, [" + address + "];\n" + write + "L:\n  add.u32 %r3, %r2, 1;\n  atom." + space + ".cas.b32 %r4, [" + address + "], %r2, %r3;\n" +
         "  setp.ne.u32 %p2, %r4, %r2;\n  mov.u32 %r2, %r4;\n  @%p2 bra L;";
}

TEST(Races, OfAFirstGuessWithACompareAndSwapAreForInformation) {
  const std::string shared = "  mov.u32 %r5, s;\n  @%p1 st.shared.u32 [%r5], %r7;\n  bar.sync 0;\n";
  for (const std::string& body : {counts_by_swaps("global", "%rd1"), shared + counts_by_swaps("shared", "%r5")}) {
    const Outcome o = run(body);
    EXPECT_FALSE(o.failed()) << text(o);
    ASSERT_EQ(o.findings.size(), 1u) << text(o);
    EXPECT_EQ(o.findings[0].severity, check::Severity::kInformation) << text(o);
    EXPECT_THAT(o.findings[0].detail, HasSubstr("only guesses"));
  }
  // Against a plain write, or with a value that is used for something else, it is a race like any other.
  EXPECT_TRUE(run(counts_by_swaps("global", "%rd1", "  @%p1 st.global.u32 [%rd1], %r7;\n")).failed());
  EXPECT_TRUE(run("  ld.global.u32 %r2, [%rd1];\n  atom.global.cas.b32 %r4, [%rd1], 0, 1;\n  add.u32 %r2, %r2, %r4;").failed());
}

}  // namespace
}  // namespace lockstep::engine
