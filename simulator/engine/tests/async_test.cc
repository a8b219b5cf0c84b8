// cp.async, cp.async.bulk and mbarrier objects: results, and findings for their misuse.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "simulator/coverage/judged.h"
#include "simulator/engine/tests/testing.h"

namespace lockstep::engine {
namespace async_test {

using check::Kind;
using ::testing::HasSubstr;
using testing::Machine;
using testing::text;

// A kernel with an input, an output and 1024 bytes of shared memory, `tile`. r0 is the thread; d0
// and d1 are the addresses of its 16 bytes of input and output; s0 is the address of its 16 bytes
// of `tile`. b0 is the address of `bar`, with room for four mbarriers.
std::string kernel(const std::string& body) {
  return R"(
.visible .entry k(.param .u64 in, .param .u64 out)
{
.reg .pred p<8>; .reg .b16 h<8>; .reg .b32 r<32>; .reg .b32 s<8>; .reg .b32 b<8>; .reg .b64 d<16>;
.shared .align 16 .b8 tile[1024];
.shared .align 8 .b64 bar[4];
ld.param.u64 d2, [in];
ld.param.u64 d3, [out];
mov.u32 r0, %tid.x;
mad.wide.u32 d0, r0, 16, d2;
mad.wide.u32 d1, r0, 16, d3;
mov.u32 s1, tile;
mad.lo.u32 s0, r0, 16, s1;
mov.u32 b0, bar;
setp.eq.u32 p0, r0, 0;
)" + body +
         "\nret;\n}\n";
}

class Async : public ::testing::Test {
 protected:
  Async() {
    for (std::uint32_t i = 0; i < kWords; ++i) values.push_back(1000 + i);
    in = gpu.buffer<std::uint32_t>(values, "in");
    out = gpu.buffer<std::uint32_t>(std::vector<std::uint32_t>(kWords, 7), "out");
  }
  Outcome run(const std::string& body, std::uint32_t threads = 32, std::uint32_t blocks = 1) {
    gpu.load_text(testing::module_text(kernel(body)));
    return gpu.launch("k", blocks, threads, in, out);
  }
  std::vector<std::uint32_t> result(std::size_t n) { return gpu.fetch<std::uint32_t>(out, n); }
  // Expects exactly one finding, of this kind.
  void expect_finding(const Outcome& o, Kind kind, const std::string& words) {
    ASSERT_EQ(o.findings.size(), 1u) << text(o);
    EXPECT_EQ(o.findings[0].kind, kind) << text(o);
    EXPECT_THAT(o.findings[0].to_string(), HasSubstr(words));
  }
  void expect_clean(const Outcome& o) { EXPECT_TRUE(o.findings.empty()) << text(o); }

