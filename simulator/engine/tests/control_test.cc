// Control flow: every lane takes the right path and reaches its end.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <numeric>

#include "simulator/coverage/judged.h"
#include "simulator/engine/tests/testing.h"

namespace lockstep::engine {
namespace control_test {

using ::testing::Each;
using ::testing::HasSubstr;
using testing::Machine;
using testing::storing_r0;
using testing::text;

std::vector<std::uint32_t> run(const std::string& module, std::uint32_t threads,
                               std::uint64_t seed = 0) {
  Machine gpu;
  gpu.config.schedule_seed = seed;
  gpu.load(module);
  const auto out = gpu.unwritten(threads * 4, "out");
  const Outcome o = gpu.launch("k", 1, threads, out);
  EXPECT_FALSE(o.failed()) << text(o);
  return gpu.fetch<std::uint32_t>(out, threads);
}

const std::uint64_t kSeeds[] = {0, 1, 2, 3, 77};

JUDGES(ControlFlow, ADivergentBranchGivesEverySideItsOwnValue, "bra");
TEST(ControlFlow, ADivergentBranchGivesEverySideItsOwnValue) {
  const std::string module = storing_r0(R"(
  setp.lt.u32 %p1, %r1, 11;
  @%p1 bra LOW;
  mov.u32 %r0, 100;
  bra DONE;
LOW:
  mov.u32 %r0, 200;
DONE:
  add.u32 %r0, %r0, %r1;
)");
  for (const auto seed : kSeeds) {
    const auto r = run(module, 40, seed);
    for (std::uint32_t i = 0; i < 40; ++i)
      EXPECT_EQ(r[i], (i < 11 ? 200 : 100) + i) << "thread " << i << " seed " << seed;
  }
}

TEST(ControlFlow, LanesLeaveALoopOneAfterAnotherAndMeetAgain) {
  // Thread i sums 0 .. i; afterwards the warp counts its converged lanes.
  const std::string module = storing_r0(R"(
  mov.u32 %r0, 0;
  mov.u32 %r2, 0;
LOOP:
  add.u32 %r0, %r0, %r2;
  add.u32 %r2, %r2, 1;
  setp.le.u32 %p1, %r2, %r1;
  @%p1 bra LOOP;
  activemask.b32 %r3;
  popc.b32 %r4, %r3;
  mad.lo.u32 %r0, %r4, 1000, %r0;
)");
  const auto r = run(module, 32);
  for (std::uint32_t i = 0; i < 32; ++i) EXPECT_EQ(r[i], 32000 + i * (i + 1) / 2);
}

TEST(ControlFlow, NestedLoopsWithDifferentTripCounts) {
  const std::string module = storing_r0(R"(
  mov.u32 %r0, 0;
  mov.u32 %r2, 0;
OUTER:
  mov.u32 %r3, 0;
  and.b32 %r4, %r1, 3;
INNER:
  add.u32 %r0, %r0, 1;
  add.u32 %r3, %r3, 1;
  setp.le.u32 %p1, %r3, %r4;
  @%p1 bra INNER;
  add.u32 %r2, %r2, 1;
  shr.u32 %r5, %r1, 2;
  setp.le.u32 %p2, %r2, %r5;
  @%p2 bra OUTER;
)");
  for (const auto seed : kSeeds) {
    const auto r = run(module, 64, seed);
    for (std::uint32_t i = 0; i < 64; ++i) EXPECT_EQ(r[i], ((i & 3) + 1) * (i / 4 + 1)) << i;
  }
}

TEST(ControlFlow, AnIrreducibleLoopIsEnteredAtBothEnds) {
  const std::string module = storing_r0(R"(
  mov.u32 %r0, 0;
  mov.u32 %r2, 5;
  and.b32 %r3, %r1, 1;
  setp.eq.u32 %p1, %r3, 1;
  @%p1 bra MIDDLE;
TOP:
  add.u32 %r0, %r0, 1;
MIDDLE:
  add.u32 %r0, %r0, 10;
  sub.u32 %r2, %r2, 1;
  setp.ne.u32 %p2, %r2, 0;
  @%p2 bra TOP;
)");
  for (const auto seed : kSeeds) {
    const auto r = run(module, 32, seed);
    for (std::uint32_t i = 0; i < 32; ++i) EXPECT_EQ(r[i], i % 2 ? 54u : 55u);
  }
}

TEST(ControlFlow, GuardsMaskSingleInstructions) {
  const auto r = run(storing_r0(R"(
  mov.u32 %r0, 7;
  setp.gt.u32 %p1, %r1, 20;
  @%p1 mov.u32 %r0, 8;
  @!%p1 add.u32 %r0, %r0, %r1;
)"),
                     32);
  for (std::uint32_t i = 0; i < 32; ++i) EXPECT_EQ(r[i], i > 20 ? 8 : 7 + i);
}

JUDGES(ControlFlow, EarlyExitLeavesTheOthersRunning, "exit");
TEST(ControlFlow, EarlyExitLeavesTheOthersRunning) {
  Machine gpu;
  gpu.load(storing_r0(R"(
  setp.lt.u32 %p1, %r1, 16;
  @%p1 exit;
  bar.sync 0;
  mov.u32 %r0, 3;
)"));
  const auto out = gpu.buffer(std::vector<std::uint32_t>(64, 9));
  const Outcome o = gpu.launch("k", 1, 64, out);
  EXPECT_FALSE(o.failed()) << text(o);
  const auto r = gpu.fetch<std::uint32_t>(out, 64);
  for (std::uint32_t i = 0; i < 64; ++i) EXPECT_EQ(r[i], i < 16 ? 9u : 3u);
}

JUDGES(ControlFlow, ABranchTableSendsEveryLaneToItsOwnTarget, "brx.idx");
TEST(ControlFlow, ABranchTableSendsEveryLaneToItsOwnTarget) {
  const auto r = run(storing_r0(R"(
  rem.u32 %r2, %r1, 3;
TABLE: .branchtargets A, B, C;
  brx.idx %r2, TABLE;
A:
  mov.u32 %r0, 10;
  bra DONE;
B:
  mov.u32 %r0, 20;
  bra DONE;
C:
  mov.u32 %r0, 30;
DONE:
)"),
                     32);
  for (std::uint32_t i = 0; i < 32; ++i) EXPECT_EQ(r[i], 10 * (i % 3 + 1));
}

// f(n) = n < 2 ? n : f(n - 1) + f(n - 2), with a stack frame in every lane.
constexpr char kFibonacci[] = R"(
.func (.param .b32 result) fib(.param .b32 n)
{
  .reg .pred %p<2>;
  .reg .b32 %r<9>;
  ld.param.u32 %r1, [n];
  setp.lt.u32 %p1, %r1, 2;
  @%p1 bra BASE;
  sub.u32 %r2, %r1, 1;
  {
  .param .b32 a;
  st.param.b32 [a+0], %r2;
  .param .b32 r;
  call.uni (r), fib, (a);
  ld.param.b32 %r3, [r+0];
  }
  sub.u32 %r4, %r1, 2;
  {
  .param .b32 a;
  st.param.b32 [a+0], %r4;
  .param .b32 r;
  call.uni (r), fib, (a);
  ld.param.b32 %r5, [r+0];
  }
  add.u32 %r6, %r3, %r5;
  st.param.b32 [result+0], %r6;
  ret;
BASE:
  st.param.b32 [result+0], %r1;
  ret;
}
)";
constexpr char kCallFibonacci[] = R"(
  and.b32 %r2, %r1, 7;
  {
  .param .b32 a;
  st.param.b32 [a+0], %r2;
  .param .b32 r;
  call.uni (r), fib, (a);
  ld.param.b32 %r0, [r+0];
  }
)";

JUDGES(Calls, RecursionGoesAsDeepAsEachLaneNeeds, "call.uni", "ret");
TEST(Calls, RecursionGoesAsDeepAsEachLaneNeeds) {
  const std::uint32_t fib[] = {0, 1, 1, 2, 3, 5, 8, 13};
  for (const auto seed : kSeeds) {
    const auto r = run(kFibonacci + storing_r0(kCallFibonacci), 40, seed);
    for (std::uint32_t i = 0; i < 40; ++i)
      EXPECT_EQ(r[i], fib[i % 8]) << "thread " << i << " seed " << seed;
  }
}

JUDGES(Calls, ArgumentsAndResultsSpelledAsAFunctions, "st.param::func.b32", "st.param::func.v2.b64",
       "ld.param::func.b32", "ld.param::func.v2.u64");
TEST(Calls, ArgumentsAndResultsSpelledAsAFunctions) {
  Machine gpu;
  gpu.load_text(R"(.version 8.3
.target sm_90
.address_size 64
.func (.param .b32 r) f(.param .b32 x, .param .align 16 .b8 y[16]) {
  .reg .b32 %r<4>; .reg .b64 %d<4>;
  ld.param::func.b32 %r1, [x]; ld.param::func.v2.u64 {%d1, %d2}, [y];
  add.u64 %d1, %d1, %d2; cvt.u32.u64 %r2, %d1; add.u32 %r1, %r1, %r2;
      st.param::func.b32 [r], %r1; ret;
}
.visible .entry k(.param .u64 out) {
  .reg .b32 %r<4>; .reg .b64 %d<4>; .param .b32 a; .param .align 16 .b8 b[16]; .param .b32 c;
  mov.u32 %r1, %tid.x; mov.b64 %d1, 100; mov.b64 %d2, 2000;
  st.param::func.b32 [a], %r1; st.param::func.v2.b64 [b], {%d1, %d2}; call (c), f, (a, b);
      ld.param::func.b32 %r2, [c];
  ld.param::entry.u64 %d3, [out]; mul.wide.u32 %d1, %r1, 4; add.u64 %d3, %d3, %d1;
      st.global.b32 [%d3], %r2; ret;
})");
  const auto out = gpu.unwritten(128);
  const Outcome o = gpu.launch("k", 1, 32, out);
  EXPECT_FALSE(o.failed()) << text(o);
  const auto r = gpu.fetch<std::uint32_t>(out, 32);
  for (std::uint32_t i = 0; i < 32; ++i) EXPECT_EQ(r[i], i + 2100);
}

JUDGES(Calls, AFunctionPointerPerLane, "call");
TEST(Calls, AFunctionPointerPerLane) {
  const std::string functions = R"(
.func (.param .b32 r) one(.param .b32 x) { .reg .b32 %r<3>; ld.param.u32 %r1, [x];
    add.u32 %r2, %r1, 1; st.param.b32 [r], %r2; ret; }
.func (.param .b32 r) two(.param .b32 x) { .reg .b32 %r<3>; ld.param.u32 %r1, [x];
    mul.lo.u32 %r2, %r1, 2; st.param.b32 [r], %r2; ret; }
.global .align 8 .u64 table[2] = {one, two};
)";
  const auto r = run(functions + storing_r0(R"(
  and.b32 %r2, %r1, 1;
  mov.u64 %rd5, table;
  mul.wide.u32 %rd6, %r2, 8;
  add.s64 %rd7, %rd5, %rd6;
  ld.global.u64 %rd8, [%rd7];
  {
  .param .b32 a;
  st.param.b32 [a], %r1;
  .param .b32 res;
  P: .callprototype (.param .b32 _) _ (.param .b32 _);
  call (res), %rd8, (a), P;
  ld.param.b32 %r0, [res];
  }
)"),
                     32);
  for (std::uint32_t i = 0; i < 32; ++i) EXPECT_EQ(r[i], i % 2 ? 2 * i : i + 1);
}

