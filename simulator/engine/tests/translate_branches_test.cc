// Branches that divide warps, in machine code (simulator/translate): random control flow in whole
// launches.
#include <gtest/gtest.h>

#include <cstdint>
#include <string>

#include "simulator/engine/tests/translate_launches.h"
#include "simulator/splitmix64.h"

namespace lockstep::engine {
namespace translate_branches_test {

using translated::kernel;
using translated::launched;
using translated::Launched;
using translated::Translate;

// Sections, each with a label. Lanes branch to any by their bits of %r9. %r4 counts the sections
// that a lane has passed, after which it branches no more backwards.
class RandomFlow {
 public:
  explicit RandomFlow(std::uint64_t seed) : state_(seed) {}
  std::string body() {
    std::string text = "mov.u32 %r4, 0;\nmad.lo.u32 %r9, %r1, 40503, " + number() + ";\n";
    for (unsigned s = 0; s < kSections; ++s) text += section(s);
    return text + label(kSections) + ":\n";
  }

 private:
  static constexpr unsigned kSections = 14;
  static std::string label(std::uint64_t s) { return "L" + std::to_string(s); }
  std::uint64_t random() { return next_mixed(state_); }
  std::string number() { return std::to_string(random() >> 34); }

  std::string section(unsigned s) {
    std::string text = label(s) + ":\nadd.u32 %r4, %r4, 1;\n";
    for (std::uint64_t n = random() % 5; n > 0; --n) text += operation();
    // A bit that differs among lanes, or one that all warps agree on.
    text += "shr.u32 %r6, %r9, " + std::to_string(random() % 28) + ";\nand.b32 %r6, %r6, " +
            (random() % 3 == 0 ? "3" : "1") + ";\nsetp.eq.u32 %p1, %r6, 1;\n";
    switch (random() % 8) {
      case 0: break;
      case 1: text += "@%p1 bra " + label(s + 1) + ";\n"; break;
      case 2:
        text += "mul.lo.u32 %r5, %r9, 7;\n@%p1 st.global.u32 [%rd2], %r9;\n@%p1 ret;\n";
        break;
      case 3: text += "bra " + label(s + 1 + random() % (kSections - s)) + ";\n"; break;
      case 4:
      case 5:
        text += "setp.lt.and.u32 %p2, %r4, 60, %p1;\n@%p2 bra " + label(random() % (s + 1)) + ";\n";
        break;
      default:
        text += (random() % 2 == 0 ? "@%p1 bra " : "@!%p1 bra ") +
                label(s + 1 + random() % (kSections - s)) + ";\n";
        break;
    }
    return text;
  }
  std::string operation() {
    switch (random() % 8) {
      case 0: return "xor.b32 %r9, %r9, " + number() + ";\n";
      case 1: return "popc.b32 %r7, %r9;\nadd.u32 %r9, %r9, %r7;\n";
      case 2: return "setp.lt.u32 %p3, %r9, " + number() + ";\n@%p3 add.u32 %r9, %r9, 77;\n";
      case 3: return "shf.l.wrap.b32 %r9, %r9, %r9, 7;\n";
      case 4: return "mul.wide.u32 %rd4, %r9, 5;\ncvt.u32.u64 %r9, %rd4;\n";
      case 5: return "activemask.b32 %r7;\nadd.u32 %r9, %r9, %r7;\n";
      case 6: return "rem.u32 %r7, %r9, 13;\nadd.u32 %r9, %r9, %r7;\n";
      default: return "mad.lo.u32 %r9, %r9, 1664525, %r4;\n";
    }
  }

