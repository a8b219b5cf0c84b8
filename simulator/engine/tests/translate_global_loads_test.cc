// Loads of global memory in machine code (simulator/translate/global_loads.h).
#include <gtest/gtest.h>

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "simulator/engine/tests/testing.h"
#include "simulator/engine/tests/translate_launches.h"

namespace lockstep::engine {
namespace translate_global_loads_test {

using translated::Launched;
using translated::Translate;

// An odd number of words: the last element of 64 bits ends behind the buffer.
constexpr std::uint32_t kThreads = 104, kBlocks = 3, kWords = 1023;

// What differs between launches of one kernel.
struct Way {
  std::uint32_t checks = 0;
  bool counts = false;     // LaunchConfig::count
  bool unwritten = false;  // some bytes between the written ones
  std::uint64_t seed = 0;
};

// Each thread loads three times: first one element for all, so that the code knows the buffer. Then
// by %rd3, which `address` computes from the thread's number %r1 in the grid, its number %r4 in the
// block, and the address %rd1 of kWords words.
std::string kernel(const std::string& address, const std::string& loads) {
  return R"(
.visible .entry k(.param .u64 in, .param .u64 out)
{
  .reg .pred %p<9>;
  .reg .b32 %r<20>;
  .reg .b64 %rd<12>;
  ld.param.u64 %rd1, [in];
  ld.param.u64 %rd2, [out];
  mov.u32 %r4, %tid.x;
  mov.u32 %r2, %ctaid.x;
  mov.u32 %r3, %ntid.x;
  mad.lo.s32 %r1, %r2, %r3, %r4;
  mov.u32 %r9, 0;
  mov.u32 %r14, 0;
)" + address +
         R"(
  mov.u32 %r10, 77;
  mov.u64 %rd7, 99;
  mov.u64 %rd9, %rd3;
  add.s64 %rd10, %rd1, 8;
AGAIN:
  setp.eq.u32 %p5, %r14, 0;
  selp.b64 %rd3, %rd10, %rd9, %p5;
)" + loads +
         R"(
  cvt.u32.u64 %r12, %rd7;
  shr.u64 %rd8, %rd7, 32;
  cvt.u32.u64 %r13, %rd8;
  mad.lo.u32 %r9, %r9, 31, %r10;
  mad.lo.u32 %r9, %r9, 31, %r12;
  mad.lo.u32 %r9, %r9, 31, %r13;
  add.u32 %r14, %r14, 1;
  setp.lt.u32 %p1, %r14, 3;
  @%p1 bra AGAIN;
  mul.wide.u32 %rd4, %r1, 4;
  add.s64 %rd4, %rd2, %rd4;
  st.global.u32 [%rd4], %r9;
  ret;
}
)";
}

Launched launched(const std::string& text, Translate translate, const Way& way) {
  testing::Machine gpu;
  gpu.config.translate = translate;
  gpu.config.checks = way.checks;
  gpu.config.count = way.counts;
  gpu.config.schedule_seed = way.seed;
  gpu.load(text);
  std::vector<std::uint32_t> values(kWords);
  for (std::uint32_t i = 0; i < kWords; ++i) values[i] = i * 2654435761u;
  gpu.buffer(values);  // its neighbour
  const memory::Address in = gpu.buffer(values),
                        out = gpu.buffer(std::vector<std::uint32_t>(kThreads * kBlocks));
  if (way.unwritten) gpu.memory.mark_unwritten(in + 2000, 8);
  const Outcome o = gpu.launch("k", kBlocks, kThreads, in, out);
  Launched l{gpu.fetch<std::uint32_t>(out, kThreads * kBlocks),
             o.counters.warp_instructions,
             o.counters.thread_instructions,
             o.counters.global_load_sectors,
             o.counters.global_load_requests,
             testing::text(o)};
  return l;
}

const std::vector<Way> kWays = {{0},
                                {check::kBounds | check::kInitialisation},
                                {check::kBounds | check::kInitialisation, true},
                                {check::kBounds | check::kInitialisation, false, true},
                                {check::kBounds | check::kInitialisation, false, false, 1},
                                {check::kAllChecks}};

void expect_the_same(const std::string& text) {
  for (const Way& way : kWays) {
    SCOPED_TRACE(way.checks + 1000 * way.counts + 2000 * way.unwritten + 10000 * way.seed);
    const Launched off = launched(text, Translate::kOff, way);
    EXPECT_EQ(off, launched(text, Translate::kAlways, way));
    EXPECT_EQ(off, launched(text, Translate::kCompare, way));
  }
}

