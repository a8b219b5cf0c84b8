// Hints: instructions without a result. A hint in a kernel must not change registers, memory or
// later instructions.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstring>
#include <string>
#include <vector>

#include "simulator/coverage/judged.h"
#include "simulator/engine/tests/testing.h"

namespace lockstep::engine {
namespace hints_test {

using ::testing::HasSubstr;
using testing::Machine;
using testing::text;

constexpr std::uint32_t kThreads = 128;  // a warpgroup, as setmaxnreg requires
constexpr std::uint32_t kLine = 32;      // words of a thread's data: one cache line
constexpr std::uint32_t kWords = 12;     // stored by each thread

// k(data, out): sets values of every width in registers, shared and local memory; executes
// `middle`; then stores all values. A thread's line of data is at %rd3, its 16 bytes of shared
// memory at %rd6 (generic: %rd7) and its local memory at %rd8 (generic: %rd9).
std::string kernel(const std::string& middle) {
  return R"(.version 8.6
.target sm_90a
.address_size 64
.visible .entry k(.param .u64 data, .param .u64 out)
{
  .shared .align 128 .b8 tile[2048];
  .local .align 16 .b8 stack[16];
  .reg .pred %p<4>;
  .reg .b16 %h<4>;
  .reg .b32 %r<20>;
  .reg .b64 %rd<20>;
  .reg .f32 %f<4>;
  ld.param.u64 %rd1, [data];
  ld.param.u64 %rd2, [out];
  mov.u32 %r1, %tid.x;
  mad.wide.u32 %rd3, %r1, 128, %rd1;
  mad.wide.u32 %rd4, %r1, 48, %rd2;
  mov.u64 %rd5, tile;
  mad.wide.u32 %rd6, %r1, 16, %rd5;
  cvta.shared.u64 %rd7, %rd6;
  mov.u64 %rd8, stack;
  cvta.local.u64 %rd9, %rd8;
  ld.global.u32 %r2, [%rd3];
  ld.global.u64 %rd10, [%rd3+8];
  cvt.u16.u32 %h1, %r2;
  setp.gt.u32 %p1, %r1, 7;
  add.cc.u32 %r3, 0xffffffff, %r1;
  cvt.rn.f32.u32 %f1, %r1;
  st.shared.u32 [%rd6], %r2;
  st.local.u32 [%rd8], %r3;
  createpolicy.fractional.L2::evict_first.b64 %rd11;
  mov.u32 %r4, 32;
)" + middle +
         R"(
  addc.u32 %r5, 0, 0;
  ld.shared.u32 %r6, [%rd6];
  ld.local.u32 %r7, [%rd8];
  ld.global.u32 %r8, [%rd3+124];
  cvt.u32.u16 %r9, %h1;
  selp.u32 %r10, 1, 0, %p1;
  st.global.v4.u32 [%rd4], {%r1, %r2, %r3, %r5};
  st.global.v4.u32 [%rd4+16], {%r6, %r7, %r8, %r9};
  st.global.u64 [%rd4+32], %rd10;
  st.global.u32 [%rd4+40], %r10;
  st.global.f32 [%rd4+44], %f1;
  ret;
}
)";
}

struct Given {
  Outcome outcome;
  std::vector<std::uint32_t> data, out;
};

Given run(const std::string& middle) {
  Machine gpu;
  gpu.load_text(kernel(middle));
  std::vector<std::uint32_t> words(kThreads * kLine);
  for (std::uint32_t i = 0; i < words.size(); ++i) words[i] = 3 * i + 1;
  const auto data = gpu.buffer(words, "data");
  const auto out = gpu.unwritten(kThreads * kWords * 4, "out");
  Given r;
  r.outcome = gpu.launch("k", 1, kThreads, data, out);
  r.data = gpu.fetch<std::uint32_t>(data, words.size());
  r.out = gpu.fetch<std::uint32_t>(out, kThreads * kWords);
  return r;
}

