// Memory accesses of every width.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "simulator/coverage/judged.h"
#include "simulator/engine/tests/testing.h"

namespace lockstep::engine {
namespace load_store_test {

using ::testing::ElementsAre;
using testing::Machine;
using testing::text;

TEST(Memory, InitialisersAndAddressesInThem) {
  Machine gpu;
  gpu.load(R"(
.global .align 4 .u32 numbers[3] = {5, 6, 7};
.global .align 8 .u64 pointer = generic(numbers);
.visible .entry k(.param .u64 out)
{
  .reg .b32 %r<4>;
  .reg .b64 %rd<4>;
  ld.param.u64 %rd1, [out];
  ld.global.u64 %rd2, [pointer];
  ld.u32 %r1, [%rd2+8];
  st.global.u32 [%rd1], %r1;
  ret;
})");
  const auto out = gpu.unwritten(4);
  const Outcome o = gpu.launch("k", 1, 1, out);
  EXPECT_FALSE(o.failed()) << text(o);
  EXPECT_THAT(gpu.fetch<std::uint32_t>(out, 1), ElementsAre(7u));
}

TEST(Memory, NarrowLoadsExtendByTheirType) {
  Machine gpu;
  gpu.load(R"(
.visible .entry k(.param .u64 x, .param .u64 out)
{
  .reg .b32 %r<9>;
  .reg .b16 %h<3>;
  .reg .b64 %rd<9>;
  ld.param.u64 %rd1, [x];
  ld.param.u64 %rd2, [out];
  ld.global.s8 %r1, [%rd1];
  ld.global.u8 %r2, [%rd1];
  ld.global.s16 %r3, [%rd1];
  ld.global.u16 %r4, [%rd1];
  st.global.v4.u32 [%rd2], {%r1, %r2, %r3, %r4};
  ld.global.s32 %rd3, [%rd1+4];
  st.global.u64 [%rd2+16], %rd3;
  st.global.u8 [%rd2+24], %r2;
  ld.global.u8 %h1, [%rd1+1];
  st.global.u8 [%rd2+25], %h1;
  ret;
})");
  const auto x = gpu.buffer(std::vector<std::uint8_t>{0xf0, 0x81, 3, 4, 0xff, 0xff, 0xff, 0x80});
  const auto out = gpu.unwritten(32);
  const Outcome o = gpu.launch("k", 1, 1, x, out);
  EXPECT_FALSE(o.failed()) << text(o);
  EXPECT_THAT(gpu.fetch<std::uint32_t>(out, 6),
              ElementsAre(0xfffffff0u, 0xf0u, 0xffff81f0u, 0x81f0u, 0x80ffffffu, 0xffffffffu));
  EXPECT_EQ(gpu.fetch<std::uint16_t>(out + 24, 1)[0], 0x81f0);
}

TEST(Memory, GenericAddressesReachEverySpace) {
  // One load: half of the lanes address shared memory, half local memory.
  Machine gpu;
  gpu.load(R"(
.visible .entry k(.param .u64 out)
{
  .shared .align 4 .b8 s[128];
  .local .align 4 .b8 l[4];
  .reg .b32 %r<9>;
  .reg .b64 %rd<20>;
  .reg .pred %p<3>;
  mov.u32 %r1, %tid.x;
  mul.wide.u32 %rd1, %r1, 4;
  mov.u64 %rd2, s;
  cvta.shared.u64 %rd3, %rd2;
  add.s64 %rd3, %rd3, %rd1;
  mov.u64 %rd4, l;
  cvta.local.u64 %rd5, %rd4;
  add.u32 %r2, %r1, 100;
  st.u32 [%rd3], %r1;
  st.u32 [%rd5], %r2;
  and.b32 %r3, %r1, 1;
  setp.eq.u32 %p1, %r3, 0;
  selp.b64 %rd6, %rd3, %rd5, %p1;
  ld.u32 %r4, [%rd6];
  isspacep.shared %p2, %rd6;
  @%p2 add.u32 %r4, %r4, 1000;
  ld.param.u64 %rd7, [out];
  add.s64 %rd8, %rd7, %rd1;
  st.u32 [%rd8], %r4;
  ret;
})");
  const auto out = gpu.unwritten(128);
  const Outcome o = gpu.launch("k", 1, 32, out);
  EXPECT_FALSE(o.failed()) << text(o);
  const auto r = gpu.fetch<std::uint32_t>(out, 32);
  for (std::uint32_t i = 0; i < 32; ++i) EXPECT_EQ(r[i], i % 2 ? i + 100 : i + 1000);
}

// Lane i loads x[index[i]]. Without the race check, loads of a warp take a fast path.
TEST(Memory, GathersAreTheSameWithoutTheSearchForRaces) {
  constexpr std::uint32_t kElements = 3000, kUnwritten = 2500;
  for (const std::uint32_t bytes : {4u, 8u}) {
    Machine gpu;
    gpu.config.count = true;
    const std::string type = bytes == 4 ? ".u32" : ".u64", r = bytes == 4 ? "%r2" : "%rd9";
    gpu.load(R"(
.visible .entry k(.param .u64 index, .param .u64 x, .param .u64 y)
{
  .reg .b32 %r<4>;
  .reg .b64 %rd<10>;
  .reg .pred %p;
  mov.u32 %r1, %tid.x;
  ld.param.u64 %rd1, [index];
  ld.param.u64 %rd2, [x];
  ld.param.u64 %rd3, [y];
  mul.wide.u32 %rd4, %r1, 8;
  add.s64 %rd1, %rd1, %rd4;
  ld.global.u64 %rd5, [%rd1];
  add.s64 %rd2, %rd2, %rd5;
  ld.global)" +
             type + " " + r + ", [%rd2+" + std::to_string(2 * bytes) + R"(];
  setp.eq)" + type +
             " %p, " + r + R"(, 77;
  @%p exit;
  mul.wide.u32 %rd4, %r1, )" +
             std::to_string(bytes) + R"(;
  add.s64 %rd3, %rd3, %rd4;
  st.global)" +
             type + " [%rd3], " + r + R"(;
  ret;
})");
    const auto x = gpu.unwritten(kElements * bytes, "x");
    for (std::uint32_t i = 0; i < kElements; ++i) {
      const std::uint64_t value = 0x0101010101010101 * (i % 251);
      if (i == kUnwritten) continue;
      gpu.memory.mark_written(x + i * bytes, bytes);
      std::memcpy(gpu.memory.host(*gpu.memory.find(x), x + i * bytes), &value, bytes);
    }
    // Near and far elements; thread 37 loads another element in each round.
    const std::uint64_t elements[] = {7, kElements - 3, kUnwritten - 2, kElements - 2, 1ull << 40};
    for (const std::uint32_t spread : {3u, 90u}) {
      for (const std::uint32_t threads : {64u, 52u}) {
        for (const std::uint64_t element : elements) {
          for (const std::uint64_t off : {0, 2}) {
            std::vector<std::uint64_t> index(64);
            for (std::uint32_t i = 0; i < 32; ++i)
              index[i] = std::uint64_t{i} * spread % 97 * bytes;
            index[37] = element * bytes + off;
            const auto at = gpu.buffer(index);
            std::string found[2];
            std::vector<std::uint64_t> got[2];
            std::uint64_t sectors[2];
            for (const bool races : {true, false}) {
              gpu.config.checks = races ? check::kAllChecks : check::kAllChecks & ~check::kRaces;
              const auto y = gpu.buffer(std::vector<std::uint64_t>(64), "y");
              const Outcome o = gpu.launch("k", 1, threads, at, x, y);
              found[races] = text(o);
              sectors[races] = o.counters.global_load_sectors;
              got[races] = gpu.fetch<std::uint64_t>(y, 64);
              gpu.memory.release(y);
            }
            const bool bad = off != 0 || element == kUnwritten - 2 || element + 2 >= kElements;
            gpu.config.checks = check::kBounds;
            const auto y = gpu.buffer(std::vector<std::uint64_t>(64), "y");
            EXPECT_EQ(gpu.launch("k", 1, threads, at, x, y).failed(),
                      off != 0 || element + 2 >= kElements);
            EXPECT_EQ(found[0].empty(), !bad) << element << ' ' << off << '\n' << found[0];
            EXPECT_EQ(found[0], found[1]) << element << ' ' << off;
            EXPECT_EQ(sectors[0], sectors[1]) << element << ' ' << off;
            EXPECT_EQ(got[0], got[1]) << element << ' ' << off;
          }
        }
      }
    }
  }
}

