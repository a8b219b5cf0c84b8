// Every checker in both directions: kernels that must have a finding of a given kind, line and
// thread, and their correct twins, which must have none.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "simulator/coverage/judged.h"
#include "simulator/engine/tests/testing.h"

namespace lockstep::engine {
namespace checks_test {

using check::Kind;
using ::testing::HasSubstr;
using testing::Machine;
using ::testing::Not;
using testing::text;

using Case = testing::TwoBuffers;
constexpr int kFirstLine = Case::kBodyLine;

void expect(const Outcome& o, Kind kind, int line, std::uint32_t thread,
            std::string_view part = "") {
  ASSERT_TRUE(o.failed()) << "nothing reported";
  const check::Finding& f = o.findings[0];
  EXPECT_EQ(f.kind, kind) << text(o);
  EXPECT_EQ(f.access.site.ptx_line, kFirstLine + line) << text(o);
  EXPECT_EQ(f.access.thread.x, thread) << text(o);
  EXPECT_THAT(text(o), HasSubstr(part));
}
#define ACCEPTS(body, ...)                                    \
  do {                                                        \
    Case c;                                                   \
    const Outcome o = c.run(body __VA_OPT__(, ) __VA_ARGS__); \
    EXPECT_FALSE(o.failed()) << text(o);                      \
  } while (false)

TEST(Bounds, AStorePastTheEndNamesTheAllocation) {
  Case c;
  expect(c.run("  st.global.u32 [%rd6+4], %r1;"), Kind::kOutOfBounds, 0, 31,
         "just past the end of 'y' (128 bytes, cudaMalloc #");
}
TEST(Bounds, ALoadBeforeTheStart) {
  Case c;
  expect(c.run("  ld.global.u32 %r5, [%rd5+-4];"), Kind::kOutOfBounds, 0, 0,
         "4 bytes before the start of 'x'");
}
TEST(Bounds, TheLastElementIsInside) { ACCEPTS("  st.global.u32 [%rd6], %r1;"); }
TEST(Bounds, AGuardedAccessOutsideIsNone) {
  ACCEPTS("  setp.lt.u32 %p1, %r1, 31;\n  @%p1 st.global.u32 [%rd6+4], %r1;");
}
TEST(Bounds, AnAccessThatStraddlesTheEnd) {
  Machine gpu;
  gpu.load(Case::kernel("  ld.global.u64 %rd9, [%rd1+120];\n  st.global.u32 [%rd2], %r1;"));
  const auto x = gpu.buffer(std::vector<std::uint8_t>(124, 1), "odd");
  const Outcome o = gpu.launch("k", 1, 1, x, gpu.unwritten(4));
  expect(o, Kind::kOutOfBounds, 0, 0, "ends 4 bytes past its end");
}
TEST(Bounds, ANeighbouringAllocationIsNotReached) {
  Case c;
  // The address is far from x, whatever lies there.
  expect(c.run("  ld.global.u32 %r5, [%rd5+4096];"), Kind::kOutOfBounds, 0, 0, "'x'");
}
TEST(Bounds, ANullPointer) {
  Case c;
  expect(c.run("  mov.u64 %rd9, 0;\n  ld.global.u32 %r5, [%rd9+8];"), Kind::kOutOfBounds, 1, 0,
         "null pointer");
}
TEST(Bounds, ScatteredLanesAreJudgedOneByOne) {
  Case c;
  expect(c.run("  mul.wide.u32 %rd9, %r1, 12;\n  add.s64 %rd9, %rd1, %rd9;\n  ld.global.u32 %r5, "
               "[%rd9];"),
         Kind::kOutOfBounds, 2, 11, "20 more threads");
}
TEST(Bounds, UseAfterFree) {
  Case c;
  c.gpu.load(Case::kernel("  ld.global.u32 %r5, [%rd5];"));
  const auto x = c.gpu.buffer(std::vector<std::uint32_t>(32, 7), "x");
  c.gpu.memory.release(x);
  expect(c.gpu.launch("k", 1, 32, x, x), Kind::kUseAfterFree, 0, 0, "has been freed");
}
TEST(Bounds, AKernelMayTouchOnlyTheNamedPartOfABuffer) {
  Machine gpu;
  gpu.load(Case::kernel("  st.global.u32 [%rd5], %r1;"));
  const auto x = gpu.unwritten(256);
  ASSERT_TRUE(gpu.memory.name_buffer(x + 64, 64, "inner"));
  EXPECT_FALSE(gpu.launch("k", 1, 16, x + 64, x).failed());
  const Outcome o = gpu.launch("k", 1, 17, x + 64, x);
  expect(o, Kind::kOutOfBounds, 0, 16, "'inner'");
  // The last byte of the allocation is accessible, also if guards follow at an odd address.
  gpu.load(Case::kernel(
      "  add.u64 %rd5, %rd1, 60;\n  st.global.u8 [%rd5], %r1;\n  st.global.u16 [%rd5+2], %h1;"));
  for (const auto& [bytes, line] : {std::pair{60u, 1}, {63u, 2}, {64u, -1}}) {
    const auto y = gpu.buffer(std::vector<std::uint8_t>(256));
    ASSERT_TRUE(gpu.memory.name_buffer(y + 64, bytes, "odd"));
    const Outcome odd = gpu.launch("k", 1, 1, y + 64, y);
    EXPECT_EQ(odd.failed(), line >= 0) << text(odd);
    if (line >= 0) expect(odd, Kind::kOutOfBounds, line, 0, "'odd'");
  }
}
TEST(Bounds, SharedMemoryPastAVariable) {
  Case c;
  expect(c.run("  st.shared.u32 [%r2+132], %r1;"), Kind::kOutOfBounds, 0, 31,
         "just past the end of 's' (256 bytes)");
  ACCEPTS("  st.shared.u32 [%r2+128], %r1;");
}
TEST(Bounds, ASharedNullPointer) {
  Case c;
  expect(c.run("  st.shared.u32 [%r3], %r1;"), Kind::kOutOfBounds, 0, 0);
}
TEST(Bounds, DynamicSharedMemoryHasTheSizeOfTheLaunch) {
  const std::string module = R"(
.extern .shared .align 16 .b8 dyn[];
.visible .entry k()
{
  .reg .b32 %r<9>;
  mov.u32 %r1, %tid.x;
  mov.u32 %r2, dyn;
  shl.b32 %r3, %r1, 2;
  add.u32 %r2, %r2, %r3;
  st.shared.u32 [%r2], %r1;
  ret;
})";
  Machine gpu;
  gpu.load(module);
  gpu.config.dynamic_shared = 128;
  EXPECT_FALSE(gpu.launch("k", 1, 32).failed());
  gpu.config.dynamic_shared = 124;
  const Outcome o = gpu.launch("k", 1, 32);
  ASSERT_TRUE(o.failed());
  EXPECT_EQ(o.findings[0].access.thread.x, 31u) << text(o);
  gpu.config.dynamic_shared = 0;
  EXPECT_TRUE(gpu.launch("k", 1, 32).failed());
}
TEST(Bounds, LocalMemoryPastAVariable) {
  Case c;
  expect(c.run("  mov.u64 %rd9, stack;\n  add.s64 %rd9, %rd9, %rd4;\n  st.local.u32 [%rd9], %r1;"),
         Kind::kOutOfBounds, 2, 4, "'stack'");
  ACCEPTS(
      "  mov.u64 %rd9, stack;\n  and.b64 %rd10, %rd4, 12;\n  add.s64 %rd9, %rd9, %rd10;\n  "
      "st.local.u32 [%rd9], %r1;");
}
TEST(Bounds, ConstantsCannotBeWritten) {
  Case c;
  expect(c.run("  mov.u64 %rd9, table;\n  cvta.const.u64 %rd9, %rd9;\n  st.u32 [%rd9], %r1;"),
         Kind::kReadOnlyWrite, 2, 0, "'table'");
  ACCEPTS("  ld.const.u32 %r5, [table+12];\n  st.global.u32 [%rd6], %r5;");
}

TEST(Alignment, AddressesAreMultiplesOfTheAccess) {
  Case c;
  expect(c.run("  ld.global.u32 %r5, [%rd5+2];"), Kind::kMisaligned, 0, 0, "no multiple of 4");
  Case d;
  expect(d.run("  ld.global.v2.u32 {%r5, %r6}, [%rd1+4];"), Kind::kMisaligned, 0, 0,
         "no multiple of 8");
  Case e;
  expect(e.run("  st.shared.u16 [%r2+1], %h1;"), Kind::kMisaligned, 0, 0);
  ACCEPTS("  ld.global.v2.u32 {%r5, %r6}, [%rd1+8];\n  st.global.u32 [%rd6], %r6;");
}

TEST(Initialisation, ASumWithUnwrittenMemoryIsReportedWhereItIsStored) {
  Case c;
  const Outcome o =
      c.run("  ld.global.u32 %r5, [%rd6];\n  add.u32 %r5, %r5, 1;\n  st.global.u32 [%rd5], %r5;");
  expect(o, Kind::kUninitialised, 2, 0, "31 more threads");
  EXPECT_THAT(text(o), HasSubstr("ld.global.u32"));
}
TEST(Initialisation, ABranchOnUnwrittenMemory) {
  Case c;
  expect(c.run("  ld.global.u32 %r5, [%rd6];\n  setp.eq.u32 %p1, %r5, 0;\n  @%p1 bra L;\nL:"),
         Kind::kUninitialised, 2, 0);
}
TEST(Initialisation, AnAddressFromUnwrittenMemory) {
  Case c;
  expect(c.run("  ld.global.u64 %rd9, [%rd2];\n  ld.global.u32 %r5, [%rd9];"), Kind::kUninitialised,
         1, 0, "address");
}
TEST(Initialisation, CopyingUnwrittenBytesIsNoUse) {
  // The destination stays unwritten, as its use by the third instruction shows.
  ACCEPTS("  ld.global.u32 %r5, [%rd6];\n  mov.u32 %r6, %r5;\n  st.shared.u32 [%r2], %r6;");
  Case c;
  expect(
      c.run(
          "  ld.global.u32 %r5, [%rd6];\n  st.shared.u32 [%r2], %r5;\n  ld.shared.u32 %r7, [%r2];\n"
          "  add.u32 %r7, %r7, 1;\n  st.global.u32 [%rd5], %r7;"),
      Kind::kUninitialised, 4, 0, "ld.shared.u32");
}
TEST(Initialisation, AValueNobodyUsesIsNone) {
  ACCEPTS("  ld.global.u32 %r5, [%rd6];\n  add.u32 %r6, %r5, 1;");
}
TEST(Initialisation, OnlyTheLanesConcerned) {
  Case c;
  expect(c.run("  setp.lt.u32 %p1, %r1, 9;\n  @%p1 st.global.u32 [%rd6], %r1;\n  ld.global.u32 "
               "%r5, [%rd6];\n"
               "  add.u32 %r5, %r5, 1;\n  st.global.u32 [%rd5], %r5;"),
         Kind::kUninitialised, 4, 9, "22 more threads");
  ACCEPTS(
      "  st.global.u32 [%rd6], %r1;\n  ld.global.u32 %r5, [%rd6];\n  add.u32 %r5, %r5, 1;\n  "
      "st.global.u32 [%rd5], %r5;");
}
TEST(Initialisation, SharedAndLocalMemoryBeginUnwritten) {
  Case c;
  expect(c.run("  ld.shared.u32 %r5, [%r2];\n  add.u32 %r5, %r5, 1;\n  st.global.u32 [%rd6], %r5;"),
         Kind::kUninitialised, 2, 0);
  Case d;
  expect(
      d.run("  ld.local.u32 %r5, [stack];\n  add.u32 %r5, %r5, 1;\n  st.global.u32 [%rd6], %r5;"),
      Kind::kUninitialised, 2, 0);
  ACCEPTS(
      "  st.local.u32 [stack], %r1;\n  ld.local.u32 %r5, [stack];\n  add.u32 %r5, %r5, 1;\n  "
      "st.global.u32 [%rd6], %r5;");
}
// The finding names the last element that the thread read there, by the load's address and width.
TEST(Initialisation, TheUnwrittenVariableIsNamedWithItsElement) {
  const auto used = [](const std::string& load) {
    Case c;
    return text(
        c.run("  setp.lt.u32 %p1, %r1, 9;\n  @%p1 st.shared.u32 [%r2], %r1;\n"
              "  @%p1 st.global.u32 [%rd6], %r1;\n" +
              load + "  add.u32 %r5, %r5, 1;\n  st.global.u32 [%rd5], %r5;"));
  };
  EXPECT_THAT(used("  ld.shared.u32 %r5, [%r2];\n"),
              HasSubstr(", 36 bytes into 's' (element 9, of 4 bytes)"));
  // A generic address, and one element of a vector load.
  EXPECT_THAT(used("  mov.u32 %r6, s;\n  add.u32 %r6, %r6, 64;\n  ld.shared.v2.u32 {%r6, %r5}, "
                   "[%r6];\n"),
              HasSubstr(", 64 bytes into 's' (element 16, of 4 bytes)"));
  EXPECT_THAT(used("  cvt.u64.u32 %rd9, %r2;\n  cvta.shared.u64 %rd9, %rd9;\n  ld.u32 %r5, "
                   "[%rd9];\n"),
              HasSubstr(", 36 bytes into 's' (element 9, of 4 bytes)"));
  EXPECT_THAT(used("  ld.global.u32 %r5, [%rd6];\n"),
              HasSubstr(", 36 bytes into 'y' (128 bytes, cudaMalloc #"));
  EXPECT_THAT(used("  ld.local.u32 %r5, [stack];\n"), Not(HasSubstr("bytes into")));
  // A value from shared memory was loaded by another thread.
  EXPECT_THAT(used("  ld.global.u32 %r5, [%rd6];\n  add.u32 %r5, %r5, 1;\n  mov.u32 %r6, s;\n"
                   "  add.u32 %r6, %r6, 40;\n  setp.eq.u32 %p2, %r1, 12;\n"
                   "  @%p2 st.shared.u32 [%r6], %r5;\n  bar.warp.sync -1;\n"
                   "  ld.shared.u32 %r5, [%r6];\n"),
              HasSubstr(", 48 bytes into 'y' (128 bytes, cudaMalloc #"));
}
TEST(Initialisation, AnAtomicOnUnwrittenSharedMemoryNamesItsElement) {
  Case c;
  expect(c.run("  add.u32 %r2, %r2, 8;\n  atom.shared.add.u32 %r5, [%r2], 1;"),
         Kind::kUninitialised, 1, 0, "never written: 8 bytes into 's' (element 2, of 4 bytes)");
}
TEST(Initialisation, ARegisterReadBeforeItIsWritten) {
  Case c;
  expect(c.run("  add.u32 %r5, %r9, 1;\n  st.global.u32 [%rd6], %r5;"), Kind::kUninitialised, 1, 0,
         "register");
  // One path assigns the register; it stays unwritten in the other lanes.
  Case d;
  expect(d.run("  setp.lt.u32 %p1, %r1, 4;\n  @%p1 bra L;\n  mov.u32 %r9, 1;\nL:\n  add.u32 %r5, "
               "%r9, 1;\n  st.global.u32 [%rd6], %r5;"),
         Kind::kUninitialised, 5, 0, "3 more threads");
  ACCEPTS(
      "  setp.lt.u32 %p1, %r1, 4;\n  @%p1 mov.u32 %r9, 2;\n  @!%p1 mov.u32 %r9, 1;\n  add.u32 %r5, "
      "%r9, 1;\n  st.global.u32 [%rd6], %r5;");
}
TEST(Initialisation, AnAtomicOnUnwrittenMemory) {
  Case c;
  expect(c.run("  atom.global.add.u32 %r5, [%rd6], 1;"), Kind::kUninitialised, 0, 0, "'y'");
  ACCEPTS("  atom.global.add.u32 %r5, [%rd5], 1;");
}
// Each atomic changes a thread's 16 bytes, whose last byte is unwritten. Only an exchange does not
// use the old value.
TEST(Initialisation, EveryAtomicOnABytesThatNobodyWrote) {
  struct Operation {
    std::uint32_t bytes;
    const char* text;
  };
  constexpr Operation kOperations[] = {
      {2, "atom$.cas.b16 h2, [d1], h0, h1"}, {4, "atom$.cas.b32 r2, [d1], r0, r1"},
      {8, "atom$.cas.b64 d2, [d1], d3, d3"}, {16, "atom$.cas.b128 q0, [d1], q0, q0"},
      {4, "atom$.add.u32 r2, [d1], r1"},     {4, "atom$.min.s32 r2, [d1], r1"},
      {8, "atom$.max.u64 d2, [d1], d3"},     {4, "atom$.inc.u32 r2, [d1], r1"},
      {4, "atom$.dec.u32 r2, [d1], r1"},     {8, "atom$.and.b64 d2, [d1], d3"},
      {4, "red$.or.b32 [d1], r1"},           {4, "red$.xor.b32 [d1], r1"},
      {4, "atom$.add.f32 r2, [d1], r1"},     {2, "atom$.add.noftz.f16 h2, [d1], h1"},
      {4, "atom$.exch.b32 r2, [d1], r1"},    {8, "atom$.exch.b64 d2, [d1], d3"},
      {16, "atom$.exch.b128 q0, [d1], q0"},
  };
  for (const auto& [bytes, operation] : kOperations) {
    for (const std::string space : {".global", ".shared", ""}) {
      for (const bool all_written : {false, true}) {
        std::string instruction = operation;
        instruction.replace(instruction.find('$'), 1, space);
        Machine gpu;
        // The returned value is not used: only the atomic itself can be reported.
        gpu.load_text(R"(.version 9.0
.target sm_90
.address_size 64
.visible .entry k(.param .u64 x)
{
.reg .b16 h<3>; .reg .b32 r<5>; .reg .b64 d<6>; .reg .b128 q<1>;
.shared .align 16 .b8 s[512];
mov.u16 h0, 1; mov.u16 h1, 2; mov.u32 r0, 1; mov.u32 r1, 2; mov.u64 d3, 3; mov.b128 q0, {d3, d3};
mov.u32 r3, %tid.x;
)" + std::string(space == ".shared" ? "mov.u64 d1, s;" : "ld.param.u64 d1, [x];") +
                      "\nmad.wide.u32 d1, r3, 16, d1;\n" +
                      (all_written ? "st" + space + ".v2.u64 [d1], {d3, d3};\n" : "") +
                      instruction + ";\nret;\n}\n");
        const auto x = gpu.unwritten(512, "x");
        // Writes all bytes but one: one unwritten byte is enough for a finding.
        for (int i = 0; i < 32; ++i) gpu.memory.mark_written(x + 16 * i, bytes - 1);
        const Outcome o = gpu.launch("k", 1, 32, x);
        const bool exchanges = instruction.find(".exch.") != std::string::npos;
        if (all_written || exchanges) {
          EXPECT_TRUE(o.findings.empty()) << instruction << "\n" << text(o);
          continue;
        }
        ASSERT_EQ(o.findings.size(), 1u) << instruction << "\n" << text(o);
        EXPECT_EQ(o.findings[0].kind, Kind::kUninitialised) << text(o);
        EXPECT_EQ(o.findings[0].occurrences, 32u) << text(o);
        EXPECT_EQ(o.findings[0].where.find("the memory it changes was never written"), 0u)
            << text(o);
      }
    }
  }
}
// The value returned by an exchange is used or not; the stored value is written.
TEST(Initialisation, AnExchangeGivesWhatNobodyWrote) {
  Case c;
  expect(c.run("  atom.global.exch.b32 %r5, [%rd6], %r1;\n  add.u32 %r5, %r5, 1;\n  st.global.u32 "
               "[%rd5], %r5;"),
         Kind::kUninitialised, 2, 0, "atom.global.exch.b32");
  ACCEPTS(
      "  atom.global.exch.b32 %r5, [%rd6], %r1;\n  ld.global.u32 %r5, [%rd6];\n  add.u32 %r5, %r5, "
      "1;\n  st.global.u32 [%rd5], %r5;");
}

TEST(Races, AMissingBarrierBetweenWarps) {
  Case c;
  const Outcome o = c.run(
      "  st.shared.u32 [%r2], %r1;\n  xor.b32 %r5, %r3, 128;\n  mov.u32 %r6, s;\n  add.u32 %r6, "
      "%r6, %r5;\n"
      "  ld.shared.u32 %r7, [%r6];",
      64);
  ASSERT_TRUE(o.failed());
  EXPECT_EQ(o.findings[0].kind, Kind::kRace) << text(o);
  ASSERT_TRUE(o.findings[0].other.has_value());
  // The schedule decides whether the store or the load comes second.
  const int first = o.findings[0].other->site.ptx_line, second = o.findings[0].access.site.ptx_line;
  EXPECT_EQ(std::min(first, second), kFirstLine);
  EXPECT_EQ(std::max(first, second), kFirstLine + 4);
  EXPECT_NE(o.findings[0].access.is_write, o.findings[0].other->is_write);
  EXPECT_EQ(o.findings[0].access.thread.x ^ 32, o.findings[0].other->thread.x);
  ACCEPTS(
      "  st.shared.u32 [%r2], %r1;\n  xor.b32 %r5, %r3, 128;\n  mov.u32 %r6, s;\n  add.u32 %r6, "
      "%r6, %r5;\n  bar.sync 0;\n"
      "  ld.shared.u32 %r7, [%r6];",
      64);
}
TEST(Races, AMissingBarrierWithinAWarp) {
  const std::string before =
      "  st.shared.u32 [%r2], %r1;\n  xor.b32 %r5, %r3, 4;\n  mov.u32 %r6, s;\n  add.u32 %r6, %r6, "
      "%r5;\n";
  const std::string after = "  ld.shared.u32 %r7, [%r6];";
  Case c;
  const Outcome o = c.run(before + after);
  ASSERT_TRUE(o.failed());
  EXPECT_EQ(o.findings[0].kind, Kind::kRace) << text(o);
  ACCEPTS(before + "  bar.warp.sync 0xffffffff;\n" + after);
  // A vote or a shuffle does not order memory.
  Case d;
  EXPECT_TRUE(d.run(before + "  vote.sync.any.pred %p1, 1, 0xffffffff;\n" + after).failed());
}
TEST(Races, AWriteAfterAReadThatNothingOrders) {
  // All lanes read the first word, then its owner overwrites it without the second barrier.
  const std::string fill =
      "  st.shared.u32 [%r2], %r1;\n  bar.sync 0;\n  ld.shared.u32 %r7, [s];\n";
  const std::string write = "  st.shared.u32 [%r2], %r7;";
  Case c;
  const Outcome o = c.run(fill + write, 64);
  ASSERT_TRUE(o.failed());
  EXPECT_EQ(o.findings[0].kind, Kind::kRace) << text(o);
  EXPECT_FALSE(o.findings[0].other->is_write);
  ACCEPTS(fill + "  bar.sync 0;\n" + write, 64);
}
TEST(Races, ThreadsThatWriteTheSameValueAreInformation) {
  Case c;
  const Outcome o = c.run("  mov.u32 %r7, 5;\n  st.shared.u32 [s], %r7;", 64);
  EXPECT_FALSE(o.failed()) << text(o);
  ASSERT_FALSE(o.findings.empty());
  EXPECT_EQ(o.findings[0].kind, Kind::kRace);
  EXPECT_EQ(o.findings[0].severity, check::Severity::kInformation);
  Case d;
  EXPECT_TRUE(d.run("  st.shared.u32 [s], %r1;", 64).failed());
}
TEST(Races, ThreadsThatWriteTheSameValueAreAnErrorWithStrictWrites) {
  const std::string five = "  mov.u32 %r7, 5;\n";
  Case c;
  c.gpu.config.checks = check::kAllChecks | check::kStrictWrites;
  const Outcome o = c.run(five + "  st.shared.u32 [s], %r7;", 64);
  ASSERT_TRUE(o.failed());
  EXPECT_EQ(o.findings[0].kind, Kind::kRace) << text(o);
  Case d;
  d.gpu.config.checks = check::kAllChecks | check::kStrictWrites;
  const Outcome once =
      d.run(five + "  setp.eq.u32 %p1, %r1, 0;\n  @%p1 st.shared.u32 [s], %r7;", 64);
  EXPECT_TRUE(once.findings.empty()) << text(once);
}
TEST(Races, AtomicsDoNotRaceWithEachOther) {
  const std::string zero =
      "  setp.ne.u32 %p1, %r1, 0;\n  @%p1 bra L;\n  mov.u32 %r7, 0;\n  st.shared.u32 [s], "
      "%r7;\nL:\n";
  const std::string count = "  atom.shared.add.u32 %r8, [s], 1;";
  ACCEPTS(zero + "  bar.sync 0;\n" + count, 64);
  Case c;
  EXPECT_TRUE(c.run(zero + count, 64).failed());
}
TEST(Races, BytesOfOneWordBelongToDifferentThreads) {
  ACCEPTS(
      "  mov.u32 %r6, s;\n  add.u32 %r6, %r6, %r1;\n  cvt.u16.u32 %h1, %r1;\n  st.shared.u8 [%r6], "
      "%h1;",
      64);
  Case c;
  EXPECT_TRUE(c.run("  mov.u32 %r6, s;\n  shr.u32 %r5, %r1, 1;\n  add.u32 %r6, %r6, %r5;\n  "
                    "cvt.u16.u32 %h1, %r1;\n  st.shared.u8 [%r6], %h1;",
                    64)
                  .failed());
}
JUDGES(Races, PartialWarpBarriersOrderTheirLanesOnly, "bar.warp.sync");
TEST(Races, PartialWarpBarriersOrderTheirLanesOnly) {
  // Lanes exchange with their neighbour; pairs of lanes synchronise.
  const std::string before =
      "  st.shared.u32 [%r2], %r1;\n  and.b32 %r8, %r1, 30;\n  mov.u32 %r9, 3;\n  shl.b32 %r9, "
      "%r9, %r8;\n  bar.warp.sync %r9;\n";
  const auto read = [](const char* distance) {
    return std::string("  xor.b32 %r5, %r3, ") + distance +
           ";\n  mov.u32 %r6, s;\n  add.u32 %r6, %r6, %r5;\n  ld.shared.u32 %r7, [%r6];";
  };
  ACCEPTS(before + read("4"));
  Case c;
  EXPECT_TRUE(c.run(before + read("8")).failed());
}
TEST(Races, NobodyIsAccusedWhenTheCheckIsOff) {
  Case c;
  c.gpu.config.checks = check::kAllChecks & ~check::kRaces;
  EXPECT_FALSE(c.run("  st.shared.u32 [s], %r1;", 64).failed());
}

// ---- suppressed findings: the kernel goes on, and so does every other check
// ------------------------------------------

std::uint32_t bit(Kind kind) { return 1u << static_cast<int>(kind); }

TEST(Suppressed, ARaceEndsNothingAndIsKept) {
  const std::string race = "  st.shared.u32 [s], %r1;\n  bar.sync 0;\n",
                    last = "  st.global.u32 [%rd6], %r1;";
  Case c;
  c.gpu.config.suppressed = bit(Kind::kRace);
  const Outcome o = c.run(race + last, 64);
  EXPECT_FALSE(o.failed()) << text(o);
  ASSERT_EQ(o.findings.size(), 1u) << text(o);
  EXPECT_EQ(o.findings[0].kind, Kind::kRace);
  EXPECT_TRUE(o.findings[0].survived);
  EXPECT_EQ(c.gpu.fetch<std::uint32_t>(c.y, 64)[63], 63u) << "the kernel ran to its end";
  // Other mistakes must still be found.
  Case d;
  d.gpu.config.suppressed = bit(Kind::kRace);
  EXPECT_TRUE(d.run(race + "  st.global.u32 [%rd6+4], %r1;", 64).failed());
  Case e;
  e.gpu.config.suppressed = bit(Kind::kUninitialised);
  EXPECT_TRUE(e.run(race + last, 64).failed()) << "a race is no uninitialised value";
}
TEST(Suppressed, AValueThatNobodyWroteIsUsedAndWhatIsStoredCountsAsWritten) {
  Case c;
  c.gpu.config.suppressed = bit(Kind::kUninitialised);
  const Outcome o = c.run(
      "  ld.shared.u32 %r5, [%r2];\n  setp.eq.u32 %p1, %r5, 0x7fffffff;\n  @%p1 bra L;\n  "
      "st.global.u32 [%rd6], %r1;\nL:");
  EXPECT_FALSE(o.failed()) << text(o);
  ASSERT_EQ(o.findings.size(), 1u) << text(o);
  EXPECT_TRUE(o.findings[0].survived);
  EXPECT_TRUE(c.gpu.memory.is_written(c.y, 128))
      << "a kernel without the suppression would be accused otherwise";
}
TEST(Suppressed, AMaskWithoutItsCaller) {
  const std::string body = "  vote.sync.any.pred %p1, 1, 0x7fffffff;\n  st.global.u32 [%rd6], %r1;";
  Case c;
  EXPECT_TRUE(c.run(body).failed());
  Case d;
  d.gpu.config.suppressed = bit(Kind::kInvalidMask);
  const Outcome o = d.run(body);
  EXPECT_FALSE(o.failed()) << text(o);
  EXPECT_EQ(o.findings.size(), 1u);
}
TEST(Suppressed, WhatNoKernelSurvivesStillEndsIt) {
  Case c;
  c.gpu.config.suppressed = ~0u;
  EXPECT_TRUE(c.run("  st.global.u32 [%rd6+4], %r1;").failed());
}

TEST(Races, WhenTheyCanBeRecordedNoMoreItIsSaid) {
  // Every turn of the loop writes another word, after another barrier.
  const std::string body =
      "  mov.u32 %r4, 0;\nL:\n  bar.warp.sync 0xffffffff;\n  st.global.u32 [%rd6], %r4;\n  add.u32 "
      "%r4, %r4, 1;\n"
      "  setp.lt.u32 %p1, %r4, 300;\n  @%p1 bra L;";
  ACCEPTS(body);
  Case c;
  c.gpu.config.race_records = 128;
  const Outcome o = c.run(body);
  EXPECT_FALSE(o.failed());
  ASSERT_EQ(o.findings.size(), 1u) << text(o);
  EXPECT_EQ(o.findings[0].kind, Kind::kIncompleteCheck);
  EXPECT_EQ(o.findings[0].severity, check::Severity::kInformation);
  EXPECT_EQ(o.findings[0].access.site.ptx_line, kFirstLine + 3) << text(o);
  EXPECT_THAT(text(o), HasSubstr("has recorded 128 accesses"));
  Case d;
  EXPECT_TRUE(d.run(body).findings.empty()) << "room enough";
}

TEST(Races, WhenBytesCannotBeKeptApartAReportStatesIt) {
  // Every turn of the loop writes the first byte of another word, then its second byte.
  const std::string body =
      "  mov.u32 %r4, 0;\nL:\n  st.global.u8 [%rd6], %r4;\n  st.global.u8 [%rd6+1], %r4;\n  "
      "add.u64 %rd6, %rd6, 4;\n"
      "  add.u32 %r4, %r4, 1;\n  setp.lt.u32 %p1, %r4, 300;\n  @%p1 bra L;";
  const auto one_thread = [&](std::uint32_t records) {
    Machine gpu;
    gpu.config.race_records = records;
    gpu.load(Case::kernel(body));
    const auto words = gpu.unwritten(4 * 300);
    return gpu.launch("k", 1, 1, words, words);
  };
  const Outcome o = one_thread(128);
  ASSERT_EQ(o.findings.size(), 1u) << text(o);
  EXPECT_EQ(o.findings[0].kind, Kind::kIncompleteCheck);
  EXPECT_THAT(text(o), HasSubstr("distinguishes the bytes of 128 words, and has no room for more"));
  EXPECT_THAT(text(o), Not(HasSubstr("has recorded")));
  EXPECT_TRUE(one_thread(0).findings.empty()) << "room enough";
}

TEST(Order, TheFindingOfTheLowestBlockIsReported) {
  Machine gpu;
  gpu.config.host_threads = 4;
  gpu.load(R"(
.visible .entry k(.param .u64 x)
{
  .reg .b32 %r<9>;
  .reg .b64 %rd<9>;
  .reg .pred %p<3>;
  ld.param.u64 %rd1, [x];
  mov.u32 %r1, %ctaid.x;
  setp.lt.u32 %p1, %r1, 37;
  @%p1 bra GOOD;
  st.global.u32 [%rd1+64], %r1;
GOOD:
  ret;
})");
  const auto x = gpu.unwritten(64);
  for (int i = 0; i < 20; ++i) {
    const Outcome o = gpu.launch("k", 500, 32, x);
    ASSERT_TRUE(o.failed());
    EXPECT_EQ(o.findings[0].access.block.x, 37u);
    EXPECT_EQ(o.findings.size(), 1u);
  }
}

}  // namespace checks_test
}  // namespace lockstep::engine
