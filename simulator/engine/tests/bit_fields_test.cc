// Words of which only some bits are written: the engine tracks unwritten bits one by one, through
// registers and memory.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstring>
#include <set>

#include "simulator/engine/tests/testing.h"

namespace lockstep::engine {
namespace bit_fields_test {

using check::Kind;
using ::testing::HasSubstr;
using testing::Machine;
using testing::text;

constexpr std::uint32_t kGarbage[] = {0,          0xffffffff, 0xa55a3cc3,
                                      0x5aa5c33c, 0x7f807f80, 0x00ff00ff};
constexpr std::uint32_t kMasks[] = {0xf8,       0x7,        0xffff,     0x10,
                                    0xfffffff0, 0x00ff00f0, 0x80000000, 0x7fffffff};

// A thread assigns the bits `mask` of a fresh word in `memory`, as compilers assign bit fields.
// `use` computes %r2 from the word %r1 (%rd1: two fresh words; %h1: the low half).
struct Fields {
  Machine gpu;

  void load(const std::string& use, const std::string& space = "global",
            const std::string& assign = {}) {
    const std::string of = space == "global" ? "[%rd7]" : "[s]";
    gpu.load(R"(
.func (.param .b32 r) same(.param .b32 a)
{
  .reg .b32 %r<2>;
  ld.param.b32 %r1, [a];
  st.param.b32 [r], %r1;
  ret;
}
.visible .entry k(.param .u64 in, .param .u64 out, .param .u32 mask)
{
  .)" + (space == "global" ? "shared" : space) +
             R"( .align 8 .b8 s[8];
  .reg .b16 %h<4>; .reg .b32 %r<20>; .reg .b64 %rd<9>; .reg .f32 %f<3>; .reg .pred %p<2>;
  ld.param.u64 %rd7, [in];
  ld.param.u64 %rd8, [out];
  ld.param.u32 %r8, [mask];
  mov.u32 %r7, 0x01020304;
  mov.u32 %r2, 0;
)" +
             (assign.empty()
                  ? "  ld." + space + ".u32 %r9, " + of +
                        ";\n  not.b32 %r10, %r8;\n  and.b32 %r9, %r9, %r10;\n  and.b32 %r11, %r8, "
                        "0x369cc963;\n" +
                        "  or.b32 %r9, %r9, %r11;\n  st." + space + ".u32 " + of + ", %r9;\n"
                  : assign) +
             "  ld." + space + ".u32 %r1, " + of + ";\n  ld." + space + ".u64 %rd1, " + of +
             ";\n  ld." + space + ".u16 %h1, " + of + ";\n" + use +
             "\n  add.u32 %r2, %r2, 1;\n  st.global.u32 [%rd8], %r2;\n  ret;\n}\n");
  }
  // Runs the kernel with fresh global memory that holds `garbage`.
  Outcome run(std::uint32_t mask, std::uint32_t garbage, std::uint32_t* result = nullptr) {
    const memory::Address in = gpu.unwritten(8), out = gpu.unwritten(4);
    const std::uint32_t words[2] = {garbage, ~garbage};
    std::memcpy(gpu.memory.host(*gpu.memory.find(in), in), words, sizeof words);
    const Outcome o = gpu.launch("k", 1, 1, in, out, mask);
    if (result != nullptr) {
      // Runs without checks, so that the kernel always completes. The memory is unchanged: the
      // stored values depend on no other state.
      const std::uint32_t checks = std::exchange(gpu.config.checks, 0);
      std::memcpy(gpu.memory.host(*gpu.memory.find(in), in), words, sizeof words);
      gpu.launch("k", 1, 1, in, out, mask);
      std::memcpy(result, gpu.memory.host(*gpu.memory.find(out), out), 4);
      gpu.config.checks = checks;
    }
    gpu.memory.release(in);
    gpu.memory.release(out);
    return o;
  }
};

// Unwritten bits must cause a finding exactly if they change the result.
TEST(BitFields, WhatIsCutAwayDoesNotCountAndWhatIsLeftDoes) {
  const char* const uses[] = {
      "mov.u32 %r2, %r1;",
      "and.b32 %r2, %r1, 7;",
      "and.b32 %r2, %r1, 0xf8;",
      "and.b32 %r2, 0x80000000, %r1;",
      "and.b32 %r2, %r1, %r7;",
      "or.b32 %r2, %r1, 0xfffffff8;",
      "or.b32 %r2, %r7, %r1;",
      "or.b32 %r3, %r1, 0x10; and.b32 %r2, %r3, 0x1f;",
      "xor.b32 %r2, %r1, %r7;",
      "not.b32 %r3, %r1; and.b32 %r2, %r3, 0xf0;",
      "shr.u32 %r2, %r1, 3;",
      "shr.u32 %r3, %r1, 3; and.b32 %r2, %r3, 31;",
      "shl.b32 %r2, %r1, 29;",
      "shl.b32 %r3, %r1, 24; shr.s32 %r2, %r3, 27;",
      "shl.b32 %r3, %r1, 1; shr.s32 %r2, %r3, 31;",
      "shr.s32 %r2, %r1, 31;",
      "bfe.u32 %r2, %r1, 3, 5;",
      "bfe.u32 %r2, %r1, 4, 1;",
      "bfe.s32 %r2, %r1, 0, 3;",
      "bfe.s32 %r2, %r1, 28, 9;",
      "bfi.b32 %r2, %r7, %r1, 3, 5;",
      "bfi.b32 %r2, %r1, %r7, 3, 5;",
      "bfi.b32 %r2, %r1, %r7, 28, 8;",
      "bfi.b32 %r2, %r1, %r7, 40, 8;",
      "bfi.b32 %r2, %r7, %r1, 0, 0;",
      "prmt.b32 %r2, %r1, %r7, 0x7610;",
      "prmt.b32 %r2, %r1, %r7, 0x7778;",
      "cvt.u32.u8 %r2, %r1;",
      "cvt.s32.s8 %r2, %r1;",
      "cvt.u32.u16 %r2, %h1;",
      "cvt.u32.u16 %r3, %h1; and.b32 %r2, %r3, 7;",
      "and.b64 %rd2, %rd1, 0xf8; cvt.u32.u64 %r2, %rd2;",
      "shr.u64 %rd2, %rd1, 4; cvt.u32.u64 %r3, %rd2; and.b32 %r2, %r3, 15;",
      "cvt.u32.u64 %r2, %rd1;",
      "selp.b32 %r2, %r1, %r7, %p1; and.b32 %r2, %r2, 7;",
  };
  for (const char* const use : uses) {
    Fields fields;
    fields.load(std::string("  setp.eq.u32 %p1, %r7, 0x01020304;\n") + use);
    for (const std::uint32_t mask : kMasks) {
      std::set<std::uint32_t> results;
      bool found = false;
      for (const std::uint32_t garbage : kGarbage) {
        std::uint32_t result = 0;
        const Outcome o = fields.run(mask, garbage, &result);
        found |= o.failed();
        if (o.failed()) {
          EXPECT_EQ(o.findings[0].access.site.instruction, "st.global.u32")
              << "where the result is stored\n"
              << text(o);
        }
        results.insert(result);
      }
      EXPECT_EQ(found, results.size() > 1)
          << use << " with the bits 0x" << std::hex << mask << " assigned";
    }
  }
}

// In every memory, and for each instruction sequence by which compilers assign a field.
TEST(BitFields, AreAssignedInEveryMemory) {
  for (const std::string space : {"global", "shared", "local"}) {
    const std::string of = space == "global" ? "[%rd7]" : "[s]",
                      load = "  ld." + space + ".u32 %r9, " + of + ";\n",
                      store = "  st." + space + ".u32 " + of + ", %r9;\n";
    const std::string assignments[] = {
        load + "  and.b32 %r9, %r9, -249;\n  or.b32 %r9, %r9, 40;\n" + store,  // a constant
        load + "  bfi.b32 %r9, %r7, %r9, 3, 5;\n" + store,                     // a value
        load + "  and.b32 %r9, %r9, -249;\n" + store,                          // zero
        load + "  or.b32 %r9, %r9, 248;\n" + store,                            // all ones
        load + "  and.b32 %r9, %r9, -9;\n" + store + load + "  or.b32 %r9, %r9, 240;\n" +
            store,  // one bit, then the others
    };
    for (const std::string& assign : assignments) {
      Fields fields;
      fields.load("bfe.u32 %r2, %r1, 3, 5;", space, assign);
      const Outcome known = fields.run(0, 0xffffffff);
      EXPECT_TRUE(known.findings.empty()) << space << "\n" << assign << text(known);
      fields.load("bfe.u32 %r2, %r1, 2, 5;", space, assign);
      const Outcome beside = fields.run(0, 0xffffffff);
      ASSERT_EQ(beside.findings.size(), 1u) << space << "\n" << assign << text(beside);
      EXPECT_EQ(beside.findings[0].kind, Kind::kUninitialised);
      EXPECT_THAT(text(beside), HasSubstr("read at PTX line"));
    }
  }
}

TEST(BitFields, ABitThatNobodyWroteDecides) {
  Fields fields;
  fields.load("and.b32 %r3, %r1, 4; setp.eq.u32 %p1, %r3, 0; @%p1 bra OUT; mov.u32 %r2, 9; OUT:");
  const Outcome found = fields.run(0xf8, 0);
  ASSERT_EQ(found.findings.size(), 1u) << text(found);
  EXPECT_EQ(found.findings[0].access.site.instruction, "bra");
  EXPECT_TRUE(fields.run(0x04, 0).findings.empty()) << "this bit alone was assigned";
}

TEST(BitFields, TravelThroughVectorsShufflesAndFunctions) {
  const char* const ways[] = {
      "st.shared.v2.u32 [s], {%r7, %r1}; ld.shared.v2.u32 {%r3, %r4}, [s]; and.b32 %r2, %r4, MASK;",
      "shfl.sync.idx.b32 %r3, %r1, 0, 31, 1; and.b32 %r2, %r3, MASK;",
      "{ .param .b32 a; .param .b32 b; st.param.b32 [a], %r1; call.uni (b), same, (a); "
      "ld.param.b32 %r3, [b]; } and.b32 %r2, %r3, MASK;",
      "st.shared.u32 [s], %r1; ld.shared.u8 %r3, [s]; and.b32 %r2, %r3, MASK;",
  };
  for (const std::string way : ways) {
    for (const bool good : {true, false}) {
      Fields fields;
      std::string use = way;
      use.replace(use.find("MASK"), 4, good ? "0xf8" : "0xfc");
      fields.load(use);
      const Outcome o = fields.run(0xf8, 0);
      EXPECT_EQ(o.failed(), !good) << use << "\n" << text(o);
    }
  }
}

// A later launch, and a copy of the memory.
TEST(BitFields, StayInMemoryFromLaunchToLaunch) {
  Machine gpu;
  gpu.load(R"(
.visible .entry assign(.param .u64 a)
{
  .reg .b32 %r<4>; .reg .b64 %rd<2>;
  ld.param.u64 %rd1, [a];
  ld.global.u32 %r1, [%rd1];
  and.b32 %r1, %r1, -249;
  or.b32 %r1, %r1, 40;
  st.global.u32 [%rd1], %r1;
  ret;
}
.visible .entry use(.param .u64 a, .param .u32 mask)
{
  .reg .b32 %r<4>; .reg .b64 %rd<2>; .reg .pred %p<2>;
  ld.param.u64 %rd1, [a];
  ld.param.u32 %r3, [mask];
  ld.global.u32 %r1, [%rd1];
  and.b32 %r1, %r1, %r3;
  setp.eq.u32 %p1, %r1, 0;
  @%p1 bra OUT;
OUT:
  ret;
}
)");
  const memory::Address a = gpu.unwritten(4), b = gpu.unwritten(4);
  EXPECT_TRUE(gpu.launch("assign", 1, 1, a).findings.empty());
  gpu.memory.copy_written(b, a, 4);
  for (const memory::Address at : {a, b}) {
    EXPECT_FALSE(gpu.launch("use", 1, 1, at, 0xf8u).failed());
    EXPECT_TRUE(gpu.launch("use", 1, 1, at, 0x1f8u).failed());
  }
  gpu.memory.mark_unwritten(a, 4);
  EXPECT_TRUE(gpu.launch("use", 1, 1, a, 0xf8u).failed())
      << "nothing of it counts as written any more";
}

// Shared memory of a block and local variables of a function start unwritten again.
TEST(BitFields, AreForgottenWithTheirMemory) {
  Machine gpu;
  gpu.load(R"(
.visible .entry k(.param .u64 out)
{
  .shared .align 4 .b8 s[4];
  .reg .b32 %r<4>; .reg .b64 %rd<2>; .reg .pred %p<2>;
  mov.u32 %r2, %ctaid.x;
  setp.ne.u32 %p1, %r2, 0;
  ld.shared.u32 %r1, [s];
  @%p1 bra USE;
  and.b32 %r1, %r1, -249;
  st.shared.u32 [s], %r1;
  ret;
USE:
  and.b32 %r1, %r1, 248;
  setp.eq.u32 %p1, %r1, 0;
  @%p1 bra OUT;
OUT:
  ret;
}
)");
  const Outcome o = gpu.launch("k", 2, 1, gpu.unwritten(4));
  ASSERT_EQ(o.findings.size(), 1u) << text(o);
  EXPECT_EQ(o.findings[0].access.block.x, 1u);
}

// The unwritten values that the host reads when it copies memory: see Outcome::unwritten_stores.
TEST(BitFields, AStoreOfAMaskedValueElsewhereIsRememberedAndAnAssignmentIsNot) {
  const auto stores = [](const std::string& use) {
    Fields fields;
    fields.load(use);
    const Outcome o = fields.run(0xff, 0);
    EXPECT_TRUE(o.findings.empty()) << use << "\n" << text(o);
    return o.unwritten_stores.size();
  };
  EXPECT_EQ(stores("and.b32 %r3, %r1, 0xf0f; st.global.u32 [%rd8], %r3;"), 1u)
      << "four bits of it are nobody's";
  EXPECT_EQ(stores("and.b32 %r3, %r1, 0xf0f; st.global.u32 [%rd7], %r3;"), 0u)
      << "put back where it was";
  EXPECT_EQ(stores("and.b32 %r3, %r1, 0xf0f; or.b32 %r3, %r3, 0x40; st.global.u32 [%rd8], %r3;"),
            0u)
      << "a field beside it is assigned";
  EXPECT_EQ(stores("and.b32 %r3, %r1, 0x0f; st.global.u32 [%rd8], %r3;"), 0u)
      << "all of it is written";
}

}  // namespace bit_fields_test
}  // namespace lockstep::engine