TEST(Memory, ParametersHaveAnAddressWhenTheyNeedOne) {
  Machine gpu;
  gpu.load(R"(
.visible .entry k(.param .align 4 .b8 s[16], .param .u64 out)
{
  .reg .b32 %r<4>;
  .reg .b64 %rd<9>;
  mov.b64 %rd1, s;
  cvta.param.u64 %rd2, %rd1;
  mov.u32 %r1, %tid.x;
  mul.wide.u32 %rd3, %r1, 4;
  add.s64 %rd4, %rd2, %rd3;
  ld.u32 %r2, [%rd4];
  ld.param.u64 %rd5, [out];
  add.s64 %rd6, %rd5, %rd3;
  st.global.u32 [%rd6], %r2;
  ret;
})");
  struct {
    std::uint32_t v[4] = {3, 1, 4, 1};
  } s;
  const auto out = gpu.unwritten(16);
  const Outcome o = gpu.launch("k", 1, 4, s, out);
  EXPECT_FALSE(o.failed()) << text(o);
  EXPECT_THAT(gpu.fetch<std::uint32_t>(out, 4), ElementsAre(3, 1, 4, 1));
}

TEST(Atomics, EveryOperationOnAWord) {
  Machine gpu;
  const auto one = [&](const char* operation, std::uint32_t before, std::uint32_t b) {
    gpu.load(R"(
.visible .entry k(.param .u64 x, .param .u32 b)
{
  .reg .b32 %r<4>;
  .reg .b64 %rd<3>;
  ld.param.u64 %rd1, [x];
  ld.param.u32 %r1, [b];
  atom.global.)" +
             std::string(operation) + R"( %r2, [%rd1], %r1;
  st.global.u32 [%rd1+4], %r2;
  ret;
})");
    const auto x = gpu.buffer(std::vector<std::uint32_t>{before, 0});
    const Outcome o = gpu.launch("k", 1, 1, x, b);
    EXPECT_FALSE(o.failed()) << text(o);
    const auto r = gpu.fetch<std::uint32_t>(x, 2);
    EXPECT_EQ(r[1], before) << "the old value of " << operation;
    return r[0];
  };
  EXPECT_EQ(one("add.u32", 5, 7), 12u);
  EXPECT_EQ(one("exch.b32", 5, 7), 7u);
  EXPECT_EQ(one("min.u32", 0xffffffff, 7), 7u);
  EXPECT_EQ(one("min.s32", 0xffffffff, 7), 0xffffffffu);
  EXPECT_EQ(one("max.s32", 0xffffffff, 7), 7u);
  EXPECT_EQ(one("and.b32", 6, 3), 2u);
  EXPECT_EQ(one("or.b32", 6, 3), 7u);
  EXPECT_EQ(one("xor.b32", 6, 3), 5u);
  EXPECT_EQ(one("inc.u32", 6, 7), 7u);
  EXPECT_EQ(one("inc.u32", 7, 7), 0u);
  EXPECT_EQ(one("dec.u32", 0, 7), 7u);
  EXPECT_EQ(one("dec.u32", 9, 7), 7u);
  EXPECT_EQ(one("dec.u32", 4, 7), 3u);
  EXPECT_EQ(one("add.f32", 0x3f800000, 0x3f800000), 0x40000000u);
  EXPECT_EQ(one("add.f32", 1, 1), 0u) << "subnormals are flushed in global memory";
}

