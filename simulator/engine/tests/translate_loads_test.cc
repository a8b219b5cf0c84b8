// Loads, values and numbers of threads in machine code (simulator/translate).
#include <gtest/gtest.h>

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "simulator/engine/tests/translate_launches.h"

namespace lockstep::engine {
namespace translate_loads_test {

using translated::expect_the_same;
using translated::kernel;
using translated::launched;
using translated::Launched;
using translated::Translate;

// Words of shared memory that all lanes store, in a loop of loads by address registers that the
// lanes have from `address` (in %r7); `more`: before the loads.
std::string shared_loads(const std::string& address, const std::string& loads) {
  return R"(
  .shared .align 16 .b8 other[64];
  mov.u32 %r4, s;
  mov.u32 %r5, %tid.x;
  shl.b32 %r6, %r5, 2;
  add.u32 %r7, %r4, %r6;
  mul.lo.u32 %r8, %r1, 3;
  setp.ge.u32 %p1, %r5, 128;
  @%p1 bra STORED;
  st.shared.u32 [%r7], %r8;
STORED:
  bar.sync 0;
)" + address +
         loads + "  xor.b32 %r9, %r9, %r10;\n  add.u32 %r9, %r9, %r11;\n";
}
const char* const kThreeLoads = R"(
  ld.shared.u32 %r9, [%r7];
  shl.b32 %r10, %r9, 3;
  ld.shared.u32 %r11, [%r7+4];
  ld.shared.u32 %r12, [%r7+-4];
  add.u32 %r10, %r10, %r12;
)";

TEST(Translate, LoadsOfSharedMemoryFindWhatTheInterpreterFinds) {
  const std::pair<const char*, std::string> addresses[] = {
      {"a row", "  and.b32 %r6, %r6, 255;\n  add.u32 %r7, %r4, %r6;\n  add.u32 %r7, %r7, 4;\n"},
      {"a row backwards",
       "  and.b32 %r6, %r5, 31;\n  shl.b32 %r6, %r6, 2;\n  sub.u32 %r7, %r4, %r6;\n"
       "  add.u32 %r7, %r7, 200;\n"},
      {"one word", "  add.u32 %r7, %r4, 8;\n"},
      {"half rows", "  and.b32 %r6, %r6, 60;\n  add.u32 %r7, %r4, %r6;\n  add.u32 %r7, %r7, 8;\n"},
      {"every second word",
       "  shl.b32 %r6, %r5, 3;\n  and.b32 %r6, %r6, 248;\n  add.u32 %r7, %r4, %r6;\n"
       "  add.u32 %r7, %r7, 4;\n"},
      {"scattered",
       "  mul.lo.u32 %r6, %r5, 28;\n  and.b32 %r6, %r6, 252;\n  add.u32 %r7, %r4, %r6;\n"
       "  add.u32 %r7, %r7, 4;\n"},
      {"up to the end",
       "  and.b32 %r6, %r6, 127;\n  add.u32 %r7, %r4, %r6;\n  add.u32 %r7, %r7, 380;\n"},
      {"over the end",
       "  and.b32 %r6, %r6, 127;\n  add.u32 %r7, %r4, %r6;\n  add.u32 %r7, %r7, 384;\n"},
      {"before the beginning", "  and.b32 %r6, %r6, 127;\n  add.u32 %r7, %r4, %r6;\n"},
      {"between two words", "  add.u32 %r7, %r4, 10;\n"},
      {"one lane between two words",
       "  setp.eq.u32 %p2, %r5, 21;\n  selp.u32 %r6, 2, 0, %p2;\n  add.u32 %r7, %r4, 8;\n"
       "  add.u32 %r7, %r7, %r6;\n"},
      {"another variable", "  mov.u32 %r7, other;\n  add.u32 %r7, %r7, 4;\n"},
  };
  std::size_t with_findings = 0;
  for (const auto& [name, address] : addresses) {
    SCOPED_TRACE(name);
    for (const std::uint32_t threads : {32u, 40u, 128u})
      expect_the_same(kernel(shared_loads(address, kThreeLoads)), threads, 1'000'000);
    with_findings += !launched(kernel(shared_loads(address, kThreeLoads)), Translate::kAlways, 32,
                               0, check::kBounds | check::kInitialisation)
                          .findings.empty();
  }
  EXPECT_EQ(with_findings, 10u);
}