TEST(Calls, AnAddressThatIsNoFunctionIsReported) {
  Machine gpu;
  gpu.load(storing_r0(R"(
  mov.u64 %rd8, 12345;
  {
  P: .callprototype _ ();
  call %rd8, P;
  }
  mov.u32 %r0, 0;
)"));
  const Outcome o = gpu.launch("k", 1, 32, gpu.unwritten(128));
  ASSERT_TRUE(o.failed());
  EXPECT_EQ(o.findings[0].kind, check::Kind::kInvalidProgramCounter) << text(o);
}

TEST(Calls, EndlessRecursionIsAStackOverflow) {
  Machine gpu;
  gpu.load(".func down() { call.uni down, (); ret; }\n" + storing_r0(R"(
  call.uni down, ();
  mov.u32 %r0, 0;
)"));
  const Outcome o = gpu.launch("k", 1, 32, gpu.unwritten(128));
  ASSERT_TRUE(o.failed());
  EXPECT_EQ(o.findings[0].kind, check::Kind::kStackOverflow) << text(o);
}

// Every lane acquires a lock, increments a plain word, and releases the lock. Lock-step execution
// would never end.
constexpr char kSpinLock[] = R"(
.global .u32 lock;
.global .u32 count;
)";
constexpr char kSpinLockBody[] = R"(
AGAIN:
  atom.global.cas.b32 %r2, [lock], 0, 1;
  setp.ne.u32 %p1, %r2, 0;
  @%p1 bra AGAIN;
  membar.gl;
  ld.volatile.global.u32 %r3, [count];
  add.u32 %r3, %r3, 1;
  st.volatile.global.u32 [count], %r3;
  membar.gl;
  atom.global.exch.b32 %r4, [lock], 0;
  mov.u32 %r0, %r3;
)";

