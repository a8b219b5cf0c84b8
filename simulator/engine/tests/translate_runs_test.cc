// Runs of operations and branches made machine code (simulator/translate), in whole launches.
#include <gtest/gtest.h>

#include <cstdint>
#include <string>

#include "simulator/engine/tests/translate_launches.h"
#include "simulator/splitmix64.h"

namespace lockstep::engine {
namespace translate_runs_test {

using translated::expect_the_same;
using translated::kernel;
using translated::launched;
using translated::Launched;
using translated::Translate;

struct SplitMix64 {
  std::uint64_t state;
  std::uint64_t operator()() { return next_mixed(state); }
};

// Every lane makes as many turns as the others; guards within.
const char* const kLoop = R"(
  mov.u32 %r4, 0;
  mov.u32 %r9, 1;
TOP:
  mad.lo.u32 %r9, %r9, 1664525, %r1;
  setp.lt.s32 %p1, %r9, 0;
  and.b32 %r5, %r9, 1;
  setp.eq.and.u32 %p2, %r5, 1, %p1;
  @%p1 xor.b32 %r9, %r9, 305419896;
  @!%p2 add.u32 %r9, %r9, 7;
  selp.b32 %r6, %r9, %r4, %p2;
  shf.l.wrap.b32 %r9, %r6, %r9, 5;
  add.u32 %r4, %r4, 1;
  setp.ge.u32 %p3, %r4, 1500;
  @!%p3 bra TOP;
)";
// Lanes part by their number, meet again, and make different numbers of turns.
const char* const kDivergence = R"(
  mov.u32 %r4, 0;
  mov.u32 %r9, %r1;
TOP:
  and.b32 %r5, %r9, 3;
  setp.eq.u32 %p1, %r5, 0;
  @%p1 bra EVEN;
  @%p1 popc.b32 %r9, %r9;
  mad.lo.u32 %r9, %r9, 5, 1;
  bra NEXT;
EVEN:
  shr.u32 %r9, %r9, 2;
  add.u32 %r9, %r9, 11;
NEXT:
  add.u32 %r4, %r4, 1;
  and.b32 %r6, %r1, 15;
  add.u32 %r6, %r6, 40;
  setp.lt.u32 %p2, %r4, %r6;
  @%p2 bra TOP;
)";
// Through shared memory, with a race where there is no barrier.
std::string exchange(const char* barrier) {
  return std::string(R"(
  mov.u32 %r4, s;
  mov.u32 %r5, %tid.x;
  shl.b32 %r6, %r5, 2;
  add.u32 %r7, %r4, %r6;
  mul.lo.u32 %r8, %r1, 3;
  st.shared.u32 [%r7], %r8;
  )") + barrier +
         R"(
  xor.b32 %r6, %r6, 124;
  add.u32 %r7, %r4, %r6;
  ld.shared.u32 %r9, [%r7];
)";
}

// The first warp waits for the second at a flag: its loads give others their turn.
const char* const kFlag = R"(
  mov.u32 %r4, s;
  mov.u32 %r5, %tid.x;
  mov.u32 %r6, 0;
  setp.eq.u32 %p1, %r5, 0;
  @%p1 st.volatile.shared.u32 [%r4], %r6;
  bar.sync 0;
  setp.lt.u32 %p2, %r5, 32;
  @%p2 bra TOP;
  mov.u32 %r6, 1;
  st.volatile.shared.u32 [%r4], %r6;
  mov.u32 %r9, 7;
  bra DONE;
TOP:
  ld.volatile.shared.u32 %r9, [%r4];
  setp.eq.u32 %p3, %r9, 0;
  @%p3 bra TOP;
DONE:
)";

TEST(Translate, ResultsCountersAndFindingsAreTheInterpreters) {
  for (const std::uint32_t threads : {32u, 40u, 128u}) {
    for (const std::string& body : {std::string(kLoop), std::string(kDivergence),
                                    std::string(kFlag), exchange("bar.sync 0;"), exchange("")})
      expect_the_same(kernel(body), threads, 1'000'000);
  }
}

