#include "simulator/compile/frame.h"

#include <gmock/gmock.h>

#include "simulator/compile/compile_error.h"
#include "simulator/compile/testing.h"

namespace lockstep::compile {
namespace frame_test {

using ::testing::HasSubstr;

std::string refusal(const std::string& text) {
  const ptx::Module m = testing::parsed(text);
  program::Function out;
  out.demangled = "f";
  if (m.functions[0].is_kernel) out.parameter_offsets = ptx::parameter_offsets(m.functions[0]);
  try {
    Frame frame(m.functions[0], out);
  } catch (const CompileError& e) {
    return e.message;
  }
  return "";
}

TEST(Frame, ParametersOfADeviceFunctionLieInTheRegisterFileSideBySide) {
  const ptx::Module m = testing::parsed(
      ".func (.param .b64 r) f(.param .b32 a, .param .align 8 .b8 s[24])\n{\n.param .b32 "
      "t;\nret;\n}\n");
  program::Function out;
  const Frame frame(m.functions[0], out);
  ASSERT_EQ(out.parameters.size(), 2u);
  ASSERT_EQ(out.results.size(), 1u);
  // 32 lanes of 4, 24, 8 and 4 bytes.
  EXPECT_EQ(frame.storage_of("a")->offset, 0u);
  EXPECT_EQ(frame.storage_of("s")->offset, 128u);
  EXPECT_EQ(frame.storage_of("r")->offset, 128u + 768);
  EXPECT_EQ(frame.storage_of("t")->offset, 128u + 768 + 256);
  EXPECT_EQ(frame.file_bytes(), 128u + 768 + 256 + 128);
  EXPECT_EQ(frame.storage_of("other"), nullptr);
}

TEST(Frame, AKernelsParametersAreNotInTheRegisterFile) {
  const ptx::Module m = testing::parsed(".entry k(.param .u64 x, .param .u32 n)\n{\nret;\n}\n");
  program::Function out;
  out.parameter_offsets = ptx::parameter_offsets(m.functions[0]);
  const Frame frame(m.functions[0], out);
  EXPECT_EQ(frame.kernel_parameter("n"), 1u);
  EXPECT_EQ(frame.kernel_parameter("y"), std::nullopt);
  EXPECT_EQ(frame.file_bytes(), 0u);
}

TEST(Frame, LocalVariablesHaveSixteenBytesBetweenThem) {
  const ptx::Module m = testing::parsed(
      ".entry k()\n{\n.local .align 4 .b8 a[20]; .local .align 64 .b8 b[8];\nret;\n}\n");
  program::Function out;
  out.parameter_offsets = {0};
  const Frame frame(m.functions[0], out);
  EXPECT_EQ(frame.local_variable("a"), 0u);
  EXPECT_EQ(frame.local_variable("b"), 64u)
      << "20 bytes, 16 that belong to nobody, and the alignment";
  EXPECT_EQ(out.local_bytes, 128u);
  EXPECT_EQ(out.local[0].end, 20u);
}

TEST(Frame, WhatHasNoRoomIsRefusedByName) {
  EXPECT_THAT(refusal(".entry k()\n{\n.local .b8 big[600000];\nret;\n}\n"),
              HasSubstr("no room for the local variable 'big'"));
  EXPECT_THAT(refusal(".func f(.param .b8 s[40000])\n{\nret;\n}\n"),
              HasSubstr("'s' of function f has 40000 bytes; the limit is 32764"));
  EXPECT_EQ(refusal(".func f(.param .b8 s[32764])\n{\nret;\n}\n"), "");
}

}  // namespace frame_test
}  // namespace lockstep::compile