TEST(Progress, LanesOfOneWarpSpinOnALockThatAnotherHolds) {
  for (const auto seed : kSeeds) {
    auto r = run(kSpinLock + storing_r0(kSpinLockBody), 64, seed);
    std::sort(r.begin(), r.end());
    std::vector<std::uint32_t> expected(64);
    std::iota(expected.begin(), expected.end(), 1);
    EXPECT_EQ(r, expected) << "seed " << seed;
  }
}

TEST(Progress, AWarpSpinsOnAFlagThatALaterWarpSets) {
  const auto r = run(".global .u32 flag;\n" + storing_r0(R"(
  setp.ge.u32 %p1, %r1, 32;
  @%p1 bra SET;
WAIT:
  ld.volatile.global.u32 %r2, [flag];
  setp.eq.u32 %p2, %r2, 0;
  @%p2 bra WAIT;
  bra DONE;
SET:
  mov.u32 %r2, 5;
  st.volatile.global.u32 [flag], %r2;
DONE:
  mov.u32 %r0, %r2;
)"),
                     64);
  EXPECT_THAT(r, Each(5u));
}

TEST(Progress, ABlockWaitsForALaterBlockOfTheSameHostThread) {
  Machine gpu;
  gpu.load(R"(
.global .u32 flag;
.visible .entry k()
{
  .reg .pred %p<3>;
  .reg .b32 %r<4>;
  mov.u32 %r1, %ctaid.x;
  setp.eq.u32 %p1, %r1, 1;
  @%p1 bra SET;
WAIT:
  ld.volatile.global.u32 %r2, [flag];
  setp.eq.u32 %p2, %r2, 0;
  @%p2 bra WAIT;
  ret;
SET:
  st.volatile.global.u32 [flag], 1;
  ret;
})");
  const Outcome o = gpu.launch("k", 2, 32);
  EXPECT_FALSE(o.failed()) << text(o);
}