TEST(Atomics, SharedAdditionKeepsSubnormals) {
  Machine gpu;
  gpu.load(R"(
.visible .entry k(.param .u64 x)
{
  .shared .align 4 .b8 s[4];
  .reg .b32 %r<4>;
  .reg .f32 %f<4>;
  .reg .b64 %rd<3>;
  ld.param.u64 %rd1, [x];
  st.shared.u32 [s], 1;
  mov.b32 %f1, 0f00000001;
  atom.shared.add.f32 %f2, [s], %f1;
  ld.shared.u32 %r1, [s];
  st.global.u32 [%rd1], %r1;
  ret;
})");
  const auto x = gpu.unwritten(4);
  const Outcome o = gpu.launch("k", 1, 1, x);
  EXPECT_FALSE(o.failed()) << text(o);
  EXPECT_EQ(gpu.fetch<std::uint32_t>(x, 1)[0], 2u);
}

TEST(Atomics, BlocksOnSeveralHostThreadsLoseNothing) {
  Machine gpu;
  gpu.config.host_threads = 4;
  gpu.load(R"(
.visible .entry k(.param .u64 x)
{
  .reg .b64 %rd<3>;
  ld.param.u64 %rd1, [x];
  red.global.add.u32 [%rd1], 1;
  ret;
})");
  const auto x = gpu.buffer(std::vector<std::uint32_t>{0});
  EXPECT_FALSE(gpu.launch("k", 200, 96, x).failed());
  EXPECT_EQ(gpu.fetch<std::uint32_t>(x, 1)[0], 200u * 96);
}

