// Matrix operations of a warp or a warpgroup: participating threads, unwritten values, legal
// addresses, and order. //simulator/vectors:matrix_replay_test compares the computed values with
// silicon.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "simulator/coverage/judged.h"
#include "simulator/engine/tests/testing.h"

namespace lockstep::engine {
namespace matrix_test {

using check::Kind;
using ::testing::HasSubstr;
using testing::Machine;
using ::testing::Not;
using testing::text;

// A kernel with an input, an output, unwritten memory and 16 KB of shared memory. r0 is the thread;
// d0 and d1 its 16 bytes of input and output; d4 its 16 bytes of the unwritten memory; s0 its 16
// bytes of `tile`; r20 to r29 hold f16 ones, f0 to f3 zeros; p0 is true for thread 0.
std::string kernel(const std::string& body) {
  return R"(
.version 9.0
.target sm_90a
.address_size 64
.visible .entry k(.param .u64 in, .param .u64 out, .param .u64 none)
{
.reg .pred p<8>; .reg .b32 r<64>; .reg .f32 f<16>; .reg .b32 s<8>; .reg .b64 d<16>;
.shared .align 1024 .b8 tile[16384];
ld.param.u64 d2, [in];
ld.param.u64 d3, [out];
ld.param.u64 d5, [none];
mov.u32 r0, %tid.x;
mad.wide.u32 d0, r0, 16, d2;
mad.wide.u32 d1, r0, 16, d3;
mad.wide.u32 d4, r0, 16, d5;
mov.u32 s1, tile;
mad.lo.u32 s0, r0, 16, s1;
setp.eq.u32 p0, r0, 0;
setp.eq.u32 p7, r0, r0;
)" +
         [] {
           std::string ones;
           for (int i = 20; i < 30; ++i)
             ones += "mov.b32 r" + std::to_string(i) + ", 0x3c003c00;\n";
           return ones;
         }() +
         "mov.f32 f0, 0f00000000;\nmov.f32 f1, f0;\nmov.f32 f2, f0;\nmov.f32 f3, f0;\n" + body +
         "\nret;\n}\n";
}

class Matrices : public ::testing::Test {
 protected:
  Matrices() {
    in = gpu.buffer<std::uint32_t>(std::vector<std::uint32_t>(kWords, 0x3c003c00), "in");
    out = gpu.buffer<std::uint32_t>(std::vector<std::uint32_t>(kWords, 7), "out");
    none = gpu.unwritten(kWords * 4, "none");
  }
  Outcome run(const std::string& body, std::uint32_t threads = 32) {
    gpu.load_text(kernel(body));
    return gpu.launch("k", 1, threads, in, out, none);
  }
  std::vector<float> result(std::size_t n) { return gpu.fetch<float>(out, n); }
  void expect_finding(const Outcome& o, Kind kind, const std::string& words) {
    ASSERT_EQ(o.findings.size(), 1u) << text(o);
    EXPECT_EQ(o.findings[0].kind, kind) << text(o);
    EXPECT_THAT(o.findings[0].to_string(), HasSubstr(words));
  }
  void expect_clean(const Outcome& o) { EXPECT_TRUE(o.findings.empty()) << text(o); }

