// Requirements on a module to be loaded, and the messages of refusals.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <utility>

#include "simulator/engine/tests/testing.h"

namespace lockstep::engine {
namespace load_test {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using testing::Machine;

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

// Sizes beyond every device and beyond 32 bits.
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
  EXPECT_EQ(k->static_shared_bytes(), 120u);  // without the gaps that the simulated GPU inserts
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

}  // namespace load_test
}  // namespace lockstep::engine
