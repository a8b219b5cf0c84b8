// Kernels that run and get nowhere are found, and those that only look as if they did are not.
#include "simulator/engine/run/livelock.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstring>
#include <string>
#include <thread>
#include <vector>

#include "simulator/engine/tests/testing.h"

namespace lockstep::engine {
namespace livelock_test {

using check::Kind;
using ::testing::HasSubstr;
using testing::Machine;
using testing::text;

// r1: the thread, r2: the block, p0: thread 0; d0: the address of `flag`, d1: of the thread's word
// of `out`. s: a shared word.
std::string kernel(const std::string& body) {
  return R"(.version 9.0
.target sm_90
.address_size 64
.visible .entry k(.param .u64 flag, .param .u64 out)
{
.shared .align 4 .u32 s;
.shared .align 8 .b32 words[64];
.local .align 4 .u32 own;
.reg .pred p<8>; .reg .b32 r<16>; .reg .b64 d<8>; .reg .b128 q<2>;
ld.param.u64 d0, [flag];
ld.param.u64 d2, [out];
mov.u32 r1, %tid.x;
mov.u32 r2, %ctaid.x;
mov.u32 r3, %ntid.x;
mad.lo.u32 r4, r2, r3, r1;
mad.wide.u32 d1, r4, 4, d2;
setp.eq.u32 p0, r1, 0;
)" + body +
         "\nst.global.u32 [d1], r1;\nret;\n}\n";
}

class Standing : public ::testing::Test {
 protected:
  Outcome run(const std::string& body, std::uint32_t blocks = 1, std::uint32_t threads = 32) {
    gpu.load_text(kernel(body));
    return gpu.launch("k", blocks, threads, gpu.buffer<std::uint32_t>({0, 0, 0, 0}, "flag"),
                      gpu.unwritten(1 << 16, "out"));
  }
  void expect_deadlock(const Outcome& o, const std::string& words) {
    ASSERT_EQ(o.findings.size(), 1u) << text(o);
    EXPECT_EQ(o.findings[0].kind, Kind::kDeadlock) << text(o);
    EXPECT_THAT(text(o), HasSubstr(words));
  }
  void expect_end(const Outcome& o) { EXPECT_TRUE(o.findings.empty()) << text(o); }
  Machine gpu;
};

constexpr char kWait[] =
    "W: ld.volatile.global.u32 r5, [d0];\nsetp.eq.u32 p1, r5, 0;\n@p1 bra W;\n";

TEST_F(Standing, AFlagThatNobodySets) {
  const Outcome o = run(kWait);
  expect_deadlock(o, "no thread of the grid changes any memory");
  EXPECT_THAT(text(o), HasSubstr("warp 0 lanes 0xffffffff run at PTX line"));
}

TEST_F(Standing, AFlagThatALaterBlockSets) {
  expect_end(
      run("setp.ne.u32 p2, r2, 3;\n@p2 bra W;\nmov.u32 r6, 1;\nst.volatile.global.u32 [d0], r6;\n" +
              std::string(kWait),
          4));
}

TEST_F(Standing, AFlagThatAnotherWarpSetsMuchLater) {
  // A loop of several turns that stores nothing.
  expect_end(
      run("setp.lt.u32 p2, r1, 32;\n@p2 bra W;\nmov.u32 r6, 0;\nL: add.u32 r6, r6, 1;\nsetp.lt.u32 "
          "p3, r6, 300000;\n@p3 bra L;\n"
          "st.volatile.global.u32 [d0], r6;\n" +
              std::string(kWait),
          1, 64));
}

TEST_F(Standing, LanesThatHaveNotHadTheirTurnMaySetTheFlag) {
  // Some schedules let the lanes that spin go first several times in a row.
  for (gpu.config.schedule_seed = 1; gpu.config.schedule_seed <= 100; ++gpu.config.schedule_seed) {
    expect_end(run("setp.eq.u32 p2, r1, 31;\n@p2 bra S;\n" + std::string(kWait) +
                   "bra E;\nS: mov.u32 r6, 1;\nst.volatile.global.u32 [d0], r6;\nE:\n"));
    if (HasFailure()) break;
  }
}

TEST_F(Standing, AnAttemptToWaitAtAnMbarrierEndsSomeTime) {
  expect_end(
      run("setp.lt.u32 p2, r1, 32;\n@!p2 bra W;\n@!p0 bra E;\nmov.u32 r6, "
          "words;\nmbarrier.init.shared.b64 [r6], 1;\n"
          "mbarrier.try_wait.parity.shared.b64 p3, [r6], 0;\nmov.u32 r6, "
          "1;\nst.volatile.global.u32 [d0], r6;\nbra E;\n" +
              std::string(kWait) + "E:\n",
          1, 64));
}

TEST_F(Standing, OthersWaitAtABarrierForTheOneThatSpins) {
  expect_deadlock(run("@!p0 bra B;\n" + std::string(kWait) + "B: bar.sync 0;\n", 1, 64),
                  "warp 1 lanes 0xffffffff wait at the barrier PTX line");
}

TEST_F(Standing, AnAtomicThatChangesNothingIsNoProgress) {
  const std::string lock =
      "W: atom.global.cas.b32 r5, [d0], 0, 1;\nsetp.ne.u32 p1, r5, 0;\n@p1 bra W;\n";
  expect_deadlock(run("@!p0 bra E;\n" + lock + "E:\n", 3), "lanes 0x00000001 run at");
  expect_end(run("@!p0 bra E;\n" + lock + "atom.global.exch.b32 r5, [d0], 0;\nE:\n", 3));
}

TEST_F(Standing, LongCyclesAreFound) {
  // Seven looks, then the count begins anew.
  expect_deadlock(run("mov.u32 r6, 0;\nW: add.u32 r6, r6, 1;\nsetp.eq.u32 p2, r6, 7;\nselp.u32 r6, "
                      "0, r6, p2;\nld.volatile.global.u32 r5, [d0];\n"
                      "setp.eq.u32 p1, r5, 0;\n@p1 bra W;\n"),
                  "changes any memory");
}

TEST_F(Standing, ALoopThatCountsOrLooksAtTheClockIsNotStandingStill) {
  // Gives up after a number of looks, or after some time.
  expect_end(
      run("mov.u32 r6, 0;\nW: add.u32 r6, r6, 1;\nld.volatile.global.u32 r5, [d0];\nsetp.eq.u32 "
          "p1, r5, 0;\nsetp.lt.and.u32 p2, r6, 100000, p1;\n@p2 bra W;\n"));
  expect_end(
      run("mov.u64 d3, %clock64;\nW: mov.u64 d4, %clock64;\nsub.u64 d4, d4, "
          "d3;\nld.volatile.global.u32 r5, [d0];\nsetp.eq.u32 p1, r5, 0;\n"
          "setp.lt.and.u64 p2, d4, 300000, p1;\n@p2 bra W;\n"));
}

// Loops that keep their count in memory and leave nothing of it in registers: each handler that
// writes there must count a change. Each thread writes its own word.
TEST_F(Standing, NoWriterGoesUnnoticed) {
  const struct {
    const char *who, *before, *step;  // r5: the count after the step
  } kWriters[] = {
      {"a row of global memory", "st.global.u32 [d1], 0;",
       "ld.global.u32 r5, [d1]; add.u32 r5, r5, 1; st.global.u32 [d1], r5;"},
      {"every other word of global memory", "mad.wide.u32 d1, r4, 8, d2; st.global.u32 [d1], 0;",
       "ld.global.u32 r5, [d1]; add.u32 r5, r5, 1; st.global.u32 [d1], r5;"},
      {"a row of shared memory",
       "mov.u32 r6, words; mad.lo.u32 r6, r1, 4, r6; st.shared.u32 [r6], 0;",
       "ld.shared.u32 r5, [r6]; add.u32 r5, r5, 1; st.shared.u32 [r6], r5;"},
      {"every other word of shared memory",
       "mov.u32 r6, words; mad.lo.u32 r6, r1, 8, r6; st.shared.u32 [r6], 0;",
       "ld.shared.u32 r5, [r6]; add.u32 r5, r5, 1; st.shared.u32 [r6], r5;"},
      {"local memory", "st.local.u32 [own], 0;",
       "ld.local.u32 r5, [own]; add.u32 r5, r5, 1; st.local.u32 [own], r5;"},
      {"generic addresses", "mov.u64 d3, own; cvta.local.u64 d3, d3; st.u32 [d3], 0;",
       "ld.u32 r5, [d3]; add.u32 r5, r5, 1; st.u32 [d3], r5;"},
      {"an atomic in global memory", "st.global.u32 [d1], 0;", "atom.global.add.u32 r5, [d1], 1;"},
      {"an atomic in shared memory",
       "mov.u32 r6, words; mad.lo.u32 r6, r1, 4, r6; st.shared.u32 [r6], 0;",
       "atom.shared.add.u32 r5, [r6], 1;"},
      {"an atomic of 16 bytes",
       "mad.wide.u32 d1, r4, 16, d2; mov.u64 d4, 0; st.global.v2.u64 [d1], {d4, d4};",
       "ld.global.v2.u64 {d3, d4}, [d1]; add.u64 d3, d3, 1; cvt.u32.u64 r5, d3; mov.b128 q0, {d3, "
       "d4}; atom.global.exch.b128 q1, [d1], q0;"
       "mov.u64 d3, 0; mov.b128 q0, {d4, d4}; mov.b128 q1, {d4, d4};"},
      {"an asynchronous copy",
       "mov.u32 r6, words; mad.lo.u32 r6, r1, 4, r6; st.shared.u32 [r6], 0;",
       "ld.shared.u32 r5, [r6]; mad.wide.u32 d3, r5, 4, d0; cp.async.ca.shared.global [r6], [d3], "
       "4; cp.async.wait_all; ld.shared.u32 r5, [r6]; mov.u64 d3, "
       "0;"},
      {"time", "", "mov.u32 r5, %clock; shr.u32 r5, r5, 3;"},
  };
  std::vector<std::uint32_t> next(401);
  for (std::uint32_t i = 0; i < next.size(); ++i) next[i] = i + 1;
  for (const auto& w : kWriters) {
    gpu.load_text(
        kernel(std::string(w.before) + "\nW: " + w.step +
               "\nsetp.lt.u32 p1, r5, 400;\nmov.u32 r5, 0;\nnanosleep.u32 1;\n@p1 bra W;\n"));
    const Outcome o =
        gpu.launch("k", 1, 32, gpu.buffer(next, "next"), gpu.unwritten(1 << 16, "out"));
    EXPECT_TRUE(o.findings.empty()) << w.who << "\n" << text(o);
  }
}

TEST_F(Standing, EndlessWorkIsATimeLimit) {
  gpu.config.instruction_limit = 100'000;
  const Outcome o =
      run("W: atom.global.add.u32 r5, [d0], 1;\nsetp.ge.u32 p1, r1, 0;\n@p1 bra W;\n");
  ASSERT_EQ(o.findings.size(), 1u) << text(o);
  EXPECT_EQ(o.findings[0].kind, Kind::kTimeLimit) << text(o);
}

TEST_F(Standing, OnSeveralHostThreadsTheFirstBlockSpeaks) {
  gpu.config.host_threads = 3;
  for (int i = 0; i < 5; ++i) {
    const Outcome o =
        run("setp.ne.u32 p2, r2, 1;\n@!p2 bra E;\n" + std::string(kWait) + "E:\n", 6, 256);
    expect_deadlock(o, "changes any memory");
    EXPECT_EQ(o.findings[0].access.block.x, 0u) << text(o);
  }
  // The one that sets the flag runs in another thread.
  expect_end(
      run("setp.ne.u32 p2, r2, 5;\n@p2 bra W;\nmov.u32 r6, 1;\nst.volatile.global.u32 [d0], r6;\n" +
              std::string(kWait),
          6, 256));
}

// Each block waits for its flag and sets the next one's. What a host thread has changed counts,
// also when it has nothing left to run.
TEST_F(Standing, AChainOverHostThreadsGoesOn) {
  gpu.load_text(
      kernel("mov.u32 r6, 1;\n@!p0 bra B;\nmad.wide.u32 d3, r2, 4, d0;\nW: atom.global.add.u32 r5, "
             "[d3], 0;\nsetp.eq.u32 p1, r5, 0;\n@p1 bra W;\n"
             "atom.global.add.u32 r5, [d3+4], 1;\nB: bar.sync 0;\n"));
  const memory::Address out = gpu.unwritten(1 << 16, "out"),
                        flags = gpu.buffer(std::vector<std::uint32_t>(16, 0), "flags");
  auto* flag = reinterpret_cast<std::uint32_t*>(gpu.memory.host(*gpu.memory.find(flags), flags));
  for (int i = 0; i < 3000; ++i) {
    gpu.config.host_threads = i % 4 == 3 ? 8 : 2;
    gpu.config.checks = i % 2 == 0 ? check::kNoChecks : check::kAllChecks;
    std::fill(flag, flag + 16, 0);
    flag[0] = 1;
    const Outcome o = gpu.launch("k", 8, 256, flags, out);
    ASSERT_TRUE(o.findings.empty()) << "launch " << i << "\n" << text(o);
    ASSERT_EQ(flag[8], 1u) << i;
  }
}

TEST_F(Standing, BlocksThatHaveNotBegunAreMentioned) {
  // More wait than run at once.
  const Outcome o = run(
      "setp.ne.u32 p2, r2, 99;\n@p2 bra W;\nmov.u32 r6, 1;\nst.volatile.global.u32 [d0], r6;\n" +
          std::string(kWait),
      100);
  expect_deadlock(o, "36 blocks have not begun");
}

// ---- memory that the host sees
// -----------------------------------------------------------------------------------------

// d0: a flag in memory of some kind, which nobody writes; d2: device memory.
class Hosted : public Standing {
 protected:
  Hosted() { gpu.config.host_patience = std::chrono::milliseconds(20); }
  Outcome run_on(memory::Kind kind, const std::string& body, std::uint32_t blocks = 1,
                 std::uint32_t threads = 32) {
    const memory::Allocation* flag;
    if (kind == memory::Kind::kRegistered) {
      alignas(4096) static std::byte bytes[4096];
      flag = gpu.memory.register_host(bytes, sizeof bytes);
    } else {
      flag = gpu.memory.allocate(4096, 4096, kind, 0, "flag");
    }
    gpu.load_text(kernel(body));
    const Outcome o = gpu.launch("k", blocks, threads, flag->base,
                                 gpu.buffer(std::vector<std::uint32_t>(1 << 14, 0), "out"));
    if (kind == memory::Kind::kRegistered) gpu.memory.release(flag->base);
    return o;
  }
  void expect_waits_for_host(const Outcome& o, const std::string& instruction,
                             const std::string& memory) {
    ASSERT_EQ(o.findings.size(), 1u) << text(o);
    EXPECT_EQ(o.findings[0].kind, Kind::kUnsupported) << text(o);
    EXPECT_EQ(o.findings[0].access.site.instruction, instruction) << text(o);
    EXPECT_THAT(o.findings[0].where, HasSubstr("waits for host memory to change: ")) << text(o);
    EXPECT_THAT(o.findings[0].where, HasSubstr(memory)) << text(o);
    EXPECT_THAT(o.findings[0].detail, HasSubstr("returns only when its kernel has ended"))
        << text(o);
  }
};

TEST_F(Hosted, AKernelThatWaitsForTheHostIsNoDeadlock) {
  for (const std::uint32_t checks :
       {std::uint32_t{check::kNoChecks}, std::uint32_t{check::kAllChecks}}) {
    gpu.config.checks = checks;
    expect_waits_for_host(run_on(memory::Kind::kPinned, kWait), "ld.volatile.global.u32",
                          "0 bytes into 'flag' (4096 bytes, pinned allocation #");
    expect_waits_for_host(run_on(memory::Kind::kManaged, kWait), "ld.volatile.global.u32",
                          "0 bytes into 'flag' (4096 bytes, managed allocation #");
    expect_waits_for_host(run_on(memory::Kind::kRegistered, kWait), "ld.volatile.global.u32",
                          "into registered host memory #");
  }
}

TEST_F(Hosted, HoweverItLooks) {
  const auto loop = [](const std::string& look) {
    return "W: " + look + "\nsetp.eq.u32 p1, r5, 0;\n@p1 bra W;\n";
  };
  for (const char* look :
       {"ld.global.u32 r5, [d0+8];", "ld.relaxed.sys.global.u32 r5, [d0+8];",
        "ld.acquire.gpu.global.u32 r5, [d0+8];", "ld.u32 r5, [d0+8];",
        "atom.global.add.u32 r5, [d0+8], 0;", "atom.global.or.b32 r5, [d0+8], 0;"}) {
    const Outcome o = run_on(memory::Kind::kPinned, loop(look));
    expect_waits_for_host(o, std::string(look, std::strchr(look, ' ')), "8 bytes into 'flag'");
  }
  // The host releases what it has locked.
  expect_waits_for_host(run_on(memory::Kind::kManaged,
                               "atom.global.exch.b32 r5, [d0], 1;\nW: atom.sys.global.cas.b32 r5, "
                               "[d0], 0, 1;\nsetp.ne.u32 p1, r5, 0;\n@p1 bra W;\n"),
                        "atom.sys.global.cas.b32", "0 bytes into 'flag'");
}

TEST_F(Hosted, SoAreThoseThatWaitForTheOneThatWaits) {
  expect_waits_for_host(run_on(memory::Kind::kPinned,
                               "@!p0 bra B;\n" + std::string(kWait) + "B: bar.sync 0;\n", 1, 64),
                        "ld.volatile.global.u32", "'flag'");
  // Block 4 waits for the host, the others for block 4, which another host thread runs.
  for (const int threads : {1, 3}) {
    gpu.config.host_threads = threads;
    const Outcome o = run_on(memory::Kind::kPinned,
                             "setp.eq.u32 p2, r2, 4;\n@p2 bra H;\nV: ld.acquire.gpu.global.u32 r5, "
                             "[d2];\nsetp.eq.u32 p1, r5, 0;\n@p1 bra V;\nbra E;\n"
                             "H: ld.relaxed.sys.global.u32 r5, [d0];\nsetp.eq.u32 p1, r5, 0;\n@p1 "
                             "bra H;\nst.release.gpu.global.u32 [d2], r5;\nE:\n",
                             6, 1024);
    expect_waits_for_host(o, "ld.relaxed.sys.global.u32", "'flag'");
    EXPECT_EQ(o.findings[0].access.block.x, 4u) << text(o);
  }
}

// There is memory that the host sees, but nobody waits for it: no need to be patient either.
TEST_F(Hosted, AWaitForDeviceMemoryStaysADeadlock) {
  gpu.config.host_patience = std::chrono::hours(1);
  const std::string wait =
      "V: ld.volatile.global.u32 r5, [d2];\nsetp.eq.u32 p1, r5, 0;\n@p1 bra V;\n";
  expect_deadlock(run_on(memory::Kind::kPinned, wait), "no thread of the grid changes any memory");
  gpu.config.host_patience = std::chrono::milliseconds(20);
  // It reads something there all the same.
  expect_deadlock(run_on(memory::Kind::kManaged,
                         "V: ld.global.u32 r7, [d0];\nld.volatile.global.u32 r5, "
                         "[d2];\nsetp.eq.u32 p1, r5, 0;\n@p1 bra V;\n"),
                  "no thread of the grid changes any memory");
  // A lock that some thread of the grid holds.
  expect_deadlock(
      run_on(memory::Kind::kManaged,
             "W: atom.global.cas.b32 r5, [d0], 0, 1;\nsetp.ne.u32 p1, r5, 0;\n@p1 bra W;\n"),
      "no thread of the grid changes any memory");
}

#if !defined(__SANITIZE_THREAD__)  // which has a thread of its own
// Nobody else is there to write, so there is nobody to wait for.
TEST_F(Hosted, AProcessWithoutOtherThreadsIsNotWaitedFor) {
  gpu.config.host_patience = std::chrono::hours(1);
  for (const int threads : {1, 3}) {
    gpu.config.host_threads = threads;
    expect_waits_for_host(
        run_on(memory::Kind::kPinned,
               "setp.ne.u32 p2, r2, 4;\n@p2 bra E;\n" + std::string(kWait) + "E:\n", 6, 1024),
        "ld.volatile.global.u32", "'flag'");
  }
}
#endif

// The host does its part, and then the threads wait for one another.
TEST_F(Hosted, WhatWasAwaitedBeforeIsForgotten) {
  gpu.config.host_patience = std::chrono::seconds(20);
  const auto* flag = gpu.memory.allocate(4096, 4096, memory::Kind::kPinned, 0, "flag");
  auto* word = reinterpret_cast<std::atomic<std::uint32_t>*>(flag->base);
  gpu.load_text(kernel(std::string(kWait) +
                       "st.global.u32 [d1], r5;\nV: ld.volatile.global.u32 r5, "
                       "[d2+65532];\nsetp.eq.u32 p1, r5, 0;\n@p1 bra V;\n"));
  std::thread host([&] {
    std::this_thread::sleep_for(std::chrono::milliseconds(100));
    *word = 1;
  });
  const Outcome o =
      gpu.launch("k", 1, 32, flag->base, gpu.buffer(std::vector<std::uint32_t>(1 << 14, 0), "out"));
  host.join();
  expect_deadlock(o, "no thread of the grid changes any memory");
}

TEST_F(Standing, TheHostMaySetAFlagThatItCanReach) {
  const auto* flag = gpu.memory.allocate(4096, 4096, memory::Kind::kPinned, 0, "flag");
  ASSERT_NE(flag, nullptr);
  auto* word = reinterpret_cast<std::atomic<std::uint32_t>*>(flag->base);
  *word = 0;
  gpu.config.instruction_limit = 0;
  gpu.load_text(kernel(kWait));
  std::thread host([&] {
    std::this_thread::sleep_for(std::chrono::milliseconds(200));
    *word = 1;
  });
  const Outcome o = gpu.launch("k", 1, 32, flag->base, gpu.unwritten(1 << 16, "out"));
  host.join();
  expect_end(o);
}

}  // namespace livelock_test
}  // namespace lockstep::engine