// By bytes from the buffer's begin, in %r5.
std::string at(const std::string& bytes) {
  return bytes + "  cvt.s64.s32 %rd3, %r5;\n  add.s64 %rd3, %rd1, %rd3;\n";
}

const std::pair<const char*, const char*> kShapes[] = {
    {"a row", "  and.b32 %r5, %r1, 127;\n  shl.b32 %r5, %r5, 3;\n"},
    {"a row of words", "  shl.b32 %r5, %r4, 2;\n  and.b32 %r5, %r5, 508;\n"},
    {"a row backwards",
     "  and.b32 %r5, %r1, 127;\n  shl.b32 %r5, %r5, 3;\n  sub.u32 %r5, 2048, %r5;\n"},
    {"one place", "  mov.u32 %r5, 136;\n"},
    {"one place but for a lane", "  setp.eq.u32 %p2, %r4, 9;\n  selp.u32 %r5, 512, 136, %p2;\n"},
    {"a row but for a lane",
     "  shl.b32 %r5, %r4, 2;\n  setp.eq.u32 %p2, %r4, 44;\n  selp.u32 %r5, 16, %r5, %p2;\n"
     "  and.b32 %r5, %r5, 504;\n"},
    {"groups of a row",
     "  and.b32 %r5, %r4, 7;\n  shl.b32 %r5, %r5, 3;\n  and.b32 %r6, %r4, 24;\n"
     "  mad.lo.u32 %r5, %r6, 72, %r5;\n"},
    {"groups of words",
     "  and.b32 %r5, %r4, 7;\n  shl.b32 %r5, %r5, 2;\n  and.b32 %r6, %r4, 24;\n"
     "  mad.lo.u32 %r5, %r6, 72, %r5;\n"},
    {"groups at one place", "  and.b32 %r5, %r4, 24;\n  shl.b32 %r5, %r5, 5;\n"},
    {"a group at one place, others scattered",
     "  mul.lo.u32 %r5, %r4, 424;\n  and.b32 %r5, %r5, 2040;\n  and.b32 %r6, %r4, 31;\n"
     "  setp.lt.u32 %p2, %r6, 8;\n  selp.u32 %r5, 64, %r5, %p2;\n"},
    {"scattered", "  mul.lo.u32 %r5, %r1, 424;\n  and.b32 %r5, %r5, 2040;\n"},
    {"up to the end",
     "  mul.lo.u32 %r5, %r1, 424;\n  and.b32 %r5, %r5, 2040;\n"
     "  sub.u32 %r5, 4088, %r5;\n"},
    {"over the end",
     "  mul.lo.u32 %r5, %r1, 424;\n  and.b32 %r5, %r5, 2040;\n"
     "  sub.u32 %r5, 4096, %r5;\n"},
    {"before the begin",
     "  mul.lo.u32 %r5, %r1, 424;\n  and.b32 %r5, %r5, 2040;\n"
     "  sub.u32 %r5, %r5, 8;\n"},
    {"one lane before the begin",
     "  mul.lo.u32 %r5, %r4, 8;\n  setp.eq.u32 %p2, %r4, 21;\n"
     "  selp.u32 %r5, -8, %r5, %p2;\n"},
    {"one lane far away",
     "  mul.lo.u32 %r5, %r4, 8;\n  setp.eq.u32 %p2, %r4, 21;\n"
     "  selp.u32 %r5, 0x7ffffff8, %r5, %p2;\n"},
    {"one lane between two elements",
     "  mul.lo.u32 %r5, %r4, 8;\n  setp.eq.u32 %p2, %r4, 21;\n  selp.u32 %r5, 770, %r5, %p2;\n"},
    {"one lane between two words",
     "  mul.lo.u32 %r5, %r4, 24;\n  setp.eq.u32 %p2, %r4, 21;\n  selp.u32 %r5, 772, %r5, %p2;\n"},
};
const std::pair<const char*, const char*> kLoads[] = {
    {"words", "  ld.global.u32 %r10, [%rd3];\n"},
    {"wide", "  ld.global.u64 %rd7, [%rd3];\n"},
    {"both, with offsets", "  ld.global.u32 %r10, [%rd3+4];\n  ld.global.u64 %rd7, [%rd3+-8];\n"},
    {"into its address",
     "  ld.global.u64 %rd7, [%rd3];\n  ld.global.u64 %rd3, [%rd3];\n"
     "  xor.b64 %rd7, %rd7, %rd3;\n  and.b64 %rd3, %rd3, 504;\n"
     "  add.s64 %rd3, %rd3, %rd1;\n"},
    {"by some lanes",
     "  setp.gt.u32 %p3, %r9, 0x40000000;\n  @%p3 bra OTHERS;\n"
     "  ld.global.u32 %r10, [%rd3];\n  ld.global.u64 %rd7, [%rd3];\nOTHERS:\n"
     "  add.u32 %r9, %r9, 0x12345678;\n"},
    {"by few lanes",
     "  and.b32 %r11, %r4, 30;\n  setp.ne.u32 %p3, %r11, 20;\n  @%p3 bra OTHERS;\n"
     "  ld.global.u32 %r10, [%rd3];\n  ld.global.u64 %rd7, [%rd3];\nOTHERS:\n"},
};

