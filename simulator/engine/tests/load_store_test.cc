// What a module must have to be loaded, what is said when it has not, and memory accesses of every
// width once it runs.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "simulator/coverage/judged.h"
#include "simulator/engine/tests/testing.h"

namespace lockstep::engine {
namespace load_store_test {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using testing::Machine;
using testing::text;

TEST(Load, AnInstructionThatIsNotImplementedIsRefusedByNameLineAndFunction) {
  Machine gpu;
  std::string message;
  try {
    gpu.load_text(R"(.version 8.1
.target sm_90
.address_size 64

.visible .func _Z5waitsPi(.param .b8 x[8])
{
  .reg .b64 %d;
  mov.u64 %d, x;
  ret;
})");
  } catch (const std::runtime_error& error) {
    message = error.what();
  }
  EXPECT_THAT(message, AllOf(HasSubstr("PTX line 8"), HasSubstr("mov.u64"),
                             HasSubstr("waits(int*)"), HasSubstr("not implemented")));
}

TEST(Load, AnInstructionThatPtxDoesNotKnowIsRefused) {
  Machine gpu;
  EXPECT_THAT(gpu.refusal(".visible .entry k() { .reg .b32 %r<2>; frobnicate.u32 %r0, %r1; ret; }"),
              HasSubstr("frobnicate"));
  EXPECT_THAT(gpu.refusal(".visible .entry k() { .reg .b32 %r<9>; istypep.query; ret; }"),
              HasSubstr("in k: unknown instruction 'istypep.query'"));
}

// Sizes that no device has, and that 32 bits do not hold.
TEST(Load, WhatNoDeviceHasRoomForIsRefused) {
  Machine gpu;
  EXPECT_THAT(gpu.refusal(".const .b8 c[4294967297];"),
              HasSubstr("constant variables have 4294967297 bytes"));
  EXPECT_THAT(
      gpu.refusal(
          ".visible .entry k() { .shared .b8 s[4294967297]; .reg .b64 %d; mov.u64 %d, s; ret; }"),
      HasSubstr("no room for the shared variable"));
  EXPECT_THAT(gpu.refusal(".visible .entry k() { .local .b8 l[4294967296]; ret; }"),
              HasSubstr("no room for the local variable"));
  EXPECT_THAT(gpu.refusal(".visible .entry k() { .local .align 2147483648 .b8 l[8]; .local .align "
                          "2147483648 .b8 m[8]; ret; }"),
              HasSubstr("local memory"));
  EXPECT_THAT(gpu.refusal(".visible .entry k(.param .b8 p[4294967297]) { ret; }"),
              HasSubstr("more than 32764 bytes"));
  EXPECT_THAT(gpu.refusal(".func f(.param .b8 p[134217728]) { ret; }"),
              HasSubstr("the limit is 32764"));
  gpu.memory.set_capacity(0, 1 << 20);
  EXPECT_THAT(gpu.refusal(".global .b8 x[1000000000000];"), HasSubstr("no device memory"));
}

TEST(Load, ResultsThatNobodyCouldFindAgainAreRefused) {
  Machine gpu;
  EXPECT_THAT(gpu.refusal(".visible .entry k() { alloca.u64 _, 8; ret; }"),
              HasSubstr("cannot be discarded"));
  EXPECT_THAT(gpu.refusal(".visible .entry k() { .reg .b64 %d<2>; cvta.shared.u64 _, %d1; ret; }"),
              HasSubstr("cannot be discarded"));
}

TEST(Load, ACallOfNothingIsRefused) {
  Machine gpu;
  EXPECT_THAT(
      gpu.refusal(".extern .func nowhere();\n.visible .entry k() { call.uni nowhere, (); ret; }"),
      HasSubstr("nowhere"));
}

TEST(Load, KernelsDescribeTheirParametersAndMemory) {
  Machine gpu;
  gpu.load(R"(
.const .align 4 .b8 c[40];
.visible .entry k(.param .u32 a, .param .u64 b, .param .u8 c1, .param .align 8 .b8 s[24])
.maxntid 128, 2, 1
{
  .shared .align 4 .b8 x[100];
  .shared .align 8 .b8 y[16];
  .reg .b32 %r<3>;
  mov.u32 %r1, x;
  mov.u32 %r2, y;
  ret;
})");
  const Kernel* k = gpu.module->find_kernel("k");
  ASSERT_NE(k, nullptr);
  EXPECT_THAT(k->parameter_offsets(), ElementsAre(0, 8, 16, 24, 48));
  EXPECT_THAT(k->parameter_sizes(), ElementsAre(4, 8, 1, 24));
  EXPECT_EQ(k->max_threads_per_block(), 256u);
  EXPECT_EQ(k->static_shared_bytes(), 120u);  // the gaps that the simulated GPU leaves do not count
  EXPECT_EQ(k->constant_bytes(), 40u);
  EXPECT_EQ(k->ptx_target(), 90);
  EXPECT_EQ(gpu.module->find_kernel("j"), nullptr);
  ASSERT_NE(gpu.module->find_variable("c"), nullptr);
  EXPECT_EQ(gpu.module->find_variable("c")->size, 40u);
}

TEST(Load, ConstantVariablesHave64KBTogetherAndNotAByteMore) {
  const std::string kernel = ".visible .entry k() { ret; }";
  Machine gpu;
  gpu.load(".const .align 4 .b8 c[65530];\n.const .align 1 .b8 d[6];\n" + kernel);
  ASSERT_NE(gpu.module->find_kernel("k"), nullptr);
  Machine other;
  EXPECT_THAT(other.refusal(".const .align 4 .b8 c[65530];\n.const .align 1 .b8 d[7];\n" + kernel),
              AllOf(HasSubstr("65537 bytes"), HasSubstr("there are 65536")));
}

TEST(Load, SeveralTextsAreLinkedByName) {
  Machine gpu;
  const std::string first = testing::module_text(R"(
.extern .global .u32 value;
.extern .func (.param .b32 r) twice(.param .b32 x);
.visible .entry k(.param .u64 out)
{
  .reg .b32 %r<4>;
  .reg .b64 %rd<3>;
  ld.param.u64 %rd1, [out];
  ld.global.u32 %r1, [value];
  { .param .b32 a; st.param.b32 [a], %r1; .param .b32 r; call.uni (r), twice, (a);
      ld.param.b32 %r2, [r]; }
  st.global.u32 [%rd1], %r2;
  ret;
})");
  const std::string second = testing::module_text(R"(
.visible .global .u32 value = 21;
.visible .func (.param .b32 r) twice(.param .b32 x)
{ .reg .b32 %r<3>; ld.param.u32 %r1, [x]; add.u32 %r2, %r1, %r1; st.param.b32 [r], %r2; ret; })");
  const std::string_view texts[] = {first, second};
  auto loaded = load_module(texts, gpu.memory, 0);
  ASSERT_TRUE(std::holds_alternative<std::unique_ptr<Module>>(loaded))
      << std::get<LoadError>(loaded).message;
  gpu.module = std::move(std::get<std::unique_ptr<Module>>(loaded));
  const auto out = gpu.unwritten(4);
  EXPECT_FALSE(gpu.launch("k", 1, 1, out).failed());
  EXPECT_THAT(gpu.fetch<std::uint32_t>(out, 1), ElementsAre(42u));
}

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
  // Half of the lanes point to shared memory, half to local: one load serves both.
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

// As on an H100: addresses of these state spaces count from where the space begins, and fit in 32
// bits.
constexpr const char* kShortPointers = R"(
.const .align 8 .b32 constants[4] = {21, 22, 23, 24};
.global .align 8 .u64 pointers[2] = {constants, generic(constants)};
.visible .entry k(.param .u64 out, .param .align 8 .b8 s[16])
{
  .reg .pred %p<9>;
  .reg .b32 %r<40>;
  .reg .b64 %rd<40>;
  .shared .align 8 .b32 t[4];
  .local .align 8 .b32 l[4];
  ld.param.u64 %rd0, [out];
  mov.b32 %r1, SYMBOL;
  cvt.u64.u32 %rd1, %r1;
  cvta.SPACE.u64 %rd2, %rd1;
  cvta.to.SPACE.u64 %rd3, %rd2;
  cvt.u32.u64 %r2, %rd3;
  mov.b64 %rd4, SYMBOL+4;
  cvta.SPACE.u64 %rd5, SYMBOL+8;
  setp.eq.u64 %p1, %rd3, %rd1;
  selp.b32 %r3, 1, 0, %p1;
  SETUP
  ld.SPACE.b32 %r10, [%r1];
  ld.SPACE.b32 %r11, [%r2+4];
  ld.SPACE.b32 %r12, [%rd4+4];
  ld.SPACE.v2.b32 {%r13, %r14}, [%rd3+8];
  ld.b32 %r15, [%rd2];
  ld.b32 %r16, [%rd5];
  st.global.v4.b32 [%rd0], {%r10, %r11, %r12, %r13};
  st.global.v4.b32 [%rd0+16], {%r14, %r15, %r16, %r3};
  ret;
})";

std::string short_pointers(const std::string& space, const std::string& symbol,
                           const std::string& setup) {
  std::string text = kShortPointers;
  const auto replace = [&](const std::string& from, const std::string& to) {
    for (std::size_t at = 0; (at = text.find(from, at)) != std::string::npos; at += to.size())
      text.replace(at, from.size(), to);
  };
  replace("SPACE", space);
  replace("SYMBOL", symbol);
  replace("SETUP", setup);
  return text;
}

struct Words {
  std::uint32_t v[4];
};

JUDGES(ShortPointers, ReachTheirSpaces, "cvta.param.u64", "cvta.to.param.u64", "cvta.const.u64",
       "cvta.to.const.u64", "cvta.shared.u64", "cvta.to.shared.u64", "cvta.local.u64",
       "cvta.to.local.u64", "cvta.param::entry.u64", "cvta.to.param::entry.u64",
       "ld.param::entry.b32", "ld.param::entry.v2.b32");
TEST(ShortPointers, ReachTheirSpaces) {
  const std::string fill = "st.SPACE.v4.b32 [%r1], {21, 22, 23, 24};";
  const struct {
    const char *space, *symbol;
    std::string setup;
  } cases[] = {{"param", "s", ""},
               {"param::entry", "s", ""},
               {"const", "constants", ""},
               {"shared", "t", fill},
               {"local", "l", fill}};
  for (const auto& c : cases) {
    Machine gpu;
    std::string setup = c.setup;
    if (const std::size_t at = setup.find("SPACE"); at != std::string::npos)
      setup.replace(at, 5, c.space);
    gpu.load_text(".version 8.3\n.target sm_90\n.address_size 64\n" +
                  short_pointers(c.space, c.symbol, setup));
    const auto out = gpu.unwritten(32);
    const Outcome o = gpu.launch("k", 1, 1, out, Words{{21, 22, 23, 24}});
    EXPECT_FALSE(o.failed()) << c.space << text(o);
    EXPECT_THAT(gpu.fetch<std::uint32_t>(out, 8), ElementsAre(21, 22, 23, 23, 24, 21, 23, 1))
        << c.space;
  }
}

// An initialiser has the address in the variable's own space, or with generic() the generic one.
TEST(ShortPointers, StandInInitialisers) {
  Machine gpu;
  std::string text =
      short_pointers("const", "constants", "ld.global.v2.b64 {%rd7, %rd8}, [pointers];");
  const std::size_t at = text.find("ld.b32 %r15, [%rd2]");
  text.replace(at, 19, "ld.b32 %r15, [%rd8]");
  text.replace(text.find("ld.const.b32 %r10, [%r1]"), 24, "ld.const.b32 %r10, [%rd7]");
  gpu.load_text(".version 8.3\n.target sm_90\n.address_size 64\n" + text);
  const auto out = gpu.unwritten(32);
  const Outcome o = gpu.launch("k", 1, 1, out, Words{{0, 0, 0, 0}});
  EXPECT_FALSE(o.failed()) << lockstep::engine::testing::text(o);
  EXPECT_THAT(gpu.fetch<std::uint32_t>(out, 8), ElementsAre(21, 22, 23, 23, 24, 21, 23, 1));
}

// What is no generic address is found where one is used, and so is what lies beside the variable.
TEST(ShortPointers, ThatAreNotConvertedOrLeaveTheirVariableAreFound) {
  const struct {
    const char *space, *symbol, *from, *to;
  } cases[] = {{"param", "s", "ld.b32 %r15, [%rd2]", "ld.b32 %r15, [%rd1]"},
               {"const", "constants", "ld.b32 %r15, [%rd2]", "ld.b32 %r15, [%rd1]"},
               {"param", "s", "[%r2+4]", "[%r2+16]"},
               {"const", "constants", "[%r2+4]", "[%r2+16]"},
               {"const", "constants", "ld.const.b32 %r10, [%r1]",
                "mov.b32 %r1, 0; ld.const.b32 %r10, [%r1]"}};
  for (const auto& c : cases) {
    Machine gpu;
    std::string text = short_pointers(c.space, c.symbol, "");
    const std::size_t at = text.find(c.from);
    ASSERT_NE(at, std::string::npos);
    text.replace(at, std::string(c.from).size(), c.to);
    gpu.load_text(".version 8.3\n.target sm_90\n.address_size 64\n" + text);
    const auto out = gpu.unwritten(32);
    const Outcome o = gpu.launch("k", 1, 1, out, Words{{21, 22, 23, 24}});
    ASSERT_EQ(o.findings.size(), 1u) << c.from;
    EXPECT_EQ(o.findings[0].kind, check::Kind::kOutOfBounds) << c.to;
  }
}

// Which window a generic address lies in.
TEST(ShortPointers, AParameterIsNoConstant) {
  Machine gpu;
  gpu.load(R"(
.const .align 8 .b32 constants[4] = {21, 22, 23, 24};
.visible .entry k(.param .u64 out, .param .align 8 .b8 s[16])
{
  .reg .pred %p<9>; .reg .b32 %r<9>; .reg .b64 %rd<9>;
  cvta.param.u64 %rd1, s;
  cvta.const.u64 %rd2, constants;
  isspacep.param %p1, %rd1; isspacep.const %p2, %rd1; isspacep.param %p3, %rd2;
      isspacep.const %p4, %rd2;
  selp.b32 %r1, 1, 0, %p1; selp.b32 %r2, 1, 0, %p2; selp.b32 %r3, 1, 0, %p3;
      selp.b32 %r4, 1, 0, %p4;
  ld.param.u64 %rd3, [out]; st.global.v4.b32 [%rd3], {%r1, %r2, %r3, %r4};
  ret;
})");
  const auto out = gpu.unwritten(16);
  EXPECT_FALSE(gpu.launch("k", 1, 1, out, Words{{0, 0, 0, 0}}).failed());
  EXPECT_THAT(gpu.fetch<std::uint32_t>(out, 4), ElementsAre(1, 0, 0, 1));
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

TEST(Counters, SectorsAndBankConflictsAreExact) {
  Machine gpu;
  gpu.config.count = true;
  gpu.load(R"(
.visible .entry k(.param .u64 x, .param .u32 stride)
{
  .shared .align 4 .b8 s[4096];
  .reg .b32 %r<9>;
  .reg .b64 %rd<9>;
  ld.param.u64 %rd1, [x];
  ld.param.u32 %r1, [stride];
  mov.u32 %r2, %tid.x;
  mul.lo.u32 %r3, %r2, %r1;
  mul.wide.u32 %rd2, %r3, 4;
  add.s64 %rd3, %rd1, %rd2;
  ld.global.u32 %r4, [%rd3];
  shl.b32 %r5, %r3, 2;
  mov.u32 %r6, s;
  add.u32 %r6, %r6, %r5;
  st.shared.u32 [%r6], %r4;
  ret;
})");
  const auto x = gpu.buffer(std::vector<std::uint32_t>(1024, 1));
  const Counters one = gpu.launch("k", 1, 32, x, 1u).counters;
  EXPECT_EQ(one.global_load_requests, 1u);
  EXPECT_EQ(one.global_load_sectors, 4u);
  EXPECT_EQ(one.global_load_lines, 1u);
  EXPECT_EQ(one.shared_store_requests, 1u);
  EXPECT_EQ(one.shared_store_bank_conflicts, 0u);
  const Counters eight = gpu.launch("k", 1, 32, x, 8u).counters;
  EXPECT_EQ(eight.global_load_sectors, 32u);
  EXPECT_EQ(eight.global_load_lines, 8u);
  EXPECT_EQ(eight.shared_store_bank_conflicts, 7u);
  const Counters all = gpu.launch("k", 1, 32, x, 32u).counters;
  EXPECT_EQ(all.shared_store_bank_conflicts, 31u);
}

// The sectors and the lines that lanes touch, wherever they are and whichever take part, are those
// that a set of them holds.
TEST(Counters, SectorsAndLinesAgreeWithASet) {
  constexpr std::uint32_t kBytes = 1 << 14;
  Machine gpu;
  gpu.config.count = true;
  const auto x = gpu.buffer(std::vector<std::uint8_t>(kBytes, 1), "x");
  std::mt19937 random(1);
  std::set<std::pair<std::uint64_t, std::uint64_t>> counts;
  for (const auto& [load, size] :
       std::vector<std::pair<std::string, std::uint32_t>>{{"u8 %r2", 1},
                                                          {"u16 %r2", 2},
                                                          {"u32 %r2", 4},
                                                          {"v2.u32 {%r2, %r3}", 8},
                                                          {"v4.u32 {%r2, %r3, %r4, %r5}", 16}}) {
    gpu.load(R"(.visible .entry k(.param .u64 addresses, .param .u32 lanes)
{
  .reg .pred %p<2>; .reg .b32 %r<9>; .reg .b64 %rd<9>;
  ld.param.u64 %rd1, [addresses];
  ld.param.u32 %r6, [lanes];
  mov.u32 %r1, %tid.x;
  mad.wide.u32 %rd1, %r1, 8, %rd1;
  ld.global.u64 %rd2, [%rd1];
  shr.u32 %r7, %r6, %r1;
  and.b32 %r7, %r7, 1;
  setp.ne.u32 %p1, %r7, 0;
  @%p1 ld.global.)" +
             load + ", [%rd2];\n  ret;\n}");
    for (int round = 0; round < 150; ++round) {
      // From anywhere, from a few places, or in steps from one, upwards and downwards.
      const std::uint32_t places = kBytes / size, few = 1 + random() % 8, from = random() % places;
      const int kind = round % 5, step = static_cast<int>(random() % 40) - 20;
      std::vector<std::uint64_t> at(32);
      for (std::uint32_t i = 0; i < 32; ++i) {
        const std::uint32_t stepped = from + i * static_cast<std::uint32_t>(step);
        at[i] = x + (kind == 0   ? random()
                     : kind == 1 ? from + random() % few
                     : kind == 2 ? from + i / few
                                 : stepped) %
                        places * size;
      }
      const std::uint32_t lanes = kind == 4 ? ~0u : round % 7 == 0 ? 1u << random() % 32 : random();
      std::set<std::uint64_t> sectors, lines;
      for (std::uint32_t i = 0; i < 32; ++i) {
        if ((lanes >> i & 1) == 0) continue;
        for (const std::uint64_t byte : {at[i], at[i] + size - 1})
          sectors.insert(byte / 32), lines.insert(byte / 128);
      }
      const auto addresses = gpu.buffer(at, "addresses");
      const Counters c = gpu.launch("k", 1, 32, addresses, lanes).counters;
      // The row of addresses is 256 bytes.
      ASSERT_EQ(c.global_load_sectors, 8 + sectors.size()) << load << ", round " << round;
      ASSERT_EQ(c.global_load_lines, (addresses % 128 == 0 ? 2 : 3) + lines.size())
          << load << ", round " << round;
      counts.insert({sectors.size(), lines.size()});
    }
  }
  EXPECT_GT(counts.size(), 60u);
}

// The passes over the banks that lanes take beyond the first are those that sets of each bank's
// words make: 32 lanes at a time, 16 of 8 bytes, 8 of 16.
TEST(Counters, BankConflictsAgreeWithSets) {
  constexpr std::uint32_t kBytes = 4096;
  Machine gpu;
  gpu.config.count = true;
  std::mt19937 random(1);
  std::set<std::uint64_t> counts;
  for (const auto& [load, size] :
       std::vector<std::pair<std::string, std::uint32_t>>{{"u8 %r2", 1},
                                                          {"u32 %r2", 4},
                                                          {"v2.u32 {%r2, %r3}", 8},
                                                          {"v4.u32 {%r2, %r3, %r4, %r5}", 16}}) {
    gpu.load(R"(.visible .entry k(.param .u64 offsets, .param .u32 lanes)
{
  .shared .align 16 .b8 s[4096];
  .reg .pred %p<2>; .reg .b32 %r<12>; .reg .b64 %rd<9>;
  ld.param.u64 %rd1, [offsets];
  ld.param.u32 %r6, [lanes];
  mov.u32 %r1, %tid.x;
  mov.u32 %r9, s;
  mad.lo.u32 %r8, %r1, 4, %r9;
  add.u32 %r10, %r9, 4096;
FILL:
  st.shared.u32 [%r8], %r1;
  add.u32 %r8, %r8, 128;
  setp.lt.u32 %p1, %r8, %r10;
  @%p1 bra FILL;
  bar.sync 0;
  mad.wide.u32 %rd1, %r1, 4, %rd1;
  ld.global.u32 %r8, [%rd1];
  add.u32 %r8, %r8, %r9;
  shr.u32 %r7, %r6, %r1;
  and.b32 %r7, %r7, 1;
  setp.ne.u32 %p1, %r7, 0;
  @%p1 ld.shared.)" +
             load + ", [%r8];\n  ret;\n}");
    for (int round = 0; round < 100; ++round) {
      // From anywhere, or from a few places in one bank or in some.
      const std::uint32_t places = kBytes / size, few = 1 + random() % 16,
                          step = round % 3 == 1 ? std::max(128 / size, 1u) : 1 + random() % 9;
      std::vector<std::uint32_t> at(32);
      for (std::uint32_t& a : at)
        a = (round % 3 == 0 ? random() : random() % few * step) % places * size;
      const std::uint32_t lanes = round % 4 == 0   ? ~0u
                                  : round % 7 == 0 ? 1u << random() % 32
                                                   : static_cast<std::uint32_t>(random());
      std::uint64_t conflicts = 0;
      const std::uint32_t a_pass = size <= 4 ? 32 : 128 / size;
      for (std::uint32_t first = 0; first < 32; first += a_pass) {
        std::set<std::uint32_t> words[32];
        std::size_t worst = 1;
        for (std::uint32_t i = first; i < first + a_pass; ++i) {
          if ((lanes >> i & 1) == 0) continue;
          for (std::uint32_t word = at[i] / 4; word <= (at[i] + size - 1) / 4; ++word) {
            words[word % 32].insert(word);
            worst = std::max(worst, words[word % 32].size());
          }
        }
        conflicts += worst - 1;
      }
      const auto offsets = gpu.buffer(at, "offsets");
      ASSERT_EQ(gpu.launch("k", 1, 32, offsets, lanes).counters.shared_load_bank_conflicts,
                conflicts)
          << load << ", round " << round;
      counts.insert(conflicts);
    }
  }
  EXPECT_GT(counts.size(), 12u);
}

// Loads of what a kernel does not write, which differ from others in caches alone; they are checked
// as others are.
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
// .b128 registers from and to every state space, weak and strong.
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
