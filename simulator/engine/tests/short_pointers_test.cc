// 32-bit addresses of state spaces, as LLVM writes them.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "simulator/coverage/judged.h"
#include "simulator/engine/tests/testing.h"

namespace lockstep::engine {
namespace short_pointers_test {

using ::testing::ElementsAre;
using testing::Machine;
using testing::text;

// As on an H100: 32-bit addresses of these state spaces are offsets from the begin of the space.
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

// An initialiser stores the address in the variable's own state space, or with generic() the
// generic address.
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

// Using such an address as a generic address is a finding, and so is an access beside the variable.
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

// The window that contains a generic address.
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

}  // namespace short_pointers_test
}  // namespace lockstep::engine