TEST(Modules, AKernelWithAnUnknownInstructionRefusesItselfAlone) {
  Machine gpu;
  const std::string text = testing::module_text(
      ".visible .global .u32 value = 7;\n"
      ".visible .entry bad()\n{\nistypep.unheard;\n}\n"
      ".visible .entry k(.param .u64 out)\n{\n.reg .b32 %r<2>; .reg .b64 %d<2>;\nld.global.u32 "
      "%r1, [value];\nld.param.u64 %d1, [out];\n"
      "st.global.u32 [%d1], %r1;\nret;\n}\n");
  const std::string_view texts[] = {text};
  auto loaded = load_module(texts, gpu.memory, 0);
  ASSERT_TRUE(std::holds_alternative<std::unique_ptr<Module>>(loaded));
  gpu.module = std::move(std::get<std::unique_ptr<Module>>(loaded));
  ASSERT_EQ(gpu.module->refusals().size(), 1u);
  EXPECT_EQ(gpu.module->refusals()[0].function, "bad");
  ASSERT_NE(gpu.module->find_kernel("bad"), nullptr);
  EXPECT_THAT(gpu.module->find_kernel("bad")->refusal()->message,
              HasSubstr("unknown instruction 'istypep.unheard'"));
  EXPECT_EQ(gpu.module->find_kernel("k")->refusal(), nullptr);
  EXPECT_NE(gpu.module->find_variable("value"), nullptr);
  const auto out = gpu.unwritten(4);
  EXPECT_FALSE(gpu.launch("k", 1, 1, out).failed());
  EXPECT_EQ(gpu.fetch<std::uint32_t>(out, 1)[0], 7u);
  EXPECT_THROW(gpu.launch("bad", 1, 1), std::invalid_argument);
}

