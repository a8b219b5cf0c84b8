// The race check in running kernels: races that only several host threads show, and the threads
// named by a race. simulator/check and tests/checker test which pairs of accesses race.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <numeric>

#include "simulator/engine/tests/testing.h"

namespace lockstep::engine {
namespace races_test {

using check::Kind;
using ::testing::HasSubstr;
using testing::Machine;
using testing::text;

// The last of many blocks resets their counter by a plain store. The blocks' atomics are recorded,
// executed and observed at different times; the store is ordered after all of them.
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
  for (int i = 0; i < 2000; ++i) {
    const Outcome o = gpu.launch("last", 64, 64, count);
    ASSERT_TRUE(o.findings.empty()) << "launch " << i << "\n" << text(o);
  }
  EXPECT_EQ(gpu.fetch<std::uint32_t>(count, 1)[0], 0u);
}

// Runs k(x): lane i has x in %rd1 and i in %r1.
Outcome run(const std::string& body) {
  Machine gpu;
  gpu.load(
      ".visible .entry k(.param .u64 x)\n{\n  .shared .align 4 .b8 s[128];\n  .reg .b32 %r<9>;\n  "
      ".reg .b64 %rd<9>;\n  .reg .pred %p<3>;\n"
      "  ld.param.u64 %rd1, [x];\n  mov.u32 %r1, %tid.x;\n  setp.eq.u32 %p1, %r1, 0;\n  mov.u32 "
      "%r7, 0;\n" +
      body + "\n  ret;\n}\n");
  return gpu.launch("k", 1, 32, gpu.buffer(std::vector<std::uint32_t>(32, 0)));
}

// Four lanes of the first warp read the first four words of a row. So the second warp's row of
// stores is recorded in two parts. The third warp reads the word that lane 10 of the second warp
// wrote.
TEST(Races, ARowIsRecordedInPartsWhereAHaloMeetsIt) {
  struct Case {
    bool read, barrier, read_later;
    std::uint32_t accuser, other;  // threads; 0 and 0: no race
  };
  for (const Case& c : {Case{true, true, false, 0, 0},
                        {true, false, false, 32, 0},
                        {false, false, true, 64, 42},
                        {true, true, true, 64, 42}}) {
    Machine gpu;
    gpu.load(
        ".visible .entry k(.param .u64 x)\n{\n  .reg .b32 %r<5>; .reg .b64 %rd<9>; .reg .pred "
        "%p<4>;\n"
        "  ld.param.u64 %rd1, [x];\n  mov.u32 %r1, %tid.x;\n  and.b32 %r2, %r1, 31;\n"
        "  mul.wide.u32 %rd2, %r2, 4;\n  add.s64 %rd3, %rd1, %rd2;\n  setp.lt.u32 %p1, %r1, 4;\n  "
        "shr.u32 %r3, %r1, 5;\n" +
        std::string(c.read ? "  @%p1 ld.global.u32 %r4, [%rd3];\n" : "") +
        (c.barrier ? "  bar.sync 0;\n" : "") +
        "  setp.eq.u32 %p2, %r3, 1;\n  @%p2 st.global.u32 [%rd3], %r1;\n" +
        (c.read_later ? "  setp.eq.u32 %p3, %r1, 64;\n  @%p3 ld.global.u32 %r4, [%rd1+40];\n"
                      : "") +
        "  ret;\n}\n");
    const auto x = gpu.buffer(std::vector<std::uint32_t>(32, 0));
    const Outcome o = gpu.launch("k", 1, 128, x);  // the last warp arrives last and continues first
    if (c.accuser != 0) {
      ASSERT_EQ(o.findings.size(), 1u) << text(o);
      EXPECT_EQ(o.findings[0].kind, Kind::kRace);
      EXPECT_EQ(o.findings[0].access.thread.x, c.accuser) << text(o);
      EXPECT_EQ(o.findings[0].other->thread.x, c.other) << text(o);
      continue;
    }
    EXPECT_TRUE(o.findings.empty()) << text(o);
    std::vector<std::uint32_t> expected(32);
    std::iota(expected.begin(), expected.end(), 32u);
    EXPECT_EQ(gpu.fetch<std::uint32_t>(x, 32), expected);
  }
}

// Addresses that are equal in 32 bits but 4 GiB apart are no row. Lane i of the first of three
// warps writes the word i + i * 2^30; a lane of the second warp writes one of these words.
TEST(Races, LanesFarApartAreNoRow) {
  Machine gpu;
  gpu.load(R"(
.visible .entry k(.param .u64 x, .param .u32 other)
{
  .reg .b32 %r<5>; .reg .b64 %rd<9>; .reg .pred %p<3>;
  ld.param.u64 %rd1, [x];
  ld.param.u32 %r2, [other];
  mov.u32 %r1, %tid.x;
  setp.ge.u32 %p1, %r1, 32;
  @%p1 mov.u32 %r1, %r2;
  setp.gt.u32 %p2, %r1, 2;
  @%p2 ret;
  mul.wide.u32 %rd2, %r1, 4;
  shl.b64 %rd3, %rd2, 30;
  add.s64 %rd2, %rd2, %rd3;
  add.s64 %rd1, %rd1, %rd2;
  st.global.u32 [%rd1], %r1;
  ret;
})");
  for (const std::uint32_t other : {0u, 1u, 2u}) {
    const auto x = gpu.unwritten((9ull << 30) + 64, "x");
    const Outcome o = gpu.launch("k", 1, 33, x, other);
    ASSERT_EQ(o.findings.size(), 1u) << other << "\n" << text(o);
    EXPECT_EQ(o.findings[0].access.address, x + other * ((4ull << 30) + 4)) << text(o);
    gpu.memory.release(x);
  }
}

// ---- both threads of a race
// -------------------------------------------------------------------------------------------

struct Place {
  std::uint32_t block = 0, thread = 0;
  std::string instruction;
  bool operator==(const Place&) const = default;
};
void PrintTo(const Place& p, std::ostream* out) {
  *out << "block " << p.block << " thread " << p.thread << ": " << p.instruction;
}

struct TwoSides {
  const char* name;
  std::string
      body;  // %p1: thread 0, %p2: thread 31, %p3: thread 40, %p4: block 1, %p5: both %p1 and %p4
  Place one, other;
  std::uint32_t threads = 32, blocks = 1, cluster = 1;
};

class BothThreads : public ::testing::TestWithParam<TwoSides> {};

TEST_P(BothThreads, AreNamed) {
  testing::TwoBuffers run;
  const TwoSides& c = GetParam();
  run.gpu.config.cluster = {c.cluster, 1, 1};
  const Outcome o = run.run(
      "  setp.eq.u32 %p1, %r1, 0;\n  setp.eq.u32 %p2, %r1, 31;\n  setp.eq.u32 %p3, %r1, 40;\n  "
      "mov.u32 %r9, %ctaid.x;\n"
      "  setp.eq.u32 %p4, %r9, 1;\n  and.pred %p5, %p1, %p4;\n  add.u32 %r8, %r1, 100;\n" +
          c.body,
      c.threads, c.blocks);
  ASSERT_EQ(o.findings.size(), 1u) << text(o);
  const check::Finding& f = o.findings[0];
  EXPECT_EQ(f.kind, Kind::kRace);
  ASSERT_TRUE(f.other.has_value()) << text(o);
  const auto place = [](const check::Access& a) {
    return Place{a.block.x, a.thread.x, a.site.instruction};
  };
  EXPECT_EQ(place(f.access), c.one) << text(o);
  EXPECT_EQ(place(*f.other), c.other) << text(o);
}

constexpr char kInitialised[] = "  @%p1 st.shared.u32 [s], %r1;\n  bar.sync 0;\n";

INSTANTIATE_TEST_SUITE_P(
    Races, BothThreads,
    ::testing::Values(
        TwoSides{"SharedWritesOfOneInstruction",
                 "  st.shared.u32 [s], %r8;",
                 {0, 1, "st.shared.u32"},
                 {0, 0, "st.shared.u32"}},
        TwoSides{
            "SharedWriteByTheFirstReader",
            std::string(kInitialised) + "  ld.shared.u32 %r5, [s];\n  @%p1 st.shared.u32 [s], %r8;",
            {0, 0, "st.shared.u32"},
            {0, 31, "ld.shared.u32"}},
        TwoSides{
            "SharedWriteByTheLastReader",
            std::string(kInitialised) + "  ld.shared.u32 %r5, [s];\n  @%p2 st.shared.u32 [s], %r8;",
            {0, 31, "st.shared.u32"},
            {0, 0, "ld.shared.u32"}},
        TwoSides{
            "SharedWriteByAReaderOfAnotherWarp",
            std::string(kInitialised) + "  ld.shared.u32 %r5, [s];\n  @%p3 st.shared.u32 [s], %r8;",
            {0, 40, "st.shared.u32"},
            {0, 63, "ld.shared.u32"},
            64},
        TwoSides{"SharedReadsByTwoInstructions",
                 std::string(kInitialised) + "  @%p1 ld.shared.u32 %r5, [s];\n  @%p2 ld.shared.s32 "
                                             "%r5, [s];\n  @%p2 st.shared.u32 [s], %r8;",
                 {0, 31, "st.shared.u32"},
                 {0, 0, "ld.shared.u32"}},
        TwoSides{"SharedReadOfAnotherWarp",
                 std::string(kInitialised) +
                     "  @%p3 st.shared.u32 [s], %r8;\n  @%p1 ld.shared.u32 %r5, [s];",
                 {0, 0, "ld.shared.u32"},
                 {0, 40, "st.shared.u32"},
                 64},
        TwoSides{"SharedPlainWriteUnderAnAtomic",
                 "  @%p1 st.shared.u32 [s], %r8;\n  @%p1 red.shared.add.u32 [s], 1;\n  @%p2 "
                 "red.shared.add.s32 [s], 1;",
                 {0, 31, "red.shared.add.s32"},
                 {0, 0, "st.shared.u32"}},
        TwoSides{"SharedBytes",
                 "  st.shared.u8 [t+3], %r1;\n  bar.sync 0;\n  ld.shared.u8 %r5, [t+3];\n  @%p2 "
                 "st.shared.u8 [t+3], %r8;",
                 {0, 1, "st.shared.u8"},
                 {0, 0, "st.shared.u8"}},
        TwoSides{"SharedPlainWriteAfterAtomics",
                 std::string(kInitialised) +
                     "  red.shared.add.u32 [s], 1;\n  @%p1 st.shared.u32 [s], %r8;",
                 {0, 0, "st.shared.u32"},
                 {0, 1, "red.shared.add.u32"}},
        TwoSides{"GlobalWritesOfOneInstruction",
                 "  st.global.u32 [%rd1], %r8;",
                 {0, 1, "st.global.u32"},
                 {0, 0, "st.global.u32"}},
        TwoSides{"GlobalWriteByTheFirstReader",
                 "  ld.global.u32 %r5, [%rd1];\n  @%p1 st.global.u32 [%rd1], %r8;",
                 {0, 0, "st.global.u32"},
                 {0, 31, "ld.global.u32"}},
        TwoSides{"GlobalWriteByTheLastReader",
                 "  ld.global.u32 %r5, [%rd1];\n  @%p2 st.global.u32 [%rd1], %r8;",
                 {0, 31, "st.global.u32"},
                 {0, 0, "ld.global.u32"}},
        TwoSides{"GlobalReadsByTwoInstructions",
                 "  @%p1 ld.global.u32 %r5, [%rd1];\n  @%p2 ld.global.s32 %r5, [%rd1];\n  @%p1 "
                 "st.global.u32 [%rd1], %r8;",
                 {0, 0, "st.global.u32"},
                 {0, 31, "ld.global.s32"}},
        TwoSides{"GlobalBytes",
                 "  ld.global.u8 %r5, [%rd1+1];\n  @%p1 st.global.u8 [%rd1+1], %r8;",
                 {0, 0, "st.global.u8"},
                 {0, 1, "ld.global.u8"}},
        TwoSides{"GlobalPlainWriteAfterAtomics",
                 "  red.global.add.u32 [%rd1], 1;\n  @%p1 st.global.u32 [%rd1], %r8;",
                 {0, 0, "st.global.u32"},
                 {0, 31, "red.global.add.u32"}},
        TwoSides{"GlobalWritesOfTwoWarps",
                 "  @%p1 st.global.u32 [%rd1], %r8;\n  @%p3 st.global.s32 [%rd1], %r8;",
                 {0, 40, "st.global.s32"},
                 {0, 0, "st.global.u32"},
                 64},
        TwoSides{"GlobalReadsByTwoWarps",
                 "  ld.global.u32 %r5, [%rd1];\n  @%p3 st.global.u32 [%rd1], %r8;",
                 {0, 40, "st.global.u32"},
                 {0, 0, "ld.global.u32"},
                 64},
        TwoSides{"GlobalWritesOfTwoBlocks",
                 "  @%p1 st.global.u32 [%rd1], %r9;",
                 {0, 0, "st.global.u32"},
                 {1, 0, "st.global.u32"},
                 32,
                 2},
        TwoSides{"GlobalWriteByABlockThatReadToo",
                 "  ld.global.u32 %r5, [%rd1];\n  @%p5 st.global.u32 [%rd1], %r8;",
                 {1, 0, "st.global.u32"},
                 {0, 0, "ld.global.u32"},
                 32,
                 2},
        TwoSides{
            "SharedMemoryOfACluster",
            std::string(kInitialised) + "  ld.shared.u32 %r5, [s];\n  @%p1 st.shared.u32 [s], %r8;",
            {0, 0, "st.shared.u32"},
            {0, 31, "ld.shared.u32"},
            32,
            2,
            2},
        TwoSides{"CopiesToOnePlace",
                 "  cp.async.ca.shared.global [s], [%rd5], 4;\n  cp.async.wait_all;",
                 {0, 1, "cp.async.ca.shared.global"},
                 {0, 0, "cp.async.ca.shared.global"}},
        TwoSides{"CopyToWhatOthersRead",
                 std::string(kInitialised) +
                     "  ld.shared.u32 %r5, [s];\n  @%p2 cp.async.ca.shared.global [s], [%rd5], "
                     "4;\n  cp.async.wait_all;",
                 {0, 31, "cp.async.ca.shared.global"},
                 {0, 0, "ld.shared.u32"}},
        TwoSides{"ReadOfWhatACopyHasUnderWay",
                 "  @%p2 cp.async.ca.shared.global [s], [%rd5], 4;\n  @%p1 ld.shared.u32 %r5, "
                 "[s];\n  cp.async.wait_all;",
                 {0, 0, "ld.shared.u32"},
                 {0, 31, "cp.async.ca.shared.global"}}),
    [](const auto& info) { return std::string(info.param.name); });

TEST(Races, NeverAgainstTheThreadItself) {
  // In turn every lane writes a word that all lanes have read, by one instruction or by two.
  for (const char* space : {"global", "shared"}) {
    const std::string at = std::string(space) == "global" ? "[%rd1]" : "[s]",
                      load = std::string("ld.") + space, store = std::string("st.") + space;
    for (int lane = 0; lane < 32; ++lane) {
      for (const bool twice : {false, true}) {
        const std::string read = "  " + load + ".u32 %r2, " + at + ";\n";
        const Outcome o = run("  @%p1 " + store + ".u32 " + at + ", %r7;\n  bar.sync 0;\n" + read +
                              (twice ? "  @%p1 " + load + ".s32 %r2, " + at + ";\n" : "") +
                              "  setp.eq.u32 %p2, %r1, " + std::to_string(lane) +
                              ";\n  mov.u32 %r3, 9;\n  @%p2 " + store + ".u32 " + at + ", %r3;");
        ASSERT_EQ(o.findings.size(), 1u) << text(o);
        EXPECT_EQ(o.findings[0].access.thread.x, static_cast<std::uint32_t>(lane)) << text(o);
        EXPECT_NE(o.findings[0].other->thread.x, static_cast<std::uint32_t>(lane)) << text(o);
      }
    }
  }
}

// old = *p; do { assumed = old; old = atomicCAS(p, assumed, assumed + 1); } while (old != assumed);
std::string counts_by_swaps(const std::string& space, const std::string& address,
                            const std::string& write = {}) {
  return "  ld." + space + ".u32 %r2, [" + address + "];\n" + write +
         "L:\n  add.u32 %r3, %r2, 1;\n  atom." + space + ".cas.b32 %r4, [" + address +
         "], %r2, %r3;\n" + "  setp.ne.u32 %p2, %r4, %r2;\n  mov.u32 %r2, %r4;\n  @%p2 bra L;";
}

TEST(Races, OfAFirstGuessWithACompareAndSwapAreForInformation) {
  const std::string shared = "  mov.u32 %r5, s;\n  @%p1 st.shared.u32 [%r5], %r7;\n  bar.sync 0;\n";
  for (const std::string& body :
       {counts_by_swaps("global", "%rd1"), shared + counts_by_swaps("shared", "%r5")}) {
    const Outcome o = run(body);
    EXPECT_FALSE(o.failed()) << text(o);
    ASSERT_EQ(o.findings.size(), 1u) << text(o);
    EXPECT_EQ(o.findings[0].severity, check::Severity::kInformation) << text(o);
    EXPECT_THAT(o.findings[0].detail, HasSubstr("only guesses"));
  }
  // With a plain write, or a swapped value used for something else, it is a race.
  EXPECT_TRUE(
      run(counts_by_swaps("global", "%rd1", "  @%p1 st.global.u32 [%rd1], %r7;\n")).failed());
  EXPECT_TRUE(run("  ld.global.u32 %r2, [%rd1];\n  atom.global.cas.b32 %r4, [%rd1], 0, 1;\n  "
                  "add.u32 %r2, %r2, %r4;")
                  .failed());
}

}  // namespace races_test
}  // namespace lockstep::engine