// Expects the kernel's values without a hint.
void expect_values(const Given& r, const std::string& of) {
  EXPECT_TRUE(r.outcome.findings.empty()) << of << "\n" << text(r.outcome);
  for (std::uint32_t i = 0; i < r.data.size(); ++i)
    ASSERT_EQ(r.data[i], 3 * i + 1) << of << " changes word " << i << " of the data";
  for (std::uint32_t t = 0; t < kThreads; ++t) {
    const std::uint32_t first = 3 * kLine * t + 1, sum = t - 1, carry = t != 0;
    const float as_float = static_cast<float>(t);
    std::uint32_t bits;
    std::memcpy(&bits, &as_float, 4);
    const std::vector<std::uint32_t> expected = {
        t,         first,     sum,   carry, first, sum, first + 3 * 31, first & 0xffff,
        first + 6, first + 9, t > 7, bits};
    const std::vector<std::uint32_t> got(r.out.begin() + t * kWords,
                                         r.out.begin() + (t + 1) * kWords);
    ASSERT_EQ(got, expected) << of << ", thread " << t;
  }
}

// Executes the hint in all threads, then in the threads of a predicate. The counter of executed
// instructions must grow by one, and nothing else may change.
void expect_hint(const std::string& hint) {
  const std::uint64_t without = run("").outcome.counters.warp_instructions;
  const Given all = run("  " + hint);
  expect_values(all, hint);
  EXPECT_EQ(all.outcome.counters.warp_instructions, without + kThreads / 32) << hint;
  if (hint.find(".aligned") == std::string::npos)
    expect_values(run("  @%p1 " + hint), "@%p1 " + hint);
}

TEST(Hints, WithoutOneTheKernelGivesItsValues) { expect_values(run(""), "the kernel"); }

JUDGES_HINTS(Hints, APrefetchBringsNothingThatAProgramCanSee, "prefetch.L1", "prefetchu.L1",
             "cp.async.bulk.prefetch.L2.global", "cp.async.bulk.prefetch.L2.global.L2::cache_hint");
TEST(Hints, APrefetchBringsNothingThatAProgramCanSee) {
  for (const std::string level : {"L1", "L2"}) {
    expect_hint("prefetch.global." + level + " [%rd3];");
    expect_hint("prefetch.local." + level + " [%rd8];");
    for (const std::string address : {"%rd3", "%rd7", "%rd9"})
      expect_hint("prefetch." + level + " [" + address + "];");
  }
  for (const std::string address : {"%rd3", "%rd7", "%rd9"})
    expect_hint("prefetchu.L1 [" + address + "];");
  expect_hint("cp.async.bulk.prefetch.L2.global [%rd3], %r4;");
  expect_hint("cp.async.bulk.prefetch.L2.global.L2::cache_hint [%rd3], %r4, %rd11;");
}

// A prefetch may have any address: PTX restricts none, and a GPU fetches nothing past an
// allocation's end, at null or at an odd byte.
TEST(Hints, APrefetchOfNothingIsNoMistake) {
  for (const std::string address : {"%rd3+1", "%rd3+1000000", "%rd3-4096", "0"}) {
    expect_hint("prefetch.global.L2 [" + address + "];");
    expect_hint("prefetch.L1 [" + address + "];");
    expect_hint("prefetchu.L1 [" + address + "];");
  }
}

// For these instructions PTX defines the legal addresses and sizes.
TEST(Hints, OfWholeLinesMustBeGivenWholeLines) {
  const auto expect = [](const std::string& hint, check::Kind kind, const std::string& words) {
    const Given r = run("  " + hint);
    ASSERT_EQ(r.outcome.findings.size(), 1u) << hint << "\n" << text(r.outcome);
    EXPECT_EQ(r.outcome.findings[0].kind, kind) << text(r.outcome);
    EXPECT_THAT(text(r.outcome), HasSubstr(words));
  };
  for (const std::string space : {"", ".global"})
    expect("applypriority" + space + ".L2::evict_normal [%rd3+64], 128;", check::Kind::kMisaligned,
           "no multiple of 128");
  expect("cp.async.bulk.prefetch.L2.global [%rd3+8], %r4;", check::Kind::kMisaligned,
         "no multiple of 16");
  expect("cp.async.bulk.prefetch.L2.global.L2::cache_hint [%rd3], 24, %rd11;",
         check::Kind::kInvalidInstruction, "24 bytes: the size must be a multiple of 16");
  // A thread that does not execute the instruction has no address to check.
  expect_values(run("  setp.lt.u32 %p2, %r1, 0;\n  @%p2 applypriority.global.L2::evict_normal "
                    "[%rd3+64], 128;"),
                "a guarded applypriority");
}