TEST(Progress, AnEndlessLoopIsFound) {
  Machine gpu;
  gpu.load(storing_r0("FOREVER:\n  bra FOREVER;\n"));
  const Outcome o = gpu.launch("k", 1, 32, gpu.unwritten(128));
  ASSERT_TRUE(o.failed());
  EXPECT_EQ(o.findings[0].kind, check::Kind::kDeadlock);
}

TEST(Grid, SpecialRegistersNameEveryThreadOnce) {
  Machine gpu;
  gpu.load(R"(
.visible .entry k(.param .u64 out)
{
  .reg .b32 %r<30>;
  .reg .b64 %rd<5>;
  mov.u32 %r1, %tid.x;
  mov.u32 %r2, %tid.y;
  mov.u32 %r3, %tid.z;
  mov.u32 %r4, %ntid.x;
  mov.u32 %r5, %ntid.y;
  mov.u32 %r6, %ntid.z;
  mov.u32 %r7, %ctaid.x;
  mov.u32 %r8, %ctaid.y;
  mov.u32 %r9, %ctaid.z;
  mov.u32 %r10, %nctaid.x;
  mov.u32 %r11, %nctaid.y;
  mad.lo.u32 %r12, %r9, %r11, %r8;
  mad.lo.u32 %r12, %r12, %r10, %r7;
  mul.lo.u32 %r13, %r4, %r5;
  mul.lo.u32 %r13, %r13, %r6;
  mad.lo.u32 %r14, %r3, %r5, %r2;
  mad.lo.u32 %r14, %r14, %r4, %r1;
  mad.lo.u32 %r15, %r12, %r13, %r14;
  ld.param.u64 %rd1, [out];
  mul.wide.u32 %rd2, %r15, 4;
  add.s64 %rd3, %rd1, %rd2;
  atom.global.add.u32 %r16, [%rd3], 1;
  ret;
})");
  const Dim3 grid{3, 2, 4};
  // Sides that are powers of two and others, in one, two and three dimensions.
  for (const Dim3 block : {Dim3{7, 5, 3}, Dim3{8, 2, 4}, Dim3{16, 3, 1}, Dim3{6, 4, 1},
                           Dim3{32, 2, 2}, Dim3{1, 1, 64}, Dim3{2, 1, 33}, Dim3{100, 1, 1}}) {
    for (const auto seed : kSeeds) {
      gpu.config.schedule_seed = seed;
      gpu.config.host_threads = 2;
      const std::size_t n = grid.count() * block.count();
      const auto out = gpu.buffer(std::vector<std::uint32_t>(n, 0));
      const Outcome o = gpu.launch("k", grid, block, out);
      EXPECT_FALSE(o.failed()) << text(o);
      EXPECT_THAT(gpu.fetch<std::uint32_t>(out, n), Each(1u))
          << "seed " << seed << ", blocks of " << block.x << " x " << block.y << " x " << block.z;
    }
  }
}