// The same of 64 bits, and of vectors. Each thread has stored 16 bytes.
TEST(Translate, WideLoadsAndVectorsFindWhatTheInterpreterFinds) {
  const std::string begin = R"(
  .shared .align 16 .b8 v[4096];
  .shared .align 16 .b8 partly[64];
  mov.u32 %r4, v;
  mov.u32 %r5, %tid.x;
  shl.b32 %r6, %r5, 4;
  add.u32 %r7, %r4, %r6;
  mul.lo.u32 %r8, %r1, 3;
  xor.b32 %r10, %r8, 4711;
  st.shared.v4.u32 [%r7], {%r1, %r8, %r6, %r10};
  setp.eq.u32 %p3, %r5, 0;
  @%p3 st.shared.v4.u32 [partly], {%r1, %r8, %r6, %r10};
  @%p3 st.shared.v4.u32 [partly+16], {%r1, %r8, %r6, %r10};
  @%p3 st.shared.v2.u32 [partly+32], {%r1, %r8};
  bar.sync 0;
)";
  const std::string end = R"(
  ld.shared.u64 %rd3, [%r7];
  ld.shared.v2.u32 {%r10, %r11}, [%r7+8];
  ld.shared.v4.u32 {%r12, %r13, %r14, %r15}, [%r7+16];
  ld.shared.v2.u64 {%rd4, %rd5}, [%r7+-16];
  ld.shared.u32 %r16, [%r7+12];
  xor.b64 %rd4, %rd4, %rd5;
  add.s64 %rd3, %rd3, %rd4;
  cvt.u32.u64 %r9, %rd3;
  shr.u64 %rd3, %rd3, 32;
  cvt.u32.u64 %r17, %rd3;
  mad.lo.u32 %r9, %r9, 31, %r17;
  mad.lo.u32 %r9, %r9, 31, %r10;
  mad.lo.u32 %r9, %r9, 31, %r11;
  mad.lo.u32 %r9, %r9, 31, %r12;
  mad.lo.u32 %r9, %r9, 31, %r13;
  mad.lo.u32 %r9, %r9, 31, %r14;
  mad.lo.u32 %r9, %r9, 31, %r15;
  mad.lo.u32 %r9, %r9, 31, %r16;
)";
  const std::pair<const char*, std::string> addresses[] = {
      {"one place", "  add.u32 %r7, %r4, 32;\n"},
      {"rows of 16 bytes",
       "  and.b32 %r6, %r5, 15;\n  shl.b32 %r6, %r6, 4;\n  add.u32 %r7, %r4, %r6;\n"
       "  add.u32 %r7, %r7, 16;\n"},
      {"two places in turn",
       "  and.b32 %r6, %r5, 1;\n  shl.b32 %r6, %r6, 4;\n  add.u32 %r7, %r4, %r6;\n"
       "  add.u32 %r7, %r7, 16;\n"},
      {"backwards",
       "  and.b32 %r6, %r5, 7;\n  shl.b32 %r6, %r6, 5;\n  sub.u32 %r7, %r4, %r6;\n"
       "  add.u32 %r7, %r7, 256;\n"},
      {"past what is written",
       "  shl.b32 %r6, %r5, 4;\n  add.u32 %r7, %r4, %r6;\n"
       "  add.u32 %r7, %r7, 16;\n"},
      {"a vector written in part", "  mov.u32 %r7, partly;\n  add.u32 %r7, %r7, 16;\n"},
      {"before the beginning", "  mov.u32 %r7, %r4;\n"},
      {"over the end", "  add.u32 %r7, %r4, 4080;\n"},
      {"a multiple of 8 alone",
       "  and.b32 %r6, %r5, 15;\n  shl.b32 %r6, %r6, 3;\n  add.u32 %r7, %r4, %r6;\n"
       "  add.u32 %r7, %r7, 16;\n"},
      {"one lane a multiple of 4 alone",
       "  setp.eq.u32 %p2, %r5, 21;\n  selp.u32 %r6, 4, 0, %p2;\n  add.u32 %r7, %r4, 48;\n"
       "  add.u32 %r7, %r7, %r6;\n"},
  };
  std::size_t with_findings = 0;
  for (const auto& [name, address] : addresses) {
    SCOPED_TRACE(name);
    const std::string text = kernel(begin + address + end);
    for (const std::uint32_t threads : {32u, 40u}) expect_the_same(text, threads, 1'000'000);
    with_findings +=
        !launched(text, Translate::kAlways, 32, 0, check::kBounds | check::kInitialisation)
             .findings.empty();
  }
  EXPECT_EQ(with_findings, 6u);
}

TEST(Translate, LoadsOfSharedMemoryAreCounted) {
  const std::string text = kernel(shared_loads(
      "  and.b32 %r6, %r6, 60;\n  add.u32 %r7, %r4, %r6;\n  add.u32 %r7, %r7, 8;\n", kThreeLoads));
  std::vector<std::uint64_t> counts[2];
  for (const bool on : {false, true}) {
    testing::Machine gpu;
    gpu.config.translate = on ? Translate::kAlways : Translate::kOff;
    gpu.config.checks = 0;
    gpu.config.count = true;
    gpu.load(text);
    const memory::Address out = gpu.buffer(std::vector<std::uint32_t>(256));
    const Counters c = gpu.launch("k", 1, 64, out).counters;
    counts[on ? 1 : 0] = {c.shared_load_requests, c.shared_load_bank_conflicts,
                          c.shared_store_requests};
  }
  EXPECT_GT(counts[0][0], 0u);
  EXPECT_EQ(counts[0], counts[1]);
}

