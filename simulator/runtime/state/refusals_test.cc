#include "simulator/runtime/state/refusals.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace lockstep::runtime {
namespace refusals_test {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

// Two refused functions, one by the parser and one by the decoder, and two accepted ones.
constexpr const char* kModule = R"(.version 9.0
.target sm_90
.address_size 64
.extern .func unheard_of;
.visible .func (.param .b32 result) half(.param .b32 x)
{
	.reg .b32 %r<3>;
	.loc	1 7 3
	ld.param.u32 %r1, [x];
	{
	frobnicate.u32 %r2, %r1;
	}
	st.param.b32 [result], %r2;
	ret;
}
.visible .entry _Z4finePi(.param .u64 p)
{
	ret;
}
.visible .entry _Z5oddlyPi(
	.param .u64 p
)
.maxntid 64, 1, 1
{
	.reg .b32 %r<4>;
	.loc	1 12 5
	mov.u32 %r1, 1;
	.loc	2 90 1, function_name $L__info_string0, inlined_at 1 14 7
	call.uni unheard_of;
	ret;
}
.visible .entry _Z5againPi(.param .u64 p)
{
	ret;
}
	.file	1 "./kernels.cu"
	.file	2 "/usr/include/library.h"
)";

TEST(Refusals, EveryFunctionHasItsOwnReasonAndPlace) {
  memory::DeviceMemory memory;
  const std::vector<Refusal> found = find_refusals({kModule}, memory);
  ASSERT_EQ(found.size(), 2u);
  EXPECT_EQ(found[0].function, "half");
  EXPECT_THAT(found[0].message,
              HasSubstr("PTX line 11, in half: unknown instruction 'frobnicate.u32'"));
  EXPECT_EQ(found[0].source.file, "kernels.cu");
  EXPECT_EQ(found[0].source.line, 7);
  EXPECT_EQ(found[1].function, "oddly(int*)");
  EXPECT_THAT(found[1].message,
              HasSubstr("PTX line 29, kernel oddly(int*): 'call.uni' calls 'unheard_of'"));
  EXPECT_EQ(found[1].source.line, 14) << "where it was inlined";
}

TEST(Refusals, NameTheKernelsThatMayReachThem) {
  const std::string head = ".version 9.0\n.target sm_90\n.address_size 64\n";
  const std::string odd = "\n.func odd()\n{\n  clusterlaunchcontrol.unheard;\n}\n";
  const std::string fine = "\n.visible .entry fine()\n{\n  ret;\n}\n",
                    calls = "\n.visible .entry calls()\n{\n  call odd, ();\n  ret;\n}\n";
  memory::DeviceMemory memory;
  std::vector<std::string> kernels;
  EXPECT_EQ(find_refusals({head + odd + fine + calls}, memory, &kernels).size(), 1u);
  EXPECT_THAT(kernels, ElementsAre("calls"));
  kernels.clear();
  EXPECT_EQ(find_refusals({head + odd + fine}, memory, &kernels).size(), 1u);
  EXPECT_TRUE(kernels.empty());
  EXPECT_EQ(find_refusals({head + odd + fine +
                           ".visible .entry wrong() { add.u32; $nowhere: bra $absent; }\n"},
                          memory, &kernels)
                .size(),
            2u);
  kernels.clear();
  EXPECT_EQ(
      find_refusals({head + odd + fine + "\n.visible .entry wrong()\n{\n  nosuchinstruction;\n}\n"},
                    memory, &kernels)
          .size(),
      2u);
  EXPECT_THAT(kernels, ElementsAre("fine", "wrong")) << "the module as a whole is refused";
  EXPECT_EQ(memory.live().size(), 0u);
}

TEST(Refusals, OfWhatCanRunThereAreNone) {
  memory::DeviceMemory memory;
  EXPECT_TRUE(
      find_refusals(
          {".version 9.0\n.target sm_90\n.address_size 64\n.visible .entry k() { ret; }\n"}, memory)
          .empty());
  EXPECT_EQ(memory.live().size(), 0u);
}

TEST(Refusals, OfLinkedTextsNameTheRightOne) {
  const std::string head = ".version 9.0\n.target sm_90\n.address_size 64\n";
  memory::DeviceMemory memory;
  const auto found = find_refusals(
      {head + ".visible .entry a() { ret; }\n",
       head + "\n.extern .func absent;\n.visible .entry b()\n{\n  call absent;\n  ret;\n}\n"},
      memory);
  ASSERT_EQ(found.size(), 1u);
  EXPECT_EQ(found[0].function, "b");
  EXPECT_THAT(found[0].message, HasSubstr("PTX line 8, kernel b: "));
}

TEST(Refusals, EndWithWhatNoFunctionIsToBlameFor) {
  memory::DeviceMemory memory;
  const auto found = find_refusals({"no PTX at all"}, memory);
  ASSERT_EQ(found.size(), 1u);
  EXPECT_EQ(found[0].function, "");
  // The text has one line: there are no line numbers to preserve.
  EXPECT_EQ(
      find_refusals(
          {".version 9.0\n.target sm_90\n.address_size 64\n.visible .entry k() { frobnicate; }"},
          memory)
          .size(),
      1u);
}

TEST(Kernels, AreTheEntriesByTheirNamesInCpp) {
  EXPECT_THAT(kernels_in(kModule), ElementsAre("fine(int*)", "oddly(int*)", "again(int*)"));
}

TEST(Source, IsUnknownWithoutLineInformation) {
  EXPECT_EQ(source_of(kModule, 18).file, "") << "the function before has lines";
  EXPECT_EQ(source_of(kModule, 0).file, "");
  EXPECT_EQ(source_of(kModule, 1000).file, "");
}

}  // namespace refusals_test
}  // namespace lockstep::runtime