  static constexpr std::uint32_t kWords = 4096;
  Machine gpu;
  memory::Address in = 0, out = 0, none = 0;
};

constexpr char kMultiply[] =
    "mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {f4, f5, f6, f7}, {r20, r21, r22, r23}, "
    "{r24, r25}, {f0, f1, f2, f3};\n";
constexpr char kStore[] = "st.global.v4.f32 [d1], {f4, f5, f6, f7};\n";
const std::string kUnwritten = "ld.global.b32 r40, [d4];\n";

// ---- Participating threads

TEST_F(Matrices, AllLanesHoldAMatrix) {
  expect_clean(run(std::string(kMultiply) + kStore));
  EXPECT_EQ(result(128), std::vector<float>(128, 16.0f));
}

TEST_F(Matrices, LanesThatComeApartWaitForOneAnother) {
  for (std::uint64_t seed = 0; seed < 20; ++seed) {
    gpu.config.schedule_seed = seed;
    const std::string apart =
        "setp.lt.u32 p1, r0, 13;\n@p1 bra FEW;\nadd.u32 r30, r0, 1;\nbra JOIN;\nFEW:\nadd.u32 r30, "
        "r0, 2;\nJOIN:\n";
    expect_clean(run(apart + kMultiply + kStore));
    EXPECT_EQ(result(128), std::vector<float>(128, 16.0f));
  }
}

TEST_F(Matrices, ALaneThatHasExitedIsMissed) {
  expect_finding(run("@p0 ret;\n" + std::string(kMultiply)), Kind::kInvalidMask,
                 "executed by 31 of 32 lanes; lane 0 has exited");
  expect_finding(run("@p0 ret;\nldmatrix.sync.aligned.m8n8.x1.shared.b16 {r1}, [s0];\n"),
                 Kind::kInvalidMask, "31 of 32");
}

TEST_F(Matrices, AWarpWithoutAllItsLanesHoldsNone) {
  expect_finding(
      run(kMultiply, 48), Kind::kInvalidMask,
      "executed by 16 of 32 lanes; lane 16 does not exist: the block's size is no multiple of 32");
}

TEST_F(Matrices, LanesThatNeverComeAreADeadlock) {
  const Outcome o = run("setp.lt.u32 p1, r0, 16;\n@p1 bra OVER;\n" + std::string(kMultiply) +
                        "OVER:\nbar.warp.sync 0xffffffff;\n");
  ASSERT_FALSE(o.findings.empty());
  EXPECT_EQ(o.findings[0].kind, Kind::kInvalidMask) << text(o);
}

// ---- Unwritten values

// Row 3 of A is in lanes 12 to 15; rows 3 and 11 are in alternate registers: r20 and r22 are of the
// upper half.
TEST_F(Matrices, AnElementIsAsGoodAsWhatItIsMadeOf) {
  const std::string spoilt = kUnwritten +
                             "shr.u32 r1, r0, 2;\nsetp.eq.u32 p1, r1, 3;\n@p1 mov.b32 r20, r40;\n" +
                             kMultiply;
  // Rows 8 to 15 are written, and so are the rows of other lanes.
  expect_clean(run(spoilt + "add.f32 f6, f6, f7;\n@!p1 add.f32 f4, f4, f5;\nst.global.f32 [d1], "
                            "f6;\n@!p1 st.global.f32 [d1+4], f4;\n"));
  expect_finding(run(spoilt + "add.f32 f4, f4, f5;\nst.global.f32 [d1], f4;\n"),
                 Kind::kUninitialised, "never written");
}

TEST_F(Matrices, AColumnOfBSpoilsAColumnOfD) {
  // Column 2 of B is in the lanes 8 to 11; column 2 of D in lanes 1, 5, 9 ..., first register.
  const std::string spoilt = kUnwritten +
                             "shr.u32 r1, r0, 2;\nsetp.eq.u32 p1, r1, 2;\n@p1 mov.b32 r24, "
                             "r40;\nand.b32 r1, r0, 3;\nsetp.eq.u32 p2, r1, 1;\n" +
                             kMultiply;
  expect_clean(run(spoilt + "@!p2 st.global.f32 [d1], f4;\nst.global.f32 [d1+4], f5;\n"));
  expect_finding(run(spoilt + "st.global.f32 [d1], f4;\n"), Kind::kUninitialised, "never written");
}

TEST_F(Matrices, LdmatrixHandsOnWhichBytesWereWritten) {
  // Thread i has written row i, except thread 5; lanes 20 to 23 receive row 5.
  const std::string load =
      "setp.ne.u32 p1, r0, 5;\n@p1 st.shared.v4.b32 [s0], {r20, r21, r22, r23};\nbar.warp.sync "
      "0xffffffff;\n"
      "ldmatrix.sync.aligned.m8n8.x1.shared.b16 {r1}, [s0];\nshr.u32 r2, r0, 2;\nsetp.ne.u32 p2, "
      "r2, 5;\n";
  expect_clean(run(load + "@p2 st.global.b32 [d1], r1;\n"));
  expect_finding(run(load + "add.u32 r1, r1, 1;\nst.global.b32 [d1], r1;\n"), Kind::kUninitialised,
                 "ldmatrix");
  // Transposed: column 5 is unwritten, which lanes with 2 * (l % 4) = 4 hold.
  const std::string across =
      "setp.ne.u32 p1, r0, 5;\n@p1 st.shared.v4.b32 [s0], {r20, r21, r22, r23};\nbar.warp.sync "
      "0xffffffff;\n"
      "ldmatrix.sync.aligned.m8n8.x1.trans.shared.b16 {r1}, [s0];\nand.b32 r2, r0, 3;\nsetp.ne.u32 "
      "p2, r2, 2;\n";
  expect_clean(run(across + "@p2 add.u32 r1, r1, 1;\n@p2 st.global.b32 [d1], r1;\n"));
  expect_finding(run(across + "add.u32 r1, r1, 1;\nst.global.b32 [d1], r1;\n"),
                 Kind::kUninitialised, "ldmatrix");
}

TEST_F(Matrices, StmatrixOfWhatNobodyWroteWritesNothing) {
  const std::string stored =
      kUnwritten +
      "stmatrix.sync.aligned.m8n8.x1.shared.b16 [s0], {r40};\nbar.warp.sync 0xffffffff;\n";
  expect_clean(run(stored));
  expect_finding(run(stored + "setp.lt.u32 p1, r0, 8;\n@p1 ld.shared.b32 r1, [s0];\n@p1 add.u32 "
                              "r1, r1, 1;\n@p1 st.global.b32 [d1], r1;\n"),
                 Kind::kUninitialised, "never written");
}

TEST_F(Matrices, MovmatrixTurnsTheMarksToo) {
  // Row 0 is in lanes 0 to 3; transposed, column 0 is in lanes 0, 4, 8 ...
  const std::string turned =
      kUnwritten +
      "setp.lt.u32 p1, r0, 4;\n@p1 mov.b32 r20, r40;\nmovmatrix.sync.aligned.m8n8.trans.b16 r1, "
      "r20;\nand.b32 r2, r0, 3;\nsetp.ne.u32 p2, r2, 0;\n";
  expect_clean(run(turned + "@p2 add.u32 r1, r1, 1;\n@p2 st.global.b32 [d1], r1;\n"));
  expect_finding(run(turned + "add.u32 r1, r1, 1;\nst.global.b32 [d1], r1;\n"),
                 Kind::kUninitialised, "never written");
}

// ---- Addresses

TEST_F(Matrices, LdmatrixReadsSharedMemoryAlone) {
  expect_finding(run("ldmatrix.sync.aligned.m8n8.x4.b16 {r1, r2, r3, r4}, [d0];\n"),
                 Kind::kInvalidInstruction, "not one of shared memory");
  expect_finding(run("stmatrix.sync.aligned.m8n8.x1.b16 [d1], {r20};\n"), Kind::kInvalidInstruction,
                 "not one of shared memory");
}

TEST_F(Matrices, RowsAreAligned) {
  expect_finding(run("ldmatrix.sync.aligned.m8n8.x1.shared.b16 {r1}, [s0+8];\n"), Kind::kMisaligned,
                 "16");
  expect_finding(run("ldmatrix.sync.aligned.m8n8.x1.shared.b16 {r1}, [s0+16384];\n"),
                 Kind::kOutOfBounds, "tile");
}

// x1 uses the addresses of eight lanes only.
TEST_F(Matrices, AddressesOfOtherLanesDoNotCount) {
  expect_clean(
      run("st.shared.v4.b32 [s0], {r20, r21, r22, r23};\nbar.warp.sync 0xffffffff;\nsetp.ge.u32 "
          "p1, r0, 8;\n@p1 mov.u32 s0, 3;\n"
          "ldmatrix.sync.aligned.m8n8.x1.shared.b16 {r1}, [s0];\nst.global.b32 [d1], r1;\n"));
}

TEST_F(Matrices, AMatrixOfWmmaHasOneAddress) {
  const std::string load =
      "wmma.load.c.sync.aligned.row.m16n16k16.global.f32 {f4, f5, f6, f7, f8, f9, f10, f11}, ";
  expect_clean(run(load + "[d2], 16;\n"));
  expect_finding(run(load + "[d0], 16;\n"), Kind::kInvalidInstruction,
                 "differs from that of lane 0");
  expect_finding(run(load + "[d2+16], 16;\n"), Kind::kMisaligned,
                 "multiple of its fragment's size, 32 bytes");
  expect_finding(run(load + "[d2], 18;\n"), Kind::kMisaligned, "no multiple of 16 bytes");
  // Smaller fragments have fewer registers: two here.
  const std::string narrow = "wmma.load.a.sync.aligned.row.m16n16k16.global.u8 {r1, r2}, ";
  expect_clean(run(narrow + "[d2+8], 24;\n"));
  expect_finding(run(narrow + "[d2+4], 16;\n"), Kind::kMisaligned, "8 bytes");
  expect_finding(run(load + "[d2], 2048;\n"), Kind::kOutOfBounds, "'in'");
}

TEST_F(Matrices, WarpsRaceForAMatrixAsForAnythingElse) {
  const std::string both =
      "setp.ge.u32 p1, r0, 32;\nand.b32 r1, r0, 31;\nmad.lo.u32 s2, r1, 16, s1;\n@p1 bra READ;\n"
      "stmatrix.sync.aligned.m8n8.x4.shared.b16 [s2], {r20, r21, r22, r23};\nREAD:\n";
  const std::string read =
      "@!p1 bra OVER;\nldmatrix.sync.aligned.m8n8.x4.shared.b16 {r1, r2, r3, r4}, "
      "[s2];\nst.global.v4.b32 [d1], {r1, r2, r3, r4};\nOVER:\n";
  expect_clean(run(both + "bar.sync 0;\n" + read, 64));
  expect_finding(run(both + read, 64), Kind::kRace, "stmatrix");
}

// A layout that stores each row twice, as Triton does: both lanes write equal values.
TEST_F(Matrices, RowsAtOnePlaceRaceWhereTheyDiffer) {
  const std::string twice =
      "and.b32 r1, r0, 3;\nmad.lo.u32 s2, r1, 16, s1;\n"
      "stmatrix.sync.aligned.m8n8.x1.shared.b16 [s2], {r20};\n";
  const Outcome o = run(twice);
  expect_finding(o, Kind::kRace, "same value");
  EXPECT_EQ(o.findings.at(0).severity, check::Severity::kInformation);
  const Outcome other = run("mov.b32 r20, r0;\n" + twice);
  expect_finding(other, Kind::kRace, "stmatrix");
  EXPECT_EQ(other.findings.at(0).severity, check::Severity::kError);
}

// ---- Warpgroups

// A and B at `tile`: f16 ones without a swizzle, 64 x 16 and 8 x 16 elements; their descriptors are
// d6 and d7.
const std::string kOperands =
    "st.shared.v4.b32 [s0], {r20, r21, r22, r23};\nst.shared.v4.b32 [s0+2048], {r20, r21, r22, "
    "r23};\nfence.proxy.async;\nbar.sync 0;\n"
    "mov.u64 d6, tile;\nshr.u64 d6, d6, 4;\nadd.u64 d7, d6, 128;\n"
    "or.b64 d6, d6, 0x0000000800400000;\nor.b64 d7, d7, 0x0000000800080000;\n";
const std::string kFence = "wgmma.fence.sync.aligned;\n",
                  kWait = "wgmma.commit_group.sync.aligned;\nwgmma.wait_group.sync.aligned 0;\n";
const std::string kIssue =
    "wgmma.mma_async.sync.aligned.m64n8k16.f32.f16.f16 {f0, f1, f2, f3}, d6, d7, p7, 1, 1, 0, 0;\n";
const std::string kStoreFirst = "st.global.v4.f32 [d1], {f0, f1, f2, f3};\n";
constexpr std::uint32_t kGroup = 128;

JUDGES(Matrices, AWarpgroupMultipliesAndWaits, "wgmma.fence.sync.aligned",
       "wgmma.commit_group.sync.aligned", "wgmma.wait_group.sync.aligned imm0");
TEST_F(Matrices, AWarpgroupMultipliesAndWaits) {
  expect_clean(run(kOperands + kFence + kIssue + kIssue + kWait + kStoreFirst, kGroup));
  EXPECT_EQ(result(4 * kGroup), std::vector<float>(4 * kGroup, 32.0f));
}

TEST_F(Matrices, WithoutAFenceRegistersAreUnordered) {
  expect_finding(run(kOperands + kIssue + kWait + kStoreFirst, kGroup), Kind::kAsyncOrder,
                 "no wgmma.fence came before the first multiplication");
  expect_finding(
      run(kOperands + kFence + "add.f32 f2, f2, 0f3f800000;\n" + kIssue + kWait + kStoreFirst,
          kGroup),
      Kind::kAsyncOrder, "register 3 of the accumulator was written after the last wgmma.fence");
  // A fence is needed after a wait too.
  expect_finding(run(kOperands + kFence + kIssue + kWait + "add.f32 f0, f0, f0;\n" + kIssue +
                         kWait + kStoreFirst,
                     kGroup),
                 Kind::kAsyncOrder, "register 1 of");
  expect_clean(run(kOperands + kFence + kIssue + kWait + "add.f32 f0, f0, f0;\n" + kFence + kIssue +
                       kWait + kStoreFirst,
                   kGroup));
}

TEST_F(Matrices, AResultIsNobodysBeforeItIsWaitedFor) {
  expect_finding(run(kOperands + kFence + kIssue + kStoreFirst + kWait, kGroup), Kind::kAsyncOrder,
                 "is the result of a multiplication that nobody has waited for");
  expect_finding(run(kOperands + kFence + kIssue + "add.f32 f4, f0, f1;\n" + kWait +
                         "st.global.f32 [d1], f4;\n",
                     kGroup),
                 Kind::kAsyncOrder, "wgmma.wait_group must come before");
  // A wait does not cover an uncommitted group.
  expect_finding(run(kOperands + kFence + "wgmma.commit_group.sync.aligned;\n" + kIssue +
                         "wgmma.wait_group.sync.aligned 0;\n" + kStoreFirst,
                     kGroup),
                 Kind::kAsyncOrder, "nobody has waited");
  // wait_group 1: one group may be pending.
  const std::string two = kOperands + kFence + kIssue + "wgmma.commit_group.sync.aligned;\n" +
                          "wgmma.mma_async.sync.aligned.m64n8k16.f32.f16.f16 {f4, f5, f6, f7}, d6, "
                          "d7, 0, 1, 1, 0, 0;\n" +
                          "wgmma.commit_group.sync.aligned;\nwgmma.wait_group.sync.aligned 1;\n";
  expect_clean(run(two + kStoreFirst, kGroup));
  expect_finding(run(two + "st.global.v4.f32 [d1], {f4, f5, f6, f7};\n", kGroup), Kind::kAsyncOrder,
                 "nobody has waited");
}

TEST_F(Matrices, AResultOnItsWayMayBeCopied) {
  expect_clean(run(kOperands + kFence + kIssue + "mov.f32 f8, f0;\nmov.f32 f9, f1;\n" + kWait +
                       "st.global.f32 [d1], f8;\nst.global.f32 [d1+4], f9;\n",
                   kGroup));
  EXPECT_EQ(result(2), std::vector<float>(2, 16.0f));
}

TEST_F(Matrices, OperandsStayUntilTheyAreRead) {
  const std::string overwrite = "st.shared.v4.b32 [s0], {r0, r0, r0, r0};\n";
  // First unordered, then ordered after the issue but not after the multiplication.
  expect_finding(run(kOperands + kFence + kIssue + overwrite + kWait, kGroup), Kind::kRace,
                 "wgmma.mma_async");
  expect_finding(run(kOperands + kFence + kIssue + "bar.sync 0;\n" + overwrite + kWait, kGroup),
                 Kind::kRace, "overwritten before the multiplication was waited for");
  expect_clean(run(kOperands + kFence + kIssue + kWait + "bar.sync 0;\n" + overwrite, kGroup));
}

TEST_F(Matrices, OperandsAreReadUntilTheWaitHoweverEarlyItComes) {
  // A fifth warp overwrites the operands after a barrier: before the wait of the warpgroup, or
  // after it.
  const std::string issue =
                        "setp.ge.u32 p1, r0, 128;\n@p1 bra OTHER;\n" + kOperands + kFence + kIssue,
                    arrive = "bar.arrive 1, 160;\n";
  const std::string overwrite =
      "bra JOIN;\nOTHER:\nbar.sync 0;\nbar.sync 1, 160;\nsetp.eq.u32 p1, r0, 128;\nmov.u32 s2, "
      "tile;\n@p1 st.shared.b32 [s2], r0;\nJOIN:\n";
  expect_finding(run(issue + arrive + kWait + overwrite, kGroup + 32), Kind::kRace,
                 "wgmma.mma_async");
  expect_clean(run(issue + kWait + arrive + overwrite, kGroup + 32));
}

// Warps 4 and 5 do something else than the warpgroup. The blocks of a cluster have another search
// for races.
class OperandsOfAWarpgroup : public Matrices, public ::testing::WithParamInterface<int> {
 protected:
  void expect_race(const std::string& group, const std::string& fourth, const std::string& fifth,
                   bool races) {
    const auto blocks = static_cast<std::uint32_t>(GetParam());
    gpu.config.cluster = {blocks, 1, 1};
    gpu.load_text(
        kernel("setp.ge.u32 p1, r0, 128;\nsetp.ge.u32 p2, r0, 160;\nsetp.lt.u32 p3, r0, "
               "32;\nsetp.ge.u32 p4, r0, 96;\n@p2 bra FIFTH;\n@p1 bra FOURTH;\n" +
               kOperands + kFence + kIssue + group + kWait + "bra END;\nFOURTH:\nbar.sync 0;\n" +
               fourth + "bra END;\nFIFTH:\nbar.sync 0;\n" + fifth + "END:\n"));
    const Outcome o = gpu.launch("k", blocks, 192, in, out, none);
    ASSERT_EQ(!o.findings.empty(), races) << text(o);
    if (races) {
      EXPECT_EQ(o.findings[0].kind, Kind::kRace) << text(o);
    }
  }
  // The value that is there already.
  static constexpr char kRewrite[] = "setp.eq.u32 p5, r0, 128;\n@p5 st.shared.b32 [s1], r20;\n";
};

TEST_P(OperandsOfAWarpgroup, AreReadUntilTheWaitByWarpsThatHaveReleasedNothing) {
  // The fourth warp writes after warps 0 and 3, which go on after the write. Nothing orders it with
  // warps 1 and 2.
  const std::string both =
                        "@p3 bar.arrive 1, 96;\n@p4 bar.arrive 1, 96;\n@p3 bar.sync 2, "
                        "96;\n@p4 bar.sync 2, 96;\n",
                    before = "bar.sync 1, 96;\n", after = "bar.sync 2, 96;\n";
  expect_race(both, before + kRewrite + after, "", true);
  expect_race(both, before + after, "", false);
}

TEST_P(OperandsOfAWarpgroup, AreReadUntilTheWaitAfterABarrier) {
  const std::string barrier = "bar.sync 0;\n", wait = "bar.sync 1, 160;\n";
  // The write follows the barrier of all, but not the wait.
  expect_race(barrier + kWait + "bar.arrive 1, 160;\n", barrier + wait + kRewrite, barrier, false);
  expect_race(barrier, barrier + kRewrite, barrier, true);
}

INSTANTIATE_TEST_SUITE_P(OfABlockAndOfACluster, OperandsOfAWarpgroup, ::testing::Values(1, 2));

TEST_F(Matrices, AWarpgroupIsFourWarps) {
  const std::string rest = "st.shared.v4.b32 [s0+1024], {r20, r21, r22, r23};\n";
  expect_finding(run(rest + kOperands + kFence + kIssue + kWait, 64), Kind::kInvalidInstruction,
                 "the block has 2 warps");
  const std::string apart = "setp.lt.u32 p1, r0, 32;\n@p1 bra OTHER;\n" + kIssue +
                            "bra JOIN;\nOTHER:\n" + kIssue + "JOIN:\n";
  expect_finding(run(kOperands + kFence + apart + kWait, kGroup), Kind::kBarrierDivergence,
                 "another warp of its warpgroup executes");
}

TEST_F(Matrices, AWarpgroupChangesItsRegistersTogether) {
  const std::string fewer = "setmaxnreg.dec.sync.aligned.u32 24;\n",
                    more = "setmaxnreg.inc.sync.aligned.u32 232;\n";
  const std::string second = "setp.ge.u32 p1, r0, 128;\n@p1 bra OTHER;\n" + fewer +
                             "bra JOIN;\nOTHER:\n" + more + "JOIN:\n";
  expect_clean(run(second, 256));
  expect_finding(run(fewer, 64), Kind::kInvalidInstruction, "the block has 2 warps");
  expect_finding(run("setp.ge.u32 p1, r0, 32;\n@p1 bra OTHER;\n" + fewer + "bra JOIN;\nOTHER:\n" +
                         more + "JOIN:\n",
                     kGroup),
                 Kind::kBarrierDivergence, "another warp of its warpgroup executes");
  expect_finding(run("setp.ge.u32 p1, r0, 16;\n@p1 exit;\n" + fewer, kGroup), Kind::kInvalidMask,
                 "setmaxnreg");
}

// PTX ISA 9.7.19.5: setmaxnreg in conditional code only if all threads of the warpgroup evaluate
// the condition identically. CUTLASS's kernels for sm_100 do otherwise, with one count.
TEST_F(Matrices, OneCountInTwoBranchesIsInformationInCutlass) {
  const std::string count = "setmaxnreg.dec.sync.aligned.u32 24;\n",
                    other = "setmaxnreg.dec.sync.aligned.u32 32;\n",
                    place =
                        ".loc 2 927 7, function_name $str0, inlined_at 3 100 2\n"
                        ".loc 1 84 3, function_name $str0, inlined_at 2 927 7\n",
                    files =
                        ".file 1 \"/x/cutlass/arch/reg_reconfig.h\"\n.file 2 "
                        "\"/x/cutlass/gemm/kernel/sm100_gemm.hpp\"\n.file 3 "
                        "\"/x/cutlass/device_kernel.h\"\n.section .debug_str\n{\n"
                        "$str0:\n.b8 102,0\n}\n";
  const auto branches = [&](const std::string& first, const std::string& second) {
    return "setp.ge.u32 p1, r0, 32;\n@p1 bra OTHER;\n" + place + first + "bra JOIN;\nOTHER:\n" +
           place + second + "JOIN:\n";
  };
  const auto in_cutlass = [&](const std::string& body) {
    gpu.load_text(kernel(body) + files);
    return gpu.launch("k", 1, kGroup, in, out, none);
  };
  const Outcome known = in_cutlass(branches(count, count));
  expect_finding(known, Kind::kBarrierDivergence, "with the same count");
  EXPECT_EQ(known.findings[0].severity, check::Severity::kInformation);
  EXPECT_THAT(known.findings[0].to_string(), HasSubstr("strict-libraries"));
  const Outcome differs = in_cutlass(branches(count, other));
  expect_finding(differs, Kind::kBarrierDivergence, "another warp of its warpgroup executes");
  EXPECT_EQ(differs.findings[0].severity, check::Severity::kError);
  EXPECT_THAT(differs.findings[0].to_string(), Not(HasSubstr("the same count")));
  const std::string bare = "setp.ge.u32 p1, r0, 32;\n@p1 bra OTHER;\n" + count +
                           "bra JOIN;\nOTHER:\n" + count + "JOIN:\n";
  const Outcome user = run(bare, kGroup);
  expect_finding(user, Kind::kBarrierDivergence, "with the same count");
  EXPECT_EQ(user.findings[0].severity, check::Severity::kError);
}

TEST_F(Matrices, OrdinaryStoresAreFencedForTheOtherProxy) {
  std::string unfenced = kOperands;
  unfenced.erase(unfenced.find("fence.proxy.async;\n"), std::string("fence.proxy.async;\n").size());
  expect_finding(run(unfenced + kFence + kIssue + kWait + kStoreFirst, kGroup),
                 Kind::kMissingProxyFence, "fence.proxy.async");
  // After the barrier the multiplying threads may do so.
  expect_clean(
      run(unfenced + "fence.proxy.async.shared::cta;\n" + kFence + kIssue + kWait + kStoreFirst,
          kGroup));
}

TEST_F(Matrices, WhatADescriptorNamesWasWritten) {
  expect_finding(
      run("fence.proxy.async;\nmov.u64 d6, tile;\nshr.u64 d6, d6, 4;\nmov.u64 d7, d6;\n" + kFence +
              kIssue + kWait,
          kGroup),
      Kind::kUninitialised, "its descriptor names");
  expect_finding(run(kOperands + "add.u64 d7, d7, 1024;\n" + kFence + kIssue + kWait, kGroup),
                 Kind::kOutOfBounds, "tile");
}

}  // namespace matrix_test
}  // namespace lockstep::engine