// The register of an address is computed in the run, by a load of it: a list in shared memory.
TEST(Translate, AnAddressOfARunIsTheOneThatTheRunHasComputed) {
  const std::string chain = R"(
  mov.u32 %r9, s;
  and.b32 %r6, %r1, 31;
  shl.b32 %r6, %r6, 2;
  add.u32 %r7, %r9, %r6;
  add.u32 %r8, %r6, 36;
  and.b32 %r8, %r8, 124;
  add.u32 %r8, %r8, %r9;
  st.shared.u32 [%r7], %r8;
  bar.sync 0;
  ld.shared.u32 %r7, [%r7];
  ld.shared.u32 %r8, [%r7];
  add.u32 %r10, %r8, 0;
  ld.shared.u32 %r9, [%r10];
)";
  for (const std::uint32_t threads : {32u, 24u}) expect_the_same(kernel(chain), threads, 100'000);
}

TEST(Translate, EveryParameterIsItsOwn) {
  const std::string text = R"(
.visible .entry k(.param .u64 out, .param .u32 a, .param .f64 b, .param .u32 c)
{
  .reg .b32 %r<9>;
  .reg .b64 %rd<9>;
  ld.param.u64 %rd1, [out];
  ld.param.u32 %r1, [a];
  ld.param.f64 %rd2, [b];
  ld.param.u32 %r2, [c];
  cvt.u32.u64 %r3, %rd2;
  add.u32 %r4, %r1, %r2;
  add.u32 %r4, %r4, %r3;
  st.global.u32 [%rd1], %r4;
  ret;
}
)";
  for (const Translate way : {Translate::kOff, Translate::kAlways, Translate::kCompare}) {
    testing::Machine gpu;
    gpu.config.translate = way;
    gpu.load(text);
    const memory::Address out = gpu.buffer(std::vector<std::uint32_t>(1));
    gpu.launch("k", 1, 1, out, std::uint32_t{5}, std::uint64_t{70}, std::uint32_t{900});
    EXPECT_EQ(gpu.fetch<std::uint32_t>(out, 1)[0], 975u);
  }
}

// Numbers of threads and blocks, sizes, parameters, and variables at constant addresses.
TEST(Translate, ValuesThatAllLanesShareAndNumbersOfThreads) {
  std::string body = "  mov.u32 %r9, 0;\n";
  for (const char* name :
       {"%tid.x", "%tid.y", "%tid.z", "%laneid", "%ntid.x", "%ntid.y", "%ntid.z", "%ctaid.x",
        "%ctaid.y", "%ctaid.z", "%nctaid.x", "%nctaid.y", "%nctaid.z", "%warpid"})
    body += std::string("  mov.u32 %r4, ") + name + ";\n  mad.lo.u32 %r9, %r9, 31, %r4;\n";
  body +=
      "  ld.const.u32 %r4, [c+4];\n  add.u32 %r9, %r9, %r4;\n"
      "  ld.const.u64 %rd3, [c+8];\n  cvt.u32.u64 %r4, %rd3;\n  add.u32 %r9, %r9, %r4;\n";
  const std::string text = ".const .align 8 .b32 c[4] = {3, 5, 7, 11};\n" + kernel(body);
  for (const std::uint32_t threads : {32u, 40u, 128u}) expect_the_same(text, threads, 100'000);
  for (const check::Dim3 block : {check::Dim3{8, 4, 2}, check::Dim3{5, 3, 4},
                                  check::Dim3{16, 16, 1}, check::Dim3{1, 2, 32}}) {
    std::vector<std::vector<std::uint32_t>> results;
    for (const Translate way : {Translate::kOff, Translate::kAlways, Translate::kCompare}) {
      testing::Machine gpu;
      gpu.config.translate = way;
      gpu.config.block = block;
      gpu.load(text);
      const auto threads = static_cast<std::uint32_t>(block.count());
      const memory::Address out = gpu.buffer(std::vector<std::uint32_t>(4 * threads));
      gpu.launch("k", check::Dim3{2, 2, 1}, block, out);
      results.push_back(gpu.fetch<std::uint32_t>(out, 4 * threads));
    }
    EXPECT_EQ(results[0], results[1]);
    EXPECT_EQ(results[0], results[2]);
  }
}

}  // namespace translate_loads_test
}  // namespace lockstep::engine