// Read-only loads differ from other loads only in caching. The checks must treat them alike.
JUDGES(Memory, ReadOnlyLoadsAreLoads, "ldu.global.u32", "ldu.v2.u64", "ld.global.nc.u32",
       "ld.global.nc.v2.u64");
TEST(Memory, ReadOnlyLoadsAreLoads) {
  for (const std::string load : {"ldu.global", "ldu", "ld.global.nc", "ld.global.ca.nc"}) {
    const auto kernel = [&](const std::string& offset) {
      return R"(.visible .entry k(.param .u64 x, .param .u64 y)
{
  .reg .b16 %h<2>; .reg .b32 %r<9>; .reg .b64 %rd<9>;
  ld.param.u64 %rd1, [x];
  ld.param.u64 %rd2, [y];
  mov.u32 %r1, %tid.x;
  mad.wide.u32 %rd1, %r1, 16, %rd1;
  mad.wide.u32 %rd2, %r1, 64, %rd2;
  )" + load + ".u32 %r2, [%rd1" +
             offset + "];\n  " + load + ".s8 %h1, [%rd1];\n  " + load +
             ".v4.u32 {%r3, %r4, %r5, %r6}, [%rd1];\n  " + load +
             R"(.v2.u64 {%rd3, %rd4}, [%rd1];
  cvt.s32.s16 %r7, %h1;
  st.global.v4.u32 [%rd2], {%r3, %r4, %r5, %r6};
  st.global.v2.u64 [%rd2+16], {%rd3, %rd4};
  st.global.u32 [%rd2+32], %r2;
  st.global.u32 [%rd2+36], %r7;
  ret;
})";
    };
    std::vector<std::uint32_t> words(128);
    for (std::uint32_t i = 0; i < 128; ++i) words[i] = 0x80 + 0x01010101 * i;
    Machine gpu;
    gpu.load(kernel("+4"));
    const auto x = gpu.buffer(words, "x"), y = gpu.buffer(std::vector<std::uint32_t>(32 * 16), "y");
    const Outcome o = gpu.launch("k", 1, 32, x, y);
    EXPECT_TRUE(o.findings.empty()) << load << "\n" << text(o);
    const auto got = gpu.fetch<std::uint32_t>(y, 32 * 16);
    for (std::uint32_t t = 0; t < 32; ++t) {
      for (std::uint32_t i = 0; i < 8; ++i)
        EXPECT_EQ(got[16 * t + i], words[4 * t + i % 4]) << load;
      EXPECT_EQ(got[16 * t + 8], words[4 * t + 1]) << load;
      EXPECT_EQ(static_cast<std::int32_t>(got[16 * t + 9]), static_cast<std::int8_t>(words[4 * t]))
          << load;
    }
    gpu.load(kernel("+512"));
    const Outcome outside = gpu.launch("k", 1, 32, x, y);
    ASSERT_TRUE(outside.failed()) << load;
    EXPECT_EQ(outside.findings[0].kind, check::Kind::kOutOfBounds) << text(outside);
    gpu.load(kernel("+1"));
    const Outcome odd = gpu.launch("k", 1, 32, x, y);
    ASSERT_TRUE(odd.failed()) << load;
    EXPECT_EQ(odd.findings[0].kind, check::Kind::kMisaligned) << text(odd);
  }
}