  std::uint64_t state_;
};

TEST(Translate, LanesPartAndMeetWhereTheInterpretersDo) {
  for (std::uint64_t seed = 1; seed <= 300; ++seed) {
    const std::string text = kernel(RandomFlow(seed).body());
    const std::uint32_t threads = seed % 3 == 0 ? 40 : 64;
    for (const std::uint64_t schedule : {0, 1}) {
      const Launched off = launched(text, Translate::kOff, threads, schedule);
      ASSERT_EQ(off.findings, "") << text;
      ASSERT_EQ(off, launched(text, Translate::kAlways, threads, schedule)) << seed << text;
      if (seed % 10 == 0) {
        ASSERT_EQ(off, launched(text, Translate::kCompare, threads, schedule)) << seed << text;
      }
    }
  }
}

// Two splits of warp 0 wait at M, because they arrived there at different times. The second warp
// wakes both while the other lanes spin. These lanes must wait at M for both, not for the last one.
TEST(Translate, LanesMeetTwoSplitsThatWaitAtOnePlace) {
  const std::string text = kernel(R"(
  .shared .align 8 .b64 barrier;
  .shared .align 4 .b32 go;
  mov.u32 %r2, %tid.x;
  mov.u32 %r9, 0;
  mov.u32 %r4, 0;
  setp.ne.u32 %p1, %r2, 0;
  @%p1 bra READY;
  mbarrier.init.shared.b64 [barrier], 1;
  st.volatile.shared.u32 [go], %r4;
READY:
  bar.sync 0;
  setp.ge.u32 %p1, %r2, 32;
  @%p1 bra OTHERS;
  setp.ge.u32 %p1, %r2, 16;
  @%p1 bra LATE;
  setp.ge.u32 %p1, %r2, 8;
  @%p1 bra M;
SPIN:
  ld.volatile.shared.u32 %r5, [go];
  setp.eq.u32 %p1, %r5, 0;
  @%p1 bra SPIN;
  setp.lt.u32 %p1, %r2, 4;
  @%p1 bra PARTED;
  add.u32 %r9, %r9, 1;
PARTED:
  add.u32 %r9, %r9, 2;
  bra M;
LATE:
  add.u32 %r4, %r4, 1;
  setp.lt.u32 %p1, %r4, 1500;
  @%p1 bra LATE;
M:
  mbarrier.try_wait.parity.shared.b64 %p2, [barrier], 0;
  @!%p2 bra M;
  bra END;
OTHERS:
  add.u32 %r4, %r4, 1;
  setp.lt.u32 %p1, %r4, 20000;
  @%p1 bra OTHERS;
  setp.ne.u32 %p1, %r2, 32;
  @%p1 bra END;
  mbarrier.arrive.shared.b64 %rd4, [barrier];
  mov.u32 %r6, 1;
  st.volatile.shared.u32 [go], %r6;
END:
)");
  const Launched off = launched(text, Translate::kOff, 64);
  EXPECT_EQ(off.findings, "");
  for (const Translate way : {Translate::kAlways, Translate::kCompare})
    EXPECT_EQ(off, launched(text, way, 64));
}

// Lanes leave a loop one by one, and wait at a barrier or in a function.
TEST(Translate, DividedLanesWaitAtBarriersAndInFunctions) {
  const auto loop = [](const std::string& top) {
    return R"(
  mov.u32 %r4, 0;
  mov.u32 %r9, 1;
)" + top + R"(:
  mad.lo.u32 %r9, %r9, 5, %r1;
  add.u32 %r4, %r4, 1;
  and.b32 %r5, %r1, 7;
  setp.lt.u32 %p1, %r4, %r5;
  @%p1 bra )" +
           top + ";\n";
  };
  const std::string functions = R"(
.func (.param .b32 out) f(.param .b32 in)
{
  .reg .pred %p<3>;
  .reg .b32 %r<6>;
  ld.param.u32 %r1, [in];
  and.b32 %r2, %r1, 3;
  setp.eq.u32 %p1, %r2, 1;
  @%p1 bra ODD;
  mad.lo.u32 %r1, %r1, 3, 1;
  bra END;
ODD:
  shr.u32 %r1, %r1, 1;
END:
  st.param.b32 [out], %r1;
  ret;
}
)";
  const std::string call = R"(
  and.b32 %r5, %r1, 2;
  setp.eq.u32 %p2, %r5, 0;
  @%p2 bra NEXT;
  {
  .param .b32 a;
  .param .b32 b;
  st.param.b32 [a], %r9;
  call.uni (b), f, (a);
  ld.param.b32 %r9, [b];
  }
NEXT:
)";
  const std::string votes =
      "setp.gt.u32 %p3, %r9, 9;\nvote.sync.ballot.b32 %r6, %p3, -1;\n"
      "add.u32 %r9, %r9, %r6;\n";
  for (const std::string& body :
       {loop("A") + "bar.sync 0;\n" + loop("B"), loop("A") + votes + loop("B"),
        "mov.u32 %r9, %r1;\n" + call, loop("A") + call + loop("B")}) {
    for (const std::uint32_t threads : {32u, 64u})
      translated::expect_the_same(functions + kernel(body), threads, 1'000'000);
  }
}

}  // namespace translate_branches_test
}  // namespace lockstep::engine
