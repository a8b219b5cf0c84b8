// Uninitialised values in instructions that select one of their operands.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstring>
#include <limits>
#include <set>

#include "simulator/engine/tests/testing.h"

namespace lockstep::engine {
namespace uninitialised_test {

using check::Kind;
using ::testing::HasSubstr;
using testing::Machine;
using testing::text;

// Thread i has %r1 = i, %f1 = signs[i], %r7 = 5 and an uninitialised %r8; it stores the body's %r9
// plus 1.
struct Selections {
  Machine gpu;
  memory::Address out = 0;
  std::vector<float> signs = std::vector<float>(32, 1.0f);

  Outcome run(const std::string& body) {
    gpu.load(R"(
.visible .entry k(.param .u64 signs, .param .u64 out)
{
  .reg .pred %p<4>; .reg .b32 %r<20>; .reg .b64 %rd<6>; .reg .f32 %f<3>;
  ld.param.u64 %rd1, [signs];
  ld.param.u64 %rd2, [out];
  mov.u32 %r1, %tid.x;
  mul.wide.u32 %rd3, %r1, 4;
  add.s64 %rd4, %rd1, %rd3;
  add.s64 %rd5, %rd2, %rd3;
  ld.global.f32 %f1, [%rd4];
  mov.u32 %r7, 5;
)" + body + "  add.u32 %r9, %r9, 1;\n  st.global.u32 [%rd5], %r9;\n  ret;\n}\n");
    const auto x = gpu.buffer(signs, "signs");
    out = gpu.unwritten(128, "out");
    return gpu.launch("k", 1, 32, x, out);
  }
  // The number of lanes with a finding.
  std::uint64_t accused(const std::string& body) {
    const Outcome o = run(body);
    if (o.findings.empty()) return 0;
    EXPECT_EQ(o.findings[0].kind, Kind::kUninitialised) << text(o);
    return o.findings[0].occurrences;
  }
};

TEST(Selection, TheOperandThatIsNotTakenDoesNotCount) {
  EXPECT_EQ(Selections().accused("setp.lt.u32 %p1, %r1, 32;\nselp.b32 %r9, %r7, %r8, %p1;\n"), 0u);
  EXPECT_EQ(Selections().accused("setp.ge.u32 %p1, %r1, 32;\nselp.b32 %r9, %r8, %r7, %p1;\n"), 0u);
  EXPECT_EQ(Selections().accused("setp.lt.u32 %p1, %r1, 30;\nselp.b32 %r9, %r7, %r8, %p1;\n"), 2u);
  EXPECT_EQ(Selections().accused("setp.lt.u32 %p1, %r1, 30;\nselp.b32 %r9, %r8, %r7, %p1;\n"), 30u);
  EXPECT_EQ(Selections().accused("setp.lt.u32 %p1, %r1, 30;\nselp.b32 %r9, %r8, %r8, %p1;\n"), 32u);
}

// for (i = 0; i < 2; ++i) d = lane / 16 == i ? v : d, with an uninitialised d.
TEST(Selection, ALoopThatAssignsEachLaneInItsTurn) {
  Selections s;
  const Outcome o = s.run(
      "mov.u32 %r2, 0;\nshr.u32 %r3, %r1, 4;\nL:\nadd.u32 %r4, %r7, %r2;\nsetp.eq.u32 %p1, %r3, "
      "%r2;\nselp.b32 %r8, %r4, %r8, %p1;\n"
      "add.u32 %r2, %r2, 1;\nsetp.lt.u32 %p2, %r2, 2;\n@%p2 bra L;\nmov.b32 %r9, %r8;\n");
  EXPECT_FALSE(o.failed()) << text(o);
  EXPECT_EQ(s.gpu.fetch<std::uint32_t>(s.out, 32)[31], 7u);
  EXPECT_GT(Selections().accused(
                "mov.u32 %r2, 0;\nshr.u32 %r3, %r1, 4;\nL:\nadd.u32 %r4, %r7, %r2;\nsetp.eq.u32 "
                "%p1, %r3, %r2;\nselp.b32 %r8, %r4, %r8, %p1;\n"
                "add.u32 %r2, %r2, 1;\nsetp.lt.u32 %p2, %r2, 1;\n@%p2 bra L;\nmov.b32 %r9, %r8;\n"),
            0u)
      << "one turn too few";
}

TEST(Selection, AConditionThatNobodyWroteCounts) {
  EXPECT_EQ(Selections().accused("setp.lt.u32 %p1, %r8, 7;\nselp.b32 %r9, %r7, %r1, %p1;\n"), 32u);
  EXPECT_EQ(Selections().accused("slct.b32.s32 %r9, %r7, %r1, %r8;\n"), 32u);
}

TEST(Selection, SlctTakesItsFirstOperandFromZeroOn) {
  EXPECT_EQ(Selections().accused("sub.u32 %r2, %r1, 20;\nslct.b32.s32 %r9, %r7, %r8, %r2;\n"), 20u);
  EXPECT_EQ(Selections().accused("sub.u32 %r2, %r1, 20;\nslct.b32.s32 %r9, %r8, %r7, %r2;\n"), 12u);
  Selections plain;
  plain.signs[1] = -1, plain.signs[2] = -0.0f,
  plain.signs[3] = std::numeric_limits<float>::quiet_NaN();
  plain.signs[4] = -std::numeric_limits<float>::denorm_min(),
  plain.signs[5] = -std::numeric_limits<float>::min();
  Selections flushed;
  flushed.signs = plain.signs;
  EXPECT_EQ(plain.accused("slct.b32.f32 %r9, %r7, %r8, %f1;\n"), 4u)
      << "-1, NaN, and both small ones";
  EXPECT_EQ(flushed.accused("slct.ftz.b32.f32 %r9, %r7, %r8, %f1;\n"), 3u)
      << "the subnormal is zero";
}

// %p2 is computed from an uninitialised value; %p1 is true in the first 20 lanes.
TEST(Selection, AKnownPredicateMayDecideAlone) {
  const std::string predicates = "setp.lt.u32 %p2, %r8, 7;\nsetp.lt.u32 %p1, %r1, 20;\n";
  const auto accused = [&](const std::string& body) {
    return Selections().accused(predicates + body + "selp.b32 %r9, 1, 2, %p3;\n");
  };
  EXPECT_EQ(accused("or.pred %p3, %p1, %p2;\n"), 12u);
  EXPECT_EQ(accused("or.pred %p3, %p2, %p1;\n"), 12u);
  EXPECT_EQ(accused("and.pred %p3, %p1, %p2;\n"), 20u);
  EXPECT_EQ(accused("and.pred %p3, %p2, %p1;\n"), 20u);
  EXPECT_EQ(accused("xor.pred %p3, %p2, %p1;\n"), 32u);
  EXPECT_EQ(accused("or.pred %p3, %p2, %p2;\n"), 32u);
  // An uninitialised comparison combined with a known predicate, in both orders.
  EXPECT_EQ(accused("setp.lt.or.u32 %p3, %r8, 7, %p1;\n"), 12u);
  EXPECT_EQ(accused("setp.lt.and.u32 %p3, %r8, 7, %p1;\n"), 20u);
  EXPECT_EQ(accused("setp.lt.and.u32 %p3, %r8, 7, !%p1;\n"), 12u);
  EXPECT_EQ(accused("setp.lt.xor.u32 %p3, %r8, 7, %p1;\n"), 32u);
  EXPECT_EQ(accused("setp.lt.or.u32 %p3, %r1, 8, %p2;\n"), 24u);
  EXPECT_EQ(accused("setp.lt.and.u32 %p3, %r1, 8, %p2;\n"), 8u);
  EXPECT_EQ(accused("setp.lt.and.u32 %p3, %r1, 8, !%p2;\n"), 8u);
  EXPECT_EQ(accused("setp.lt.or.u32 %p3, %r8, 8, %p2;\n"), 32u);
}

// f = 1; if (2 * lane + j < n) f = v & 1: the compiler turns it into a disjunction.
TEST(Selection, ADisjunctionLeavesItsResultAsTheKnownOperandHasIt) {
  Selections s;
  const Outcome o = s.run(
      "setp.lt.u32 %p2, %r8, 7;\nsetp.lt.u32 %p1, %r1, 99;\nmov.pred %p3, %p1;\nsetp.lt.and.u32 "
      "%p3, %r1, 0, %p2;\nor.pred %p3, %p3, %p1;\n"
      "selp.b32 %r9, 1, 2, %p3;\n");
  EXPECT_FALSE(o.failed()) << text(o);
  EXPECT_EQ(s.gpu.fetch<std::uint32_t>(s.out, 32)[7], 2u);
}

TEST(Selection, AGuardedMoveLeavesTheOtherLanesAlone) {
  EXPECT_EQ(Selections().accused(
                "mov.b32 %r9, %r7;\nsetp.ge.u32 %p1, %r1, 32;\n@%p1 mov.b32 %r9, %r8;\n"),
            0u);
  EXPECT_EQ(Selections().accused(
                "mov.b32 %r9, %r7;\nsetp.ge.u32 %p1, %r1, 30;\n@%p1 mov.b32 %r9, %r8;\n"),
            2u);
}

TEST(Selection, AStoredRegisterThatNobodyAssignedIsNamedAsSuch) {
  Machine gpu;
  gpu.load(R"(
.visible .entry k(.param .u64 out)
{
  .reg .b32 %r<3>; .reg .b64 %rd<3>;
  ld.param.u64 %rd1, [out];
  st.global.u32 [%rd1], %r1;
  ret;
}
)");
  const Outcome o = gpu.launch("k", 1, 1, gpu.unwritten(4));
  ASSERT_EQ(o.unwritten_stores.size(), 1u);
  EXPECT_THAT(o.unwritten_stores[0].by.detail, HasSubstr("before anything was assigned to it"));
}

// d = an instruction on a word (in %r1 and, 64 bits wide, %rd1) with unwritten bytes; the result is
// used.
struct Word {
  bool found = false;
  std::uint32_t result = 0;
};
class UseOf {
 public:
  explicit UseOf(const std::string& instruction) {
    gpu_.load(R"(
.visible .entry k(.param .u64 in, .param .u64 out)
{
  .reg .b16 %h<4>; .reg .b32 %r<9>; .reg .b64 %rd<9>; .reg .f32 %f<3>; .reg .pred %p<2>;
  ld.param.u64 %rd7, [in];
  ld.param.u64 %rd8, [out];
  mov.u32 %r7, 0x01020304;
  ld.global.u32 %r1, [%rd7];
  ld.global.u64 %rd1, [%rd7];
  ld.global.u16 %h1, [%rd7];
  mov.u64 %rd2, 0;
  mov.u16 %h2, 0;
)" + instruction +
              R"(
  cvt.u32.u64 %r3, %rd2;
  cvt.u32.u16 %r4, %h2;
  add.u32 %r2, %r2, %r3;
  add.u32 %r2, %r2, %r4;
  st.global.u32 [%rd8], %r2;
  ret;
}
)");
  }