  static constexpr std::uint32_t kWords = 512;
  Machine gpu;
  std::vector<std::uint32_t> values;
  memory::Address in = 0, out = 0;
};

constexpr char kStoreFour[] =
    "ld.shared.v4.u32 {r4, r5, r6, r7}, [s0];\nst.global.v4.u32 [d1], {r4, r5, r6, r7};\n";

// ---- cp.async
// -------------------------------------------------------------------------------------------------

JUDGES(Async, CopiesArriveWithTheirGroup,
       "cp.async.cg.shared.global [a], [b], imm16{, e:u32}{, policy:b64}", "cp.async.commit_group",
       "cp.async.wait_group");
TEST_F(Async, CopiesArriveWithTheirGroup) {
  expect_clean(run(std::string("cp.async.cg.shared.global [s0], [d0], "
                               "16;\ncp.async.commit_group;\ncp.async.wait_group 0;\n") +
                   kStoreFour));
  EXPECT_EQ(result(128), std::vector<std::uint32_t>(values.begin(), values.begin() + 128));
}

JUDGES(Async, CopiesOfEverySizeAndOffset,
       "cp.async.ca.shared.global [a], [b], imm16{, e:u32}{, policy:b64}", "cp.async.wait_all");
TEST_F(Async, CopiesOfEverySizeAndOffset) {
  expect_clean(
      run(std::string("cp.async.ca.shared.global [s0+0], [d0+8], 8;\ncp.async.ca.shared.global "
                      "[s0+8], [d0+4], 4;\n"
                      "cp.async.ca.shared.global [s0+12], [d0+0], 4;\ncp.async.wait_all;\n") +
          kStoreFour));
  const auto r = result(8);
  EXPECT_EQ(r, (std::vector<std::uint32_t>{1002, 1003, 1001, 1000, 1006, 1007, 1005, 1004}));
}

TEST_F(Async, WhatASourceLacksIsZero) {
  // Thread t copies t % 17 bytes of its source.
  expect_clean(run(std::string("rem.u32 r1, r0, 17;\ncp.async.cg.shared.global [s0], [d0], 16, "
                               "r1;\ncp.async.wait_all;\n") +
                   kStoreFour));
  const auto bytes = gpu.fetch<std::uint8_t>(out, 512);
  const auto* from = reinterpret_cast<const std::uint8_t*>(values.data());
  for (std::size_t i = 0; i < 512; ++i)
    EXPECT_EQ(bytes[i], i % 16 < i / 16 % 17 ? from[i] : 0) << i;
}

JUDGES(Async, AnIgnoredSourceIsNotRead,
       "cp.async.ca.shared.global [a], [b], imm16, e:pred{, policy:b64}");
TEST_F(Async, AnIgnoredSourceIsNotRead) {
  expect_clean(
      run(std::string("setp.ge.u32 p1, r0, 16;\nselp.b64 d0, 0, d0, p1;\ncp.async.ca.shared.global "
                      "[s0], [d0], 16, p1;\ncp.async.wait_all;\n") +
          kStoreFour));
  const auto r = result(128);
  for (std::size_t i = 0; i < 128; ++i) EXPECT_EQ(r[i], i < 64 ? values[i] : 0) << i;
}

TEST_F(Async, TheNewestGroupsMayStayUnderWay) {
  const std::string two =
      "cp.async.ca.shared.global [s0], [d0], 4;\ncp.async.commit_group;\n"
      "cp.async.ca.shared.global [s0+4], [d0+4], 4;\ncp.async.commit_group;\ncp.async.wait_group "
      "1;\n";
  expect_clean(run(two + "ld.shared.u32 r4, [s0];\nst.global.u32 [d1], r4;\n"));
  EXPECT_EQ(result(1)[0], 1000u);
  expect_finding(run(two + "ld.shared.u32 r4, [s0+4];\nst.global.u32 [d1], r4;\n"), Kind::kRace,
                 "asynchronous copy is on its way");
}

TEST_F(Async, ReadingBeforeTheWaitIsFound) {
  const Outcome o =
      run(std::string("cp.async.cg.shared.global [s0], [d0], 16;\ncp.async.commit_group;\n") +
          kStoreFour + "cp.async.wait_all;\n");
  expect_finding(o, Kind::kRace, "asynchronous copy is on its way");
  ASSERT_TRUE(o.findings[0].other.has_value());
  EXPECT_EQ(o.findings[0].other->site.instruction, "cp.async.cg.shared.global");
}

TEST_F(Async, WhatIsNotCommittedIsNotWaitedFor) {
  expect_finding(
      run(std::string("cp.async.cg.shared.global [s0], [d0], 16;\ncp.async.wait_group 0;\n") +
          kStoreFour),
      Kind::kRace, "on its way");
}

TEST_F(Async, OtherThreadsNeedABarrierAfterTheWait) {
  // Thread t reads the bytes that thread 63 - t has copied.
  const std::string copy = "cp.async.cg.shared.global [s0], [d0], 16;\ncp.async.wait_all;\n",
                    barrier = "bar.sync 0;\n";
  const std::string read =
      "sub.u32 r1, 63, r0;\nmad.lo.u32 s0, r1, 16, s1;\n" + std::string(kStoreFour);
  expect_clean(run(copy + barrier + read, 64));
  EXPECT_EQ(result(1)[0], values[63 * 4]);
  expect_finding(run(copy + read, 64), Kind::kRace, "");
  // A barrier before the wait orders only the issue of the copy.
  expect_finding(
      run("cp.async.cg.shared.global [s0], [d0], 16;\nbar.sync 0;\ncp.async.wait_all;\n" + read,
          64),
      Kind::kRace, "");
}

TEST_F(Async, ACopyOverWhatOthersStillReadIsARace) {
  const std::string fill =
      "st.shared.v4.u32 [s0], {r0, r0, r0, r0};\nbar.sync 0;\nsub.u32 r1, 63, r0;\nmad.lo.u32 s2, "
      "r1, 16, s1;\nld.shared.u32 r4, [s2];\n";
  const std::string copy =
      "cp.async.cg.shared.global [s0], [d0], 16;\ncp.async.wait_all;\nst.global.u32 [d1], r4;\n";
  expect_clean(run(fill + "bar.sync 0;\n" + copy, 64));
  expect_finding(run(fill + copy, 64), Kind::kRace, "");
}

// Copies of several threads that write equal bytes to one place are information, as with stores.
// The check compares the copied values, not their sources, also for pending copies.
TEST_F(Async, CopiesThatBringTheSameAreInformation) {
  const auto severity = [&](const std::string& copies) {
    const Outcome o = run(copies +
                              "cp.async.wait_all;\nbar.sync 0;\nld.shared.u32 r4, [s1];\n"
                              "st.global.u32 [d1], r4;\n",
                          64);
    EXPECT_FALSE(o.findings.empty());
    for (const auto& f : o.findings) {
      EXPECT_EQ(f.kind, Kind::kRace) << text(o);
      if (f.severity == check::Severity::kError) return check::Severity::kError;
    }
    return check::Severity::kInformation;
  };
  const std::string copy = "cp.async.ca.shared.global [s1], [d4], 4;\n",
                    first = "mov.u64 d4, d2;\n", own = "mov.u64 d4, d0;\n";
  EXPECT_EQ(severity(first + copy), check::Severity::kInformation);
  EXPECT_EQ(result(1)[0], 1000u);
  EXPECT_EQ(severity(own + copy), check::Severity::kError);
  // Each warp copies its own word; all lanes of a warp copy the same word.
  EXPECT_EQ(severity("shr.u32 r1, r0, 5;\nmad.wide.u32 d4, r1, 16, d2;\n" + copy),
            check::Severity::kError);
  // The second copies of all threads write another word than the first copies of others.
  EXPECT_EQ(severity(first + copy + "add.u64 d4, d2, 16;\n" + copy), check::Severity::kError);
  // Half of the bytes overlap with copies of others.
  EXPECT_EQ(severity("and.b32 r1, r0, 1;\nmad.lo.u32 s1, r1, 4, s1;\nmov.u64 d4, d2;\n"
                     "cp.async.ca.shared.global [s1], [d4], 4;\nmov.u32 s1, tile;\n"
                     "cp.async.ca.shared.global [s1], [d4], 8;\n"),
            check::Severity::kError);
  // A store of equal bytes is not a copy.
  EXPECT_EQ(severity("st.shared.u32 [s1], 1000;\n" + first + copy), check::Severity::kError);
}

TEST_F(Async, BothSidesAreChecked) {
  expect_finding(run("add.u64 d0, d0, 4;\ncp.async.cg.shared.global [s0], [d0], 16;\n"),
                 Kind::kMisaligned, "16");
  expect_finding(run("cp.async.cg.shared.global [s0+4], [d0], 16;\n"), Kind::kMisaligned, "16");
  expect_finding(run("add.u64 d0, d0, 8;\ncp.async.cg.shared.global [s0], [d0], 16;\n"),
                 Kind::kMisaligned, "16");
  expect_finding(run("cp.async.cg.shared.global [s0+8], [d0], 16;\n"), Kind::kMisaligned, "16");
  expect_finding(run("add.u64 d0, d0, 8;\ncp.async.cg.shared.global [s0], [d0], 16, 8;\n"),
                 Kind::kMisaligned, "16");
  expect_finding(run("cp.async.cg.shared.global [s0], [d0+4096], 16;\n"), Kind::kOutOfBounds,
                 "'in'");
  expect_finding(run("cp.async.cg.shared.global [s0+1024], [d0], 16;\n"), Kind::kOutOfBounds,
                 "'tile'");
  expect_finding(run("mov.u32 r1, 20;\ncp.async.cg.shared.global [s0], [d0], 16, r1;\n"),
                 Kind::kInvalidInstruction, "20 bytes");
}

TEST_F(Async, UnwrittenSourcesMayBeCopiedButNotUsed) {
  const memory::Address empty = gpu.unwritten(8192, "empty");
  gpu.load_text(testing::module_text(
      kernel(std::string("cp.async.cg.shared.global [s0], [d0], 16;\ncp.async.wait_all;\n") +
             kStoreFour)));
  expect_clean(gpu.launch("k", 1, 32, empty, out));
  gpu.load_text(testing::module_text(
      kernel("cp.async.cg.shared.global [s0], [d0], 16;\ncp.async.wait_all;\nld.shared.u32 r4, "
             "[s0];\nadd.u32 r4, r4, 1;\nst.global.u32 [d1], r4;\n")));
  expect_finding(gpu.launch("k", 1, 32, empty, out), Kind::kUninitialised, "");
}

TEST_F(Async, WithoutTheChecksCopiesStillWork) {
  gpu.config.checks = check::kNoChecks;
  expect_clean(run(std::string("cp.async.cg.shared.global [s0], [d0], 16;\ncp.async.wait_all;\n") +
                   kStoreFour));
  EXPECT_EQ(result(128), std::vector<std::uint32_t>(values.begin(), values.begin() + 128));
}

// ---- mbarrier
// -------------------------------------------------------------------------------------------------

constexpr char kInit64[] = "@p0 mbarrier.init.shared.b64 [b0], 64;\nbar.sync 0;\n";
constexpr char kWaitParity0[] =
    "W: mbarrier.try_wait.parity.shared.b64 p1, [b0], 0;\n@!p1 bra W;\n";

TEST_F(Async, APhaseOrdersWhoArrivesBeforeWhoWaits) {
  const std::string body = std::string(kInit64) +
                           "st.shared.u32 [s0], r0;\nmbarrier.arrive.shared.b64 d4, [b0];\n"
                           "W: mbarrier.try_wait.shared.b64 p1, [b0], d4;\n@!p1 bra W;\n"
                           "sub.u32 r1, 63, r0;\nmad.lo.u32 s2, r1, 16, s1;\nld.shared.u32 r4, "
                           "[s2];\nst.global.u32 [d1], r4;\n";
  expect_clean(run(body, 64));
  EXPECT_EQ(result(1)[0], 63u);
}

TEST_F(Async, TestWaitAnswersAtOnce) {
  // Thread 0 tests the phase before and after the only arrival, its own.
  expect_clean(
      run("mov.u32 r5, 0;\n@!p0 bra E;\nmbarrier.init.shared.b64 [b0], "
          "1;\nmbarrier.test_wait.parity.shared.b64 p1, [b0], 0;\nselp.u32 r4, 1, 0, p1;\n"
          "mbarrier.arrive.shared.b64 d4, [b0];\nmbarrier.test_wait.shared.b64 p2, [b0], "
          "d4;\nselp.u32 r5, 1, 0, p2;\n"
          "mbarrier.test_wait.parity.shared.b64 p3, [b0], 1;\nselp.u32 r6, 1, 0, "
          "p3;\nst.global.v4.u32 [d1], {r4, r5, r6, r5};\nE:\n"));
  EXPECT_EQ(result(4), (std::vector<std::uint32_t>{0, 1, 0, 1}));
}

TEST_F(Async, CountsDropsAndPendingCounts) {
  expect_clean(
      run("@!p0 bra E;\nmbarrier.init.shared.b64 [b0], 5;\nmbarrier.arrive.shared::cta.b64 d4, "
          "[b0], 2;\nmbarrier.pending_count.b64 r4, d4;\n"
          "mbarrier.arrive.noComplete.shared.b64 d5, [b0], 1;\nmbarrier.pending_count.b64 r5, d5;\n"
          "mbarrier.arrive_drop.shared.b64 d6, [b0];\nmbarrier.arrive.shared.b64 d7, "
          "[b0];\nmbarrier.pending_count.b64 r6, d7;\n"
          "mbarrier.arrive.shared.b64 d8, [b0];\nmbarrier.pending_count.b64 r7, "
          "d8;\nst.global.v4.u32 [d1], {r4, r5, r6, r7};\n"
          "mbarrier.inval.shared.b64 [b0];\nE:\n"));
  EXPECT_EQ(result(4),
            (std::vector<std::uint32_t>{5, 3, 1, 4}));  // the second phase expects one arrival less
}

TEST_F(Async, ManyPhasesByParity) {
  const std::string body =
      std::string(kInit64) +
      "mov.u32 r2, 0;\nmov.u32 r3, 0;\nL: mbarrier.arrive.shared.b64 _, [b0];\nand.b32 r4, r2, 1;\n"
      "W: mbarrier.try_wait.parity.shared.b64 p1, [b0], r4;\n@!p1 bra W;\nadd.u32 r2, r2, "
      "1;\nsetp.lt.u32 p2, r2, 100;\n@p2 bra L;\n"
      "st.global.u32 [d1], r2;\n";
  expect_clean(run(body, 64));
  EXPECT_EQ(result(1)[0], 100u);
}

JUDGES(Async, UseBeforeInitialisationIsFound, "mbarrier.inval.shared.b64");
TEST_F(Async, UseBeforeInitialisationIsFound) {
  expect_finding(run("@p0 mbarrier.arrive.shared.b64 _, [b0];\n"), Kind::kMbarrierMisuse,
                 "is not initialised");
  expect_finding(run("@p0 mbarrier.init.shared.b64 [b0], 1;\n@p0 mbarrier.inval.shared.b64 "
                     "[b0];\n@p0 mbarrier.arrive.shared.b64 _, [b0];\n"),
                 Kind::kMbarrierMisuse, "is not initialised");
  // The other warp's arrival is not ordered after the initialisation.
  expect_finding(
      run("@p0 mbarrier.init.shared.b64 [b0], 64;\nmbarrier.arrive.shared.b64 _, [b0];\n", 64),
      Kind::kRace, "'bar'");
}

TEST_F(Async, MoreArrivalsThanExpectedAreFound) {
  expect_finding(run("@p0 mbarrier.init.shared.b64 [b0], 16;\nbar.sync "
                     "0;\nmbarrier.arrive.shared::cta.b64 d4, [b0], 3;\n"),
                 Kind::kMbarrierMisuse, "is given 3");
  expect_finding(run("@p0 mbarrier.init.shared.b64 [b0], 0;\n"), Kind::kMbarrierMisuse,
                 "for 0 arrivals");
  expect_finding(run("@p0 mbarrier.init.shared.b64 [b0], 0x100000;\n"), Kind::kMbarrierMisuse,
                 "1048576");
  expect_finding(run("@!p0 bra E;\nmbarrier.init.shared.b64 [b0], "
                     "1;\nmbarrier.arrive.noComplete.shared.b64 d4, [b0], 1;\nE:\n"),
                 Kind::kMbarrierMisuse, "noComplete");
}

TEST_F(Async, AnObjectIsInitialisedOnceAndBelongsToItsOperations) {
  const std::string init = "@p0 mbarrier.init.shared.b64 [b0], 1;\n";
  expect_finding(run(init + init), Kind::kMbarrierMisuse, "initialised again");
  expect_finding(run(init + "@p0 ld.shared.u64 d4, [b0];\n@p0 st.global.u64 [d1], d4;\n"),
                 Kind::kMbarrierMisuse, "ordinary memory");
  expect_finding(
      run(init + "@p0 st.shared.u32 [b0+4], r0;\n@p0 mbarrier.arrive.shared.b64 _, [b0];\n"),
      Kind::kMbarrierMisuse, "overwritten");
  expect_clean(run(init + "@p0 mbarrier.inval.shared.b64 [b0];\n@p0 st.shared.u64 [b0], d0;\n@p0 "
                          "ld.shared.u64 d4, [b0];\n@p0 st.global.u64 [d1], d4;\n"));
}

TEST_F(Async, InvalidationUnderWaitersIsFound) {
  // The second warp is the last at the barrier and waits on the mbarrier before the first warp runs
  // again.
  expect_finding(run("@p0 mbarrier.init.shared.b64 [b0], 1;\nbar.sync 0;\n@p0 "
                     "mbarrier.inval.shared.b64 [b0];\nsetp.lt.u32 p3, r0, 32;\n@p3 bra E;\n" +
                         std::string(kWaitParity0) + "E:\n",
                     64),
                 Kind::kMbarrierMisuse, "while threads wait for it");
}

TEST_F(Async, AMissingArrivalIsADeadlockThatSaysSo) {
  const Outcome o = run(
      "@p0 mbarrier.init.shared.b64 [b0], 33;\nbar.sync 0;\nmbarrier.arrive.shared.b64 _, [b0];\n" +
      std::string(kWaitParity0));
  expect_finding(o, Kind::kDeadlock, "waits for 1 of 33 arrivals");
}

TEST_F(Async, TryWaitGivesUpWhenNothingElseCanRun) {
  // A program that tests three times and then continues.
  expect_clean(
      run("@p0 mbarrier.init.shared.b64 [b0], 33;\nbar.sync 0;\nmov.u32 r2, 0;\nL: "
          "mbarrier.try_wait.parity.shared.b64 p1, [b0], 0;\nadd.u32 r2, r2, 1;\n"
          "setp.lt.u32 p2, r2, 3;\n@p2 bra L;\nselp.u32 r3, 1, 0, p1;\nst.global.v2.u32 [d1], {r2, "
          "r3};\n"));
  EXPECT_EQ(result(2), (std::vector<std::uint32_t>{3, 0}));
}

TEST_F(Async, ObjectsMustLieInSharedMemoryAndBeAligned) {
  expect_finding(run("@p0 mbarrier.init.b64 [d0], 1;\n"), Kind::kMbarrierMisuse,
                 "no shared memory");
  expect_finding(run("@p0 mbarrier.init.shared.b64 [b0+4], 1;\n"), Kind::kMisaligned, "8");
  expect_clean(
      run("@p0 cvta.shared.u64 d4, d5;\n@!p0 bra E;\nmov.u32 r1, bar;\ncvt.u64.u32 d5, "
          "r1;\ncvta.shared.u64 d4, d5;\nmbarrier.init.b64 [d4], "
          "1;\nmbarrier.arrive.b64 d6, [d4];\nE:\n"));
}

JUDGES(Async, CopiesThatArriveAtAnMbarrier, "cp.async.mbarrier.arrive.noinc.shared.b64",
       "cp.async.mbarrier.arrive.shared.b64");
TEST_F(Async, CopiesThatArriveAtAnMbarrier) {
  const std::string body = std::string(kInit64) +
                           "cp.async.cg.shared.global [s0], [d0], "
                           "16;\ncp.async.mbarrier.arrive.noinc.shared.b64 [b0];\n";
  const std::string read =
      "sub.u32 r1, 63, r0;\nmad.lo.u32 s0, r1, 16, s1;\n" + std::string(kStoreFour);
  expect_clean(run(body + kWaitParity0 + read, 64));
  EXPECT_EQ(result(1)[0], values[63 * 4]);
  expect_finding(run(body + kStoreFour, 64), Kind::kRace, "on its way");
  // The increment makes the phase wait for one more arrival.
  expect_clean(
      run(std::string(kInit64) +
              "cp.async.cg.shared.global [s0], [d0], 16;\ncp.async.mbarrier.arrive.shared.b64 "
              "[b0];\nmbarrier.arrive.shared.b64 _, [b0];\n" +
              kWaitParity0 + read,
          64));
}

// ---- bulk copies
// -------------------------------------------------------------------------------------------------

// Thread 0 copies 512 bytes.
constexpr char kFetch[] =
    "@p0 mbarrier.init.shared.b64 [b0], 1;\nfence.mbarrier_init.release.cluster;\nbar.sync "
    "0;\n@!p0 bra F;\n"
    "mbarrier.arrive.expect_tx.shared.b64 _, [b0], 512;\n"
    "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [s1], [d2], 512, "
    "[b0];\nF:\n";

JUDGES(Async, ABulkCopyCompletesItsTransactions,
       "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes");
TEST_F(Async, ABulkCopyCompletesItsTransactions) {
  expect_clean(run(std::string(kFetch) + kWaitParity0 + kStoreFour));
  EXPECT_EQ(result(128), std::vector<std::uint32_t>(values.begin(), values.begin() + 128));
}

TEST_F(Async, BulkDataReadBeforeThePhaseIsFound) {
  expect_finding(run(std::string(kFetch) + kStoreFour + kWaitParity0), Kind::kRace, "on its way");
}

TEST_F(Async, AWrongNumberOfBytesIsADeadlock) {
  std::string wrong = kFetch;
  wrong.replace(wrong.find("[b0], 512;"), 10, "[b0], 528;");
  expect_finding(run(wrong + kWaitParity0), Kind::kDeadlock, "and 16 bytes");
}

TEST_F(Async, BulkCopiesAreCheckedForSizeAlignmentAndBounds) {
  const auto fetch = [](const std::string& to, const std::string& from, const std::string& size) {
    return "@p0 mbarrier.init.shared.b64 [b0], 1;\n@p0 "
           "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [" +
           to + "], [" + from + "], " + size + ", [b0];\n";
  };
  expect_finding(run(fetch("s1", "d2", "20")), Kind::kInvalidInstruction, "multiple of 16");
  expect_finding(run(fetch("s1+8", "d2", "32")), Kind::kMisaligned, "16");
  expect_finding(run(fetch("s1", "d2+8", "32")), Kind::kMisaligned, "16");
  expect_finding(run(fetch("s1", "d2", "1040")), Kind::kOutOfBounds, "'tile'");
  expect_finding(run(fetch("s1", "d2+2032", "32")), Kind::kOutOfBounds, "'in'");
  expect_finding(run("@p0 cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [s1], "
                     "[d2], 32, [b0];\n"),
                 Kind::kMbarrierMisuse, "not initialised");
}

JUDGES(Async, BulkStoresReachGlobalMemory, "cp.async.bulk.global.shared::cta.bulk_group",
       "cp.async.bulk.commit_group", "cp.async.bulk.wait_group.read");
TEST_F(Async, BulkStoresReachGlobalMemory) {
  const std::string fill =
      "st.shared.v4.u32 [s0], {r0, r0, r0, r0};\nfence.proxy.async.shared::cta;\nbar.sync 0;\n@!p0 "
      "bra E;\n"
      "cp.async.bulk.global.shared::cta.bulk_group [d3], [s1], 512;\ncp.async.bulk.commit_group;\n";
  expect_clean(run(fill + "cp.async.bulk.wait_group.read 0;\nst.shared.u32 [s1], 99;\nE:\n"));
  const auto r = result(128);
  for (std::uint32_t i = 0; i < 128; ++i) EXPECT_EQ(r[i], i / 4);
  std::uint32_t blocks = 1;
  const auto expect_overwritten = [&](const std::string& body, std::uint32_t by) {
    const Outcome o = run(body, 32, blocks);
    expect_finding(o, Kind::kRace, "source has been overwritten");
    ASSERT_TRUE(o.findings[0].other.has_value());
    EXPECT_EQ(o.findings[0].access.thread.x, 0u);
    EXPECT_EQ(o.findings[0].other->thread.x, by);
    EXPECT_EQ(o.findings[0].other->site.instruction, "st.shared.u32");
  };
  expect_overwritten(fill + "st.shared.u32 [s1+64], 99;\ncp.async.bulk.wait_group.read 0;\nE:\n",
                     0);
  // The store of another thread, which a barrier orders after the issue of the copy but not after
  // the copy.
  const std::string later =
      "E:\nbar.sync 0;\nsetp.eq.u32 p2, r0, 9;\n@p2 st.shared.u32 [s1+64], 99;\nbar.sync 0;\n@!p0 "
      "bra F;\ncp.async.bulk.wait_group.read 0;\nF:\n";
  expect_overwritten(fill + later, 9);
  gpu.config.cluster = {2, 1, 1};
  blocks = 2;
  expect_overwritten(
      "mov.u32 r9, %cluster_ctarank;\nmad.wide.u32 d3, r9, 512, d3;\n" + fill + later, 9);
}

JUDGES(Async, ThePartsOfAClusterCopyAndArriveAtOneAnother,
       "cp.async.bulk.shared::cluster.shared::cta.mbarrier::complete_tx::bytes",
       "mbarrier.arrive.release.cluster.shared::cluster.b64");
TEST_F(Async, ThePartsOfAClusterCopyAndArriveAtOneAnother) {
  // Rank 0 copies its tile to rank 1, whose mbarrier expects the bytes and an arrival of rank 0.
  gpu.config.cluster = {2, 1, 1};
  const std::string body =
      "mov.u32 r9, %cluster_ctarank;\n@p0 mbarrier.init.shared.b64 [b0], 2;\nadd.u32 r2, r0, "
      "500;\nst.shared.v4.u32 [s0], {r2, r2, r2, r2};\n"
      "barrier.cluster.arrive.aligned;\nbarrier.cluster.wait.aligned;\nsetp.eq.u32 p3, r9, 1;\n@p3 "
      "bra R;\n"
      "mapa.shared::cluster.u32 r10, s1, 1;\nmapa.shared::cluster.u32 r11, b0, 1;\n@!p0 bra "
      "D;\nfence.proxy.async;\n"
      "cp.async.bulk.shared::cluster.shared::cta.mbarrier::complete_tx::bytes [r10], [s1], 512, "
      "[r11];\n"
      "mbarrier.arrive.release.cluster.shared::cluster.b64 _, [r11];\nbra D;\n"
      "R: @p0 mbarrier.arrive.expect_tx.shared.b64 _, [b0], 512;\n" +
      std::string(kWaitParity0) +
      "ld.shared.u32 r4, [s0];\nst.global.u32 [d1], r4;\nD: "
      "barrier.cluster.arrive.aligned;\nbarrier.cluster.wait.aligned;\n";
  // Threads of rank 1 wrote its tile before. The cluster's barrier orders the copy after those
  // writes.
  const Outcome o = run(body, 32, 2);
  expect_clean(o);
  const auto r = result(128);
  for (std::uint32_t t = 0; t < 32; ++t) EXPECT_EQ(r[4 * t], 500 + t);
}

JUDGES(Async, AMulticastReachesEveryBlockItNames,
       "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes.multicast::cluster");
TEST_F(Async, AMulticastReachesEveryBlockItNames) {
  gpu.config.cluster = {2, 1, 1};
  const std::string body =
      "mov.u32 r9, %cluster_ctarank;\n@p0 mbarrier.init.shared.b64 [b0], "
      "1;\nfence.mbarrier_init.release.cluster;\nbarrier.cluster.arrive;\nbarrier.cluster.wait;\n"
      "@p0 mbarrier.arrive.expect_tx.shared.b64 _, [b0], 256;\nsetp.eq.u32 p3, r9, 0;\nand.pred "
      "p3, p3, p0;\nmov.b16 h0, 3;\n"
      "@p3 cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes.multicast::cluster "
      "[s1], [d2], 256, [b0], h0;\n" +
      std::string(kWaitParity0) +
      "setp.ge.u32 p4, r0, 16;\n@p4 bra E;\nld.shared.u32 r4, [s0];\nmad.lo.u32 r5, r9, 16, "
      "r0;\nmad.wide.u32 d5, r5, 4, d3;\nst.global.u32 [d5], r4;\n"
      "E: barrier.cluster.arrive;\nbarrier.cluster.wait;\n";
  expect_clean(run(body, 32, 2));
  const auto r = result(32);
  for (std::uint32_t t = 0; t < 32; ++t) EXPECT_EQ(r[t], values[t % 16 * 4]);
}

TEST_F(Async, AMissingArrivalInAClusterIsADeadlock) {
  gpu.config.cluster = {2, 1, 1};
  expect_finding(
      run("@p0 mbarrier.init.shared.b64 [b0], "
          "2;\nbarrier.cluster.arrive;\nbarrier.cluster.wait;\n@p0 mbarrier.arrive.shared.b64 _, "
          "[b0];\n" +
              std::string(kWaitParity0) + "barrier.cluster.arrive;\nbarrier.cluster.wait;\n",
          32, 2),
      Kind::kDeadlock, "waits for 1 of 2 arrivals");
}

JUDGES(Async, DiscardedBytesHoldAnything, "discard.global.L2");
TEST_F(Async, DiscardedBytesHoldAnything) {
  expect_clean(run("@p0 discard.global.L2 [d2], 128;\n"));
  expect_finding(run("@p0 discard.global.L2 [d2+32], 128;\n"), Kind::kMisaligned,
                 "multiple of 128");
  expect_finding(run("@p0 discard.global.L2 [d2], 128;\n@p0 ld.global.u32 r4, [d2];\n@p0 add.u32 "
                     "r4, r4, 1;\n@p0 st.global.u32 [d1], r4;\n"),
                 Kind::kUninitialised, "");
}

}  // namespace async_test
}  // namespace lockstep::engine