JUDGES_HINTS(Hints, APriorityIsOfCacheLinesAlone, "applypriority.L2::evict_normal",
             "applypriority.global.L2::evict_normal");
TEST(Hints, APriorityIsOfCacheLinesAlone) {
  expect_hint("applypriority.global.L2::evict_normal [%rd3], 128;");
  expect_hint("applypriority.L2::evict_normal [%rd3], 128;");
}

JUDGES_HINTS(Hints, EventsAreNotSeen, "pmevent", "pmevent.mask");
TEST(Hints, EventsAreNotSeen) {
  expect_hint("pmevent 7;");
  expect_hint("pmevent.mask 255;");
}

// Neither changes a value; matrix_test and dependent_grids_test test what they check.
JUDGES(Hints, RegisterCountsAndOtherGridsChangeNoValue, "setmaxnreg.inc.sync.aligned.u32",
       "setmaxnreg.dec.sync.aligned.u32", "griddepcontrol.launch_dependents",
       "griddepcontrol.wait");
TEST(Hints, RegisterCountsAndOtherGridsChangeNoValue) {
  expect_hint("setmaxnreg.dec.sync.aligned.u32 24;");
  expect_hint("setmaxnreg.inc.sync.aligned.u32 232;");
  expect_hint("griddepcontrol.launch_dependents;");
  expect_hint("griddepcontrol.wait;");
}

// The simulated GPU has one memory for all proxies: a fence between proxies has no effect on
// values.
JUDGES_HINTS(Hints, FencesBetweenProxiesFindOneMemory, "fence.proxy.alias", "fence.proxy.async",
             "fence.proxy.async.global", "fence.proxy.async.shared::cta",
             "fence.proxy.tensormap::generic.release.gpu",
             "fence.proxy.tensormap::generic.acquire.gpu",
             "fence.proxy.async::generic.acquire.sync_restrict::shared::cluster.cluster",
             "fence.proxy.async::generic.release.sync_restrict::shared::cta.cluster",
             "fence.mbarrier_init.release.cluster");
TEST(Hints, FencesBetweenProxiesFindOneMemory) {
  for (const std::string fence :
       {"fence.proxy.alias;", "fence.proxy.async;", "fence.proxy.async.global;",
        "fence.proxy.async.shared::cta;", "fence.proxy.tensormap::generic.release.gpu;",
        "fence.proxy.tensormap::generic.acquire.gpu [%rd3], 128;",
        "fence.proxy.async::generic.acquire.sync_restrict::shared::cluster.cluster;",
        "fence.proxy.async::generic.release.sync_restrict::shared::cta.cluster;",
        "fence.mbarrier_init.release.cluster;"}) {
    expect_hint(fence);
  }
}

// A cache policy is an opaque value: loads, stores and atomics with a policy do the same as
// without.
JUDGES(Policies, AreTakenByAccesses, "createpolicy.fractional.L2::evict_last.b64 d",
       "createpolicy.fractional.L2::evict_first.b64 d, e:f32", "ld.global.L2::cache_hint.u32",
       "st.global.L2::cache_hint.u32", "atom.global.add.L2::cache_hint.u32");
TEST(Policies, AreTakenByAccesses) {
  for (const std::string priority :
       {"evict_last", "evict_normal", "evict_first", "evict_unchanged"}) {
    for (const std::string fraction : {"", ", 0f3F000000"}) {
      const Given r =
          run("  createpolicy.fractional.L2::" + priority + ".b64 %rd12" + fraction + R"(;
  ld.global.L2::cache_hint.u32 %r11, [%rd3+4], %rd12;
  add.u32 %r11, %r11, 1;
  st.global.L2::cache_hint.u32 [%rd3+4], %r11, %rd12;
  atom.global.add.L2::cache_hint.u32 %r12, [%rd3+4], 5, %rd12;
  sub.u32 %r12, %r12, 5;
  add.u32 %r12, %r12, 4;
  st.global.u32 [%rd3+4], %r12;)");
      expect_values(r, priority + fraction);  // the kernel undoes its own changes
    }
  }
}

}  // namespace hints_test
}  // namespace lockstep::engine