  // Runs the kernel with fresh memory.
  Word operator()(std::uint32_t written, std::uint32_t garbage) {
    const memory::Address in = gpu_.unwritten(8), out = gpu_.unwritten(4);
    std::uint8_t bytes[8];
    for (int k = 0; k < 8; ++k) {
      bytes[k] =
          static_cast<std::uint8_t>(written >> k & 1 ? 0x11 * (k + 1) : garbage >> (8 * (k % 4)));
      if (written >> k & 1) gpu_.memory.mark_written(in + static_cast<std::uint64_t>(k), 1);
    }
    std::memcpy(gpu_.memory.host(*gpu_.memory.find(in), in), bytes, sizeof bytes);
    Word word;
    word.found = gpu_.launch("k", 1, 1, in, out).failed();
    const std::uint32_t checks =
        std::exchange(gpu_.config.checks, 0);  // a finding would end the kernel
    gpu_.launch("k", 1, 1, in, out);
    std::memcpy(&word.result, gpu_.memory.host(*gpu_.memory.find(out), out), 4);
    gpu_.config.checks = checks;
    gpu_.memory.release(in);
    gpu_.memory.release(out);
    return word;
  }

 private:
  Machine gpu_;
};

// Unwritten bytes must cause a finding exactly if they change the result.
TEST(Bytes, WhatIsCutAwayDoesNotCountAndWhatIsLeftDoes) {
  const char* const instructions[] = {
      "shr.u32 %r2, %r1, 8;",
      "shr.u32 %r2, %r1, 12;",
      "shr.u32 %r2, %r1, 24;",
      "shr.u32 %r2, %r1, 32;",
      "shr.s32 %r2, %r1, 16;",
      "shr.s32 %r2, %r1, 3;",
      "shr.s32 %r2, %r1, 40;",
      "shl.b32 %r2, %r1, 8;",
      "shl.b32 %r2, %r1, 20;",
      "shl.b32 %r2, %r1, 32;",
      "and.b32 %r2, %r1, 0xff00;",
      "and.b32 %r2, 0xff0f00, %r1;",
      "and.b32 %r2, %r1, 0x10;",
      "bfe.u32 %r2, %r1, 0, 8;",
      "bfe.u32 %r2, %r1, 8, 16;",
      "bfe.u32 %r2, %r1, 4, 8;",
      "bfe.u32 %r2, %r1, 24, 20;",
      "bfe.u32 %r2, %r1, 40, 3;",
      "bfe.u32 %r2, %r1, 3, 0;",
      "bfe.s32 %r2, %r1, 8, 8;",
      "bfe.s32 %r2, %r1, 28, 8;",
      "bfe.s32 %r2, %r1, 50, 8;",
      "bfe.s32 %r2, %r1, 7, 1;",
      "prmt.b32 %r2, %r1, %r7, 0x3210;",
      "prmt.b32 %r2, %r1, %r7, 0x7654;",
      "prmt.b32 %r2, %r7, %r1, 0x7610;",
      "prmt.b32 %r2, %r1, %r7, 0x7770;",
      "prmt.b32 %r2, %r1, %r7, 0xb210;",
      "prmt.b32 %r2, %r1, %r1, 0x4440;",
      "xor.b32 %r2, %r1, %r7;",
      "not.b32 %r2, %r1;",
      "lop3.b32 %r2, %r1, %r7, %r7, 0x3c;",
      "lop3.b32 %r2, %r7, %r1, %r7, 0xa0;",
      "lop3.b32 %r2, %r7, %r7, %r1, 0x3c;",
      "lop3.b32 %r2, %r7, %r7, %r1, 0x5a;",
      "cvt.u32.u8 %r2, %r1;",
      "cvt.u32.u16 %r2, %r1;",
      "cvt.s32.s8 %r2, %r1;",
      "cvt.s32.s16 %r2, %r1;",
      "cvt.u32.u16 %r2, %h1;",
      "cvt.s32.s8 %r2, %h1;",
      "cvt.u16.u32 %h2, %r1; mov.u32 %r2, 0;",
      "cvt.u32.u64 %r2, %rd1;",
      "cvt.u16.u8 %h2, %h1; mov.u32 %r2, 0;",
      "cvt.u64.u32 %rd2, %r1; mov.u32 %r2, 0;",
      "cvt.rn.f32.u8 %f1, %r1; mov.b32 %r2, %f1;",
      "cvt.rn.f32.u16 %f1, %h1; mov.b32 %r2, %f1;",
      "shr.u64 %rd2, %rd1, 40; mov.u32 %r2, 0;",
      "bfe.u64 %rd2, %rd1, 8, 16; mov.u32 %r2, 0;",
      "and.b64 %rd2, %rd1, 0xff; mov.u32 %r2, 0;",
      "mov.b32 %r2, %r1;",
  };
  for (const char* const instruction : instructions) {
    UseOf use_of(instruction);
    for (std::uint32_t written = 0; written < 256; written += written < 16 ? 1 : 15) {
      std::set<std::uint32_t> results;
      bool found = false;
      for (const std::uint32_t garbage : {0u, 0xffffffffu, 0xa55a3cc3u, 0x7f807f80u}) {
        const Word w = use_of(written, garbage);
        found |= w.found;
        results.insert(w.result);
      }
      EXPECT_EQ(found, results.size() > 1)
          << instruction << " with the bytes 0x" << std::hex << written << " written";
    }
  }
}

// Padding that is extracted from a word byte by byte and stored remains padding.
TEST(Bytes, MovingThemIsACopy) {
  for (const char* const move :
       {"bfe.u32 %r2, %r1, 8, 8;", "shr.u32 %r2, %r1, 8;", "prmt.b32 %r2, %r1, %r7, 0x7771;",
        "cvt.u16.u32 %h2, %r1; cvt.u32.u16 %r2, %h2;"}) {
    Machine gpu;
    gpu.load(std::string(R"(
.visible .entry k(.param .u64 in, .param .u64 out)
{
  .reg .b16 %h<4>; .reg .b32 %r<9>; .reg .b64 %rd<9>;
  ld.param.u64 %rd7, [in];
  ld.param.u64 %rd8, [out];
  mov.u32 %r7, 0;
  ld.global.u32 %r1, [%rd7];
)") + move + "\n  st.global.u8 [%rd8], %r2;\n  ret;\n}\n");
    const Outcome o = gpu.launch("k", 1, 1, gpu.unwritten(4), gpu.unwritten(4));
    EXPECT_TRUE(o.findings.empty()) << move << "\n" << text(o);
  }
}

// A value stored to scratch memory by a copy or by the next call is no computed value.
TEST(Scratch, WhatACopyBringsIsACopy) {
  EXPECT_EQ(Selections().accused(
                "  .shared .align 16 .b8 s[128];\n  ld.global.u32 %r8, [%rd5];\n"
                "  add.u32 %r9, %r8, 1;\n  mov.u64 %rd2, s;\n  add.s64 %rd2, %rd2, %rd3;\n"
                "  st.shared.u32 [%rd2], %r9;\n  cp.async.ca.shared.global [%rd2], [%rd5], 4;\n"
                "  cp.async.wait_all;\n  ld.shared.u32 %r10, [%rd2];\n"
                "  st.global.u32 [%rd5], %r10;\n  mov.u32 %r9, 1;\n"),
            0u);
}

// %r9 is %r8 + 1, stored to `space` and loaded into %r10.
std::string through(const std::string& space, const std::string& between = "") {
  const std::string variable = space == "local" ? "local" : "shared",
                    at = space == "" ? "%rd2" : "";
  std::string text = "  ." + variable + " .align 4 .b8 s[128];\n  ld.global.u32 %r8, [%rd5];\n" +
                     "  add.u32 %r9, %r8, 1;\n  mov.u64 %rd2, s;\n";
  if (space.empty()) text += "  cvta.shared.u64 %rd2, %rd2;\n";
  const std::string name = space.empty() ? "" : "." + space;
  return text + "  add.s64 %rd2, %rd2, %rd3;\n  st" + name + ".u32 [%rd2], %r9;\n" + between +
         "  ld" + name + ".u32 %r10, [%rd2];\n  mov.u32 %r9, 1;\n";
}

TEST(Scratch, WhatIsComputedStoredThereAndDroppedIsNoFinding) {
  for (const std::string space : {"shared", "local", ""}) {
    EXPECT_EQ(Selections().accused(through(space)), 0u) << space;
    EXPECT_EQ(Selections().accused(through(space) + "  add.u32 %r10, %r10, 1;\n"), 0u) << space;
  }
}

TEST(Scratch, WhereItIsUsedTheFindingNamesWhereItCameFrom) {
  for (const std::string space : {"shared", "local", ""}) {
    for (const std::string use : {"  add.u32 %r9, %r10, 1;\n", "  st.global.u32 [%rd5], %r10;\n",
                                  "  setp.eq.u32 %p1, %r10, 3;\n  @%p1 add.u32 %r9, %r9, 1;\n",
                                  "  atom.global.add.u32 %r11, [%rd4], %r10;\n"}) {
      const Outcome o = Selections().run(through(space) + use);
      ASSERT_EQ(o.findings.size(), 1u) << space << use << text(o);
      EXPECT_EQ(o.findings[0].kind, Kind::kUninitialised);
      ASSERT_TRUE(o.findings[0].origin.has_value());
      EXPECT_EQ(o.findings[0].origin->instruction, "ld.global.u32") << space << use;
    }
  }
}

// If a copy is loaded there, that load uses it first, and the message also names the earlier load.
TEST(Scratch, OfACopyTheFindingNamesBothLoads) {
  const auto detail_of = [](const std::string& space, const std::string& value) {
    const std::string name = space.empty() ? "" : "." + space;
    const Outcome o = Selections().run(through(space, "  ld.global.u32 %r12, [%rd5];\n  st" + name +
                                                          ".u32 [%rd2], " + value + ";\n") +
                                       "  add.u32 %r9, %r10, 1;\n");
    EXPECT_EQ(o.findings.size(), 1u) << space << text(o);
    return o.findings.empty() ? "" : o.findings[0].detail;
  };
  for (const std::string space : {"shared", "local", ""}) {
    EXPECT_THAT(detail_of(space, "%r12"),
                ::testing::ContainsRegex("read at .*ld.*; the value stored there was read, also "
                                         "unwritten, at .*ld.global.u32"))
        << space;
    // A register that was never assigned has no load to name.
    EXPECT_THAT(detail_of(space, "%r19"), ::testing::Not(HasSubstr("also unwritten"))) << space;
  }
}

TEST(Scratch, WhatWasWrittenSinceIsGood) {
  for (const std::string space : {"shared", "local", ""}) {
    const std::string name = space.empty() ? "" : "." + space;
    EXPECT_EQ(Selections().accused(through(space, "  st" + name + ".u32 [%rd2], %r1;\n") +
                                   "  add.u32 %r9, %r10, 1;\n"),
              0u)
        << space;
    // A copy of an uninitialised value is no computed value.
    EXPECT_EQ(Selections().accused(through(space, "  ld.global.u32 %r12, [%rd5];\n  st" + name +
                                                      ".u32 [%rd2], %r12;\n") +
                                   "  st.global.u32 [%rd5], %r10;\n"),
              0u)
        << space;
  }
}

// Metadata and scales decide about more elements than their own.
TEST(MatrixFactors, MetadataAndScalesThatNobodyWroteAreReportedAtTheProduct) {
  const std::string body = R"(.visible .entry k(.param .u64 in)
{
.reg .b16 %h<4>; .reg .b32 %r<20>; .reg .f32 %f<9>;
mov.b32 %r1, 0; mov.f32 %f1, 0f00000000; mov.b16 %h1, 0;
)";
  const std::string sum = "{%f5, %f6, %f7, %f8}", four = ", {%r1, %r1, %r1, %r1}",
                    zero = ", {%f1, %f1, %f1, %f1}";
  const auto words = [&](const char* target, int capability, const std::string& product) {
    Machine gpu;
    gpu.config.compute_capability = capability;
    gpu.load_text(std::string(".version 9.0\n.target ") + target + "\n.address_size 64\n" + body +
                  product + "\nret;\n}\n");
    const Outcome o = gpu.launch("k", 1, 32, gpu.unwritten(128, "in"));
    EXPECT_EQ(o.findings.size(), 1u) << text(o);
    return text(o);
  };
  EXPECT_THAT(words("sm_90a", 90,
                    "mma.sp::ordered_metadata.sync.aligned.m16n8k16.row.col.f32.tf32.tf32.f32 " +
                        sum + four + four + zero + ", %r2, 0;"),
              HasSubstr("metadata or a scale factor was never written"));
  EXPECT_THAT(words("sm_120a", 120,
                    "mma.sync.aligned.kind::mxf4nvf4.block_scale.scale_vec::4X.m16n8k64.row.col."
                    "f32.e2m1.e2m1.f32.ue4m3 " +
                        sum + four + ", {%r1, %r1}" + zero + ", %r1, {%h1, %h1}, %r2, {%h1, %h1};"),
              HasSubstr("metadata or a scale factor was never written"));
}

}  // namespace uninitialised_test
}  // namespace lockstep::engine