// As on an H100: cooperative groups keeps barriers in the system's shared memory. A kernel that
// does not reserve it must not access it.
TEST(Grid, TheSystemsSharedMemoryIsForThoseWhoAsk) {
  const auto run = [](const std::string& body) {
    testing::TwoBuffers c;
    const Outcome o = c.run(body, 1);
    return std::make_pair(o, c.gpu.fetch<std::uint32_t>(c.y, 1)[0]);
  };
  for (const auto& [name, value] :
       {std::pair{"begin", 0u}, {"end", 288u}, {"cap", 1024u}, {"0", 0u}, {"1", 0u}}) {
    const auto [o, read] = run("  mov.u32 %r4, %reserved_smem_offset_" + std::string(name) +
                               ";\n  st.global.u32 [%rd6], %r4;");
    EXPECT_TRUE(o.findings.empty()) << text(o);
    EXPECT_EQ(read, value) << name;
  }
  const std::string use =
      "  st.shared.u32 [%r4+284], 7;\n  ld.shared.u32 %r5, [%r4+284];\n  st.global.u32 [%rd6], "
      "%r5;";
  const auto [asked, seven] = run("  mov.u32 %r4, %reserved_smem_offset_1;\n" + use);
  EXPECT_TRUE(asked.findings.empty()) << text(asked);
  EXPECT_EQ(seven, 7u);
  EXPECT_TRUE(run("  mov.u32 %r4, 0;\n" + use).first.failed());
  const auto [fresh, zero] =
      run("  mov.u32 %r4, %reserved_smem_offset_1;\n  atom.shared.or.b32 %r5, [%r4], 1;\n  "
          "st.global.u32 [%rd6], %r5;");
  EXPECT_TRUE(fresh.findings.empty()) << text(fresh);
  EXPECT_EQ(zero, 0u) << "it begins with zeros";
  EXPECT_TRUE(run("  mov.u32 %r4, %reserved_smem_offset_end;\n" + use).first.failed())
      << "past its end";
}

TEST(Grid, CountersCountWarpAndThreadInstructions) {
  Machine gpu;
  gpu.load(storing_r0("  mov.u32 %r0, 0;\n"));
  const Outcome o = gpu.launch("k", 2, 40, gpu.unwritten(160));
  // Seven operations for each warp; the second warp of a block has eight threads.
  EXPECT_EQ(o.counters.warp_instructions, 7u * 2 * 2);
  EXPECT_EQ(o.counters.thread_instructions, 7u * 40 * 2);
}

TEST(Trap, EndsTheLaunchWithItsPlace) {
  Machine gpu;
  gpu.load(storing_r0("  mov.u32 %r0, 0;\n  setp.eq.u32 %p1, %r1, 5;\n  @%p1 trap;\n"));
  const Outcome o = gpu.launch("k", 1, 32, gpu.unwritten(128));
  ASSERT_TRUE(o.failed());
  EXPECT_EQ(o.findings[0].kind, check::Kind::kTrap);
  EXPECT_EQ(o.findings[0].access.thread.x, 5u);
  EXPECT_THAT(text(o), HasSubstr("trap"));
}