TEST(Translate, ATimeLimitEndsAKernelAtTheSameInstruction) {
  const std::string endless =
      kernel("  mov.u32 %r9, 0;\nTOP:\n  add.u32 %r9, %r9, 1;\n  bra TOP;\n");
  const Launched off = launched(endless, Translate::kOff, 64, 0, check::kAllChecks, 100'000);
  EXPECT_NE(off.findings.find("the limit is 100000"), std::string::npos) << off.findings;
  for (const Translate way : {Translate::kAlways, Translate::kCompare})
    EXPECT_EQ(off, launched(endless, way, 64, 0, check::kAllChecks, 100'000));
}

TEST(Translate, ThreadsThatRepeatThemselvesAreADeadlockAllTheSame) {
  const std::string spins = kernel(
      "TOP:\n  ld.volatile.global.u32 %r9, [%rd1];\n  setp.eq.u32 %p1, %r9, 0;\n  @%p1 bra TOP;\n");
  const Launched off = launched(spins, Translate::kOff, 64);
  EXPECT_FALSE(off.findings.empty());
  for (const Translate way : {Translate::kAlways, Translate::kCompare})
    EXPECT_EQ(off, launched(spins, way, 64));
}

// Straight lines of random operations on few registers, so that registers give way to others,
// predicates are written again, places are shared, and guards stand anywhere.
std::string random_line(std::uint64_t seed) {
  SplitMix64 random{seed};
  const auto pick = [&](auto... words) {
    const std::string all[] = {words...};
    return all[random() % sizeof...(words)];
  };
  const auto w = [&] { return "%r" + std::to_string(4 + random() % 16); };
  const auto d = [&] { return "%rd" + std::to_string(3 + random() % 6); };
  const auto p = [&] { return "%p" + std::to_string(1 + random() % 8); };
  const auto f = [&] { return "%f" + std::to_string(random() % 9); };
  std::string body;
  for (int i = 4; i < 20; ++i)
    body += "mad.lo.u32 %r" + std::to_string(i) + ", %r1, " + std::to_string(random() >> 33) +
            ", " + std::to_string(random() >> 33) + ";\n";
  for (int i = 0; i < 9; ++i)
    body += "mov.b32 %f" + std::to_string(i) + ", %r" + std::to_string(4 + i) + ";\n";
  for (int i = 3; i < 9; ++i)
    body += "mul.wide.u32 %rd" + std::to_string(i) + ", %r" + std::to_string(4 + i) + ", %r9;\n";
  for (int i = 1; i < 9; ++i)
    body += "setp.lt.u32 %p" + std::to_string(i) + ", %r" + std::to_string(4 + i) + ", %r12;\n";
  for (int i = 0; i < 120; ++i) {
    std::string line;
    switch (random() % 14) {
      case 0:
        line = pick("add.u32 ", "xor.b32 ", "mul.lo.s32 ", "max.s32 ", "shl.b32 ", "and.b32 ") +
               w() + ", " + w() + ", " + w();
        break;
      case 1:
        line =
            pick("add.s64 ", "xor.b64 ", "sub.s64 ", "mul.lo.u64 ") + d() + ", " + d() + ", " + d();
        break;
      case 2:
        line = pick("setp.lt.s32 ", "setp.hi.u32 ", "setp.ne.s32 ") + p() + ", " + w() + ", " + w();
        break;
      case 3: line = pick("setp.lt.s64 ", "setp.hs.u64 ") + p() + ", " + d() + ", " + d(); break;
      case 4:
        line = pick("and.pred ", "or.pred ", "xor.pred ") + p() + ", " + p() + ", " + p();
        break;
      case 5: line = "selp.b32 " + w() + ", " + w() + ", " + w() + ", " + p(); break;
      case 6: line = "selp.b64 " + d() + ", " + d() + ", " + d() + ", " + p(); break;
      case 7: line = "mad.wide.s32 " + d() + ", " + w() + ", " + w() + ", " + d(); break;
      case 8: line = "cvt.u32.u64 " + w() + ", " + d(); break;
      case 9:
        line = pick("add.f32 ", "mul.rn.f32 ", "div.rn.f32 ", "max.f32 ") + f() + ", " + f() +
               ", " + f();
        break;
      case 10:
        line = pick("add.ftz.f32 ", "mul.rn.ftz.f32 ") + f() + ", " + f() + ", " + f();
        break;
      case 11:
        line = pick("setp.geu.f32 ", "setp.lt.ftz.f32 ", "setp.ne.and.f32 ") + p() + ", " + f() +
               ", " + f();
        if (line.find(".and.") != std::string::npos) line += ", !" + p();
        break;
      case 12: line = "mov.b64 {" + w() + ", %r3}, " + d(); break;
      default: line = "popc.b32 " + w() + ", " + w(); break;  // its handler's
    }
    if (random() % 3 == 0) line = (random() % 2 == 0 ? "@" : "@!") + p() + " " + line;
    body += line + ";\n";
  }
  for (int i = 4; i < 20; ++i) body += "mad.lo.u32 %r3, %r3, 31, %r" + std::to_string(i) + ";\n";
  for (int i = 0; i < 9; ++i) {
    body += "mov.b32 %r4, %f" + std::to_string(i) + ";\nmad.lo.u32 %r3, %r3, 31, %r4;\n";
  }
  for (int i = 3; i < 9; ++i)
    body += "cvt.u32.u64 %r4, %rd" + std::to_string(i) + ";\nmad.lo.u32 %r3, %r3, 31, %r4;\n";
  for (int i = 1; i < 9; ++i) {
    body += "selp.u32 %r4, 1, 0, %p" + std::to_string(i) + ";\nmad.lo.u32 %r3, %r3, 31, %r4;\n";
  }
  return body + "mov.u32 %r9, %r3;\n";
}

TEST(Translate, RandomRunsGiveWhatTheInterpreterGives) {
  for (std::uint64_t seed = 1; seed <= 100 && !HasFailure(); ++seed) {
    const std::string text = kernel(random_line(seed));
    const Launched off = launched(text, Translate::kOff, 32);
    EXPECT_EQ(off.findings, "");
    EXPECT_EQ(off, launched(text, Translate::kAlways, 32)) << text;
    EXPECT_EQ(off, launched(text, Translate::kCompare, 32)) << text;
  }
}

// Values of both widths that live shortly: places of one width become places of the other.
TEST(Translate, PlacesThatOverlapAreNotMixedUp) {
  std::string body = "  .reg .b32 %t<300>;\n  .reg .b64 %u<300>;\n";
  const auto name = [](const char* kind, int n) { return kind + std::to_string(n); };
  for (int i = 0; i < 8; ++i)
    body += "  mad.lo.u32 " + name("%t", i) + ", %r1, " + std::to_string(77 + i) + ", 5;\n";
  for (int i = 8; i + 4 < 300; i += 4) {
    const std::string a = name("%t", i - 8), b = name("%t", i - 7), c = name("%t", i - 6),
                      d = name("%t", i - 5);
    body += "  mad.wide.u32 " + name("%u", i) + ", " + a + ", " + b + ", 9;\n";
    body += "  mul.wide.s32 " + name("%u", i + 1) + ", " + c + ", " + d + ";\n";
    body +=
        "  xor.b64 " + name("%u", i + 2) + ", " + name("%u", i) + ", " + name("%u", i + 1) + ";\n";
    body += "  mov.b64 {" + name("%t", i) + ", " + name("%t", i + 1) + "}, " + name("%u", i + 2) +
            ";\n";
    body += "  mov.b64 {" + name("%t", i + 2) + ", " + name("%t", i + 3) + "}, " +
            name("%u", i + 1) + ";\n";
  }
  body += "  add.u32 %r9, %t292, %t295;\n";
  for (const Translate way : {Translate::kAlways, Translate::kCompare})
    EXPECT_EQ(launched(kernel(body), Translate::kOff, 32), launched(kernel(body), way, 32));
}

}  // namespace translate_runs_test
}  // namespace lockstep::engine