TEST(Translate, LoadsOfGlobalMemoryFindWhatTheInterpreterFinds) {
  std::size_t with_findings = 0;
  for (const auto& [shape, bytes] : kShapes) {
    for (const auto& [name, loads] : kLoads) {
      SCOPED_TRACE(std::string(shape) + ", " + name);
      const std::string text = kernel(at(bytes), loads);
      expect_the_same(text);
      with_findings += !launched(text, Translate::kAlways, kWays[1]).findings.empty();
    }
  }
  EXPECT_GT(with_findings, 20u);
  EXPECT_LT(with_findings, 60u);
}

// What the code knows of the buffer ends when a thread stores a value that nobody has written: the
// last warp does, at places of the first.
TEST(Translate, ALoadLooksAgainAfterBytesHaveBecomeUnwritten) {
  const std::string text = kernel(at("  .shared .align 4 .b32 unwritten;\n  mov.u32 %r19, 0;\n"
                                     "  shl.b32 %r5, %r1, 2;\n  add.u32 %r5, %r5, 16;\n"),
                                  "  ld.global.u32 %r10, [%rd3];\n  bar.sync 0;\n"
                                  "  shr.u32 %r6, %r4, 5;\n  setp.eq.u32 %p3, %r14, 1;\n"
                                  "  setp.eq.and.u32 %p3, %r6, 3, %p3;\n"
                                  "  add.s64 %rd6, %rd9, -384;\n"
                                  "  @%p3 ld.shared.u32 %r19, [unwritten];\n"
                                  "  @%p3 st.global.u32 [%rd6], %r19;\n  bar.sync 0;\n");
  expect_the_same(text);
  EXPECT_NE(launched(text, Translate::kAlways, kWays[1]).findings, "");
}

// Its address has the low half of one in the buffer.
TEST(Translate, ALoadFarFromAllocationsIsRefused) {
  const std::string text =
      kernel(at("  shl.b32 %r5, %r4, 2;\n") +
                 "  setp.eq.u32 %p2, %r4, 21;\n  selp.b64 %rd5, 0x100000000, 0, %p2;\n",
             "  setp.eq.u32 %p3, %r14, 2;\n  selp.b64 %rd6, %rd5, 0, %p3;\n"
             "  add.s64 %rd6, %rd3, %rd6;\n  ld.global.u32 %r10, [%rd6];\n");
  expect_the_same(text);
  EXPECT_NE(launched(text, Translate::kAlways, kWays[0]).findings +
                launched(text, Translate::kAlways, kWays[1]).findings,
            "");
}

// Two buffers in turn: the code knows the one that it has seen last.
TEST(Translate, LoadsGoFromOneAllocationToAnother) {
  expect_the_same(kernel(at("  mul.lo.u32 %r5, %r1, 424;\n  and.b32 %r5, %r5, 1020;\n"),
                         "  setp.eq.u32 %p4, %r14, 2;\n  sub.s64 %rd5, %rd2, %rd1;\n"
                         "  add.s64 %rd5, %rd3, %rd5;\n  selp.b64 %rd6, %rd5, %rd3, %p4;\n"
                         "  ld.global.u32 %r10, [%rd6];\n"));
}

}  // namespace translate_global_loads_test
}  // namespace lockstep::engine