JUDGES(Load, TwoBytesAreExchanged, "mov.b16 d, v", "mov.b16 vd, a");
TEST(Load, TwoBytesAreExchanged) {
  Machine gpu;
  gpu.load_text(
      ".version 8.3\n.target sm_75\n.address_size 64\n"
      R"(
.visible .entry k(.param .u64 x, .param .u64 y)
{
  .reg .b8 %b<2>; .reg .b16 %h<2>; .reg .b32 %r; .reg .b64 %rd<4>;
  ld.param.u64 %rd0, [x];
  ld.param.u64 %rd1, [y];
  mov.u32 %r, %tid.x;
  mul.wide.u32 %rd2, %r, 2;
  add.u64 %rd0, %rd0, %rd2;
  add.u64 %rd1, %rd1, %rd2;
  ld.global.b16 %h0, [%rd0];
  mov.b16 {%b0, %b1}, %h0;
  mov.b16 %h1, {%b1, %b0};
  st.global.b16 [%rd1], %h1;
  ret;
}
)");
  std::vector<std::uint16_t> words(32), expected;
  for (std::uint32_t i = 0; i < 32; ++i) {
    words[i] = static_cast<std::uint16_t>(i | (200 - i) << 8);
    expected.push_back(static_cast<std::uint16_t>(i << 8 | (200 - i)));
  }
  const auto y = gpu.unwritten(64);
  const Outcome o = gpu.launch("k", 1, 32, gpu.buffer(words), y);
  EXPECT_FALSE(o.failed()) << text(o);
  EXPECT_EQ(gpu.fetch<std::uint16_t>(y, 32), expected);
}

JUDGES(Load, SixteenBytesAreOneElement, "mov.b128 d, v", "mov.b128 vd, a", "ld.global.b128",
       "ld.acquire.gpu.b128", "ld.global.nc.b128", "st.global.b128", "st.volatile.global.b128",
       "st.release.gpu.global.b128");
// .b128 registers to and from every state space, weak and strong.
TEST(Load, SixteenBytesAreOneElement) {
  Machine gpu;
  gpu.load_text(
      ".version 8.3\n.target sm_90\n.address_size 64\n"
      R"(
.const .align 16 .b32 table[4] = {11, 12, 13, 14};
.visible .entry k(.param .u64 x, .param .u64 y, .param .align 16 .b8 p[16])
{
  .reg .b32 %r<5>; .reg .b64 %rd<9>; .reg .b128 %q<8>;
  .shared .align 16 .b8 s[1024];
  .local .align 16 .b8 l[16];
  ld.param.u64 %rd1, [x];
  ld.param.u64 %rd2, [y];
  mov.u32 %r1, %tid.x;
  mul.wide.u32 %rd3, %r1, 16;
  add.u64 %rd1, %rd1, %rd3;
  mul.wide.u32 %rd4, %r1, 96;
  add.u64 %rd2, %rd2, %rd4;
  mov.u64 %rd5, s;
  add.u64 %rd5, %rd5, %rd3;
  ld.global.b128 %q0, [%rd1];
  st.shared.b128 [%rd5], %q0;
  ld.relaxed.cta.shared.b128 %q1, [%rd5];
  st.local.b128 [l], %q1;
  ld.local.b128 %q2, [l];
  st.global.b128 [%rd2], %q2;
  ld.acquire.gpu.b128 %q3, [%rd2];
  st.release.gpu.global.b128 [%rd2+16], %q3;
  ld.global.nc.b128 %q4, [%rd1];
  st.volatile.global.b128 [%rd2+32], %q4;
  ld.const.b128 %q5, [table];
  st.global.b128 [%rd2+48], %q5;
  ld.param.b128 %q6, [p];
  st.b128 [%rd2+64], %q6;
  ld.b128 %q7, [%rd2+64];
  mov.b128 {%rd6, %rd7}, %q7;
  mov.b128 %q7, {%rd7, %rd6};
  st.b128 [%rd2+80], %q7;
  ret;
}
)");
  std::vector<std::uint32_t> words(128), expected;
  for (std::uint32_t i = 0; i < 128; ++i) words[i] = 1000 + i;
  struct alignas(16) Sixteen {
    std::uint32_t w[4];
  } const p{{21, 22, 23, 24}};
  for (std::uint32_t t = 0; t < 32; ++t) {
    for (int copy = 0; copy < 3; ++copy)
      expected.insert(expected.end(), &words[4 * t], &words[4 * t] + 4);
    for (const std::uint32_t v : {11, 12, 13, 14, 21, 22, 23, 24, 23, 24, 21, 22})
      expected.push_back(v);
  }
  const auto y = gpu.unwritten(32 * 96);
  const Outcome o = gpu.launch("k", 1, 32, gpu.buffer(words), y, p);
  EXPECT_FALSE(o.failed()) << text(o);
  EXPECT_EQ(gpu.fetch<std::uint32_t>(y, 32 * 24), expected);
}

}  // namespace load_store_test
}  // namespace lockstep::engine