TEST(Printf, FormatsWhatTheThreadPassed) {
  Machine gpu;
  gpu.load(R"(
.extern .func (.param .b32 r) vprintf(.param .b64 f, .param .b64 a);
.global .align 1 .b8 format[22] = {37, 100, 32, 37, 46, 50, 102, 32, 37, 99, 32, 37, 37, 32, 37,
    108, 108, 117, 10, 0, 0, 0};
.visible .entry k()
{
  .local .align 8 .b8 depot[32];
  .reg .b64 %rd<9>;
  .reg .b32 %r<9>;
  mov.u64 %rd1, depot;
  cvta.local.u64 %rd2, %rd1;
  mov.u32 %r1, %tid.x;
  st.local.u32 [%rd1], %r1;
  mov.b64 %rd3, 0d4009000000000000;
  st.local.u64 [%rd1+8], %rd3;
  mov.u32 %r2, 65;
  st.local.u32 [%rd1+16], %r2;
  mov.u64 %rd4, 18446744073709551615;
  st.local.u64 [%rd1+24], %rd4;
  mov.u64 %rd5, format;
  {
  .param .b64 a;
  st.param.b64 [a], %rd5;
  .param .b64 b;
  st.param.b64 [b], %rd2;
  .param .b32 r;
  call.uni (r), vprintf, (a, b);
  }
  ret;
})");
  const Outcome o = gpu.launch("k", 1, 2);
  EXPECT_FALSE(o.failed()) << text(o);
  EXPECT_EQ(gpu.printed, "0 3.12 A % 18446744073709551615\n1 3.12 A % 18446744073709551615\n");
}

// Otherwise a wrong stack pointer would give the thread access to all memory up to it.
TEST(Stack, IsNotRestoredToWhatWasNeverSaved) {
  Machine gpu;
  gpu.load(R"(.visible .entry k()
{
  .reg .b64 %rd<3>; .reg .b32 %r1;
  alloca.u64 %rd1, 16;
  st.local.u32 [%rd1], 7;
  stackrestore.u64 0xfffffff0;
  ld.local.u32 %r1, [%rd1+1073741824];
  ret;
})");
  const Outcome o = gpu.launch("k", 1, 1);
  ASSERT_TRUE(o.failed());
  EXPECT_EQ(o.findings[0].kind, check::Kind::kInvalidInstruction);
  EXPECT_THAT(text(o), HasSubstr("no stacksave of the thread"));
  EXPECT_THAT(
      gpu.refusal(".visible .entry k() { .reg .b64 %rd; alloca.u64 %rd, 8, 4294967296; ret; }"),
      HasSubstr("no power of two"));
}

// A width for which the host's printf would need seconds or megabytes, an unknown conversion, and a
// width beyond 512.
TEST(Printf, SurvivesAnyFormat) {
  Machine gpu;
  const auto print = [&](const std::string& pattern) {
    std::string bytes;
    for (const char c : pattern) bytes += std::to_string(static_cast<int>(c)) + ", ";
    gpu.load(
        ".extern .func (.param .b32 r) vprintf(.param .b64 f, .param .b64 a);\n.global .b8 "
        "format[] = {" +
        bytes + R"(0};
.global .b32 values[8] = {-3, 7};
.visible .entry k()
{
  .param .b64 a; .param .b64 b; .param .b32 r; .reg .b64 %rd<3>;
  mov.u64 %rd1, format; st.param.b64 [a], %rd1;
  mov.u64 %rd2, values; st.param.b64 [b], %rd2;
  call.uni (r), vprintf, (a, b);
  ret;
})");
    gpu.printed.clear();
    const Outcome o = gpu.launch("k", 1, 1);
    EXPECT_FALSE(o.failed()) << text(o);
    return gpu.printed;
  };
  EXPECT_EQ(print("%600d").size(), 600u);
  EXPECT_EQ(print("%99999999999d|"), "%99999999999lld|");
  EXPECT_EQ(print("%.*d|"), "7|") << "a negative precision counts as none";
  EXPECT_EQ(print("%*d|"), "7  |");
  EXPECT_EQ(print("%y%"), "%y");
}

}  // namespace control_test
}  // namespace lockstep::engine
