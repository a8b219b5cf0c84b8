// mbarrier objects used by one thread: the effect of each operation on a phase.
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "simulator/coverage/judged.h"
#include "simulator/engine/tests/testing.h"

namespace lockstep::engine {
namespace mbarrier_test {

using testing::Machine;
using testing::text;

// The effect of an operation on a phase.
struct Effect {
  std::string operation;       // on the object at b0, or generic d0; r1 is 2, r2 is 48
  std::uint32_t arrivals = 0;  // arrivals that it counts
  std::uint32_t bytes = 0;     // additional bytes that the phase expects
  std::uint32_t dropped = 0;   // decrease of the expected arrivals of later phases
};

constexpr std::uint32_t kCount = 5;  // arrivals of the first phase

// Initialises the object with kCount arrivals, executes the operation, then the missing arrivals.
// Returns the pending count after the operation; whether the phase was complete before the last
// arrival, after it, and after its bytes; and the expected arrivals of the next phase. The two
// waits test the phase of state d8, or of parity r0, which is 0.
std::vector<std::uint32_t> measure(const Effect& e, const std::string& first_wait,
                                   const std::string& second_wait) {
  std::string body = "mbarrier.init.shared::cta.b64 [b0], " + std::to_string(kCount) + ";\n" +
                     e.operation + "\nmbarrier.arrive.shared.b64 d8, [b0];\n" +
                     "mbarrier.pending_count.b64 r4, d8;\n";
  for (std::uint32_t left = kCount - e.arrivals - 1; left > 1; --left)
    body += "mbarrier.arrive.b64 _, [d0];\n";
  body += first_wait + "\nmbarrier.arrive.shared::cta.b64 _, [b0];\n" + second_wait + "\n";
  if (e.bytes != 0)
    body += "mbarrier.complete_tx.relaxed.cluster.shared::cluster.b64 [b0], " +
            std::to_string(e.bytes) + ";\n";
  body +=
      "mbarrier.test_wait.parity.shared.b64 p3, [b0], 0;\nmbarrier.arrive.shared.b64 d9, "
      "[b0];\nmbarrier.pending_count.b64 r8, d9;\n";
  Machine gpu;
  gpu.load(R"(
.visible .entry k(.param .u64 out)
{
.reg .pred p<8>; .reg .b32 r<32>; .reg .b32 b<8>; .reg .b64 d<16>;
.shared .align 8 .b64 object;
ld.param.u64 d1, [out];
mov.u32 b0, object;
mov.u64 d2, object;
cvta.shared.u64 d0, d2;
mov.u32 r0, 0;
mov.u32 r1, 2;
mov.u32 r2, 48;
)" + body + R"(
mbarrier.inval.shared.b64 [b0];
selp.u32 r5, 1, 0, p1;
selp.u32 r6, 1, 0, p2;
selp.u32 r7, 1, 0, p3;
st.global.v4.u32 [d1], {r4, r5, r6, r7};
st.global.u32 [d1+16], r8;
ret;
})");
  const auto out = gpu.buffer(std::vector<std::uint32_t>(5, 99));
  const Outcome o = gpu.launch("k", 1, 1, out);
  EXPECT_TRUE(o.findings.empty()) << e.operation << "\n" << text(o);
  return gpu.fetch<std::uint32_t>(out, 5);
}

void expect(const Effect& e,
            const std::string& first_wait = "mbarrier.test_wait.shared.b64 p1, [b0], d8;",
            const std::string& second_wait = "mbarrier.test_wait.parity.shared.b64 p2, [b0], r0;") {
  const std::vector<std::uint32_t> expected = {kCount - e.arrivals, 0, e.bytes == 0 ? 1u : 0u, 1,
                                               kCount - e.dropped};
  EXPECT_EQ(measure(e, first_wait, second_wait), expected) << e.operation;
}

JUDGES(Mbarrier, ArrivalsCountAndDropsCountForLaterPhasesToo, "mbarrier.init.shared::cta.b64",
       "mbarrier.pending_count.b64", "mbarrier.arrive.shared.b64 d, [a]",
       "mbarrier.arrive.release.cluster.shared::cta.b64",
       "mbarrier.arrive.relaxed.cluster.shared::cluster.b64", "mbarrier.arrive.noComplete.b64",
       "mbarrier.arrive_drop.shared.b64 d, [a]", "mbarrier.arrive_drop.relaxed.cta.b64",
       "mbarrier.arrive_drop.release.cluster.shared::cluster.b64",
       "mbarrier.arrive_drop.noComplete.shared::cta.b64");
TEST(Mbarrier, ArrivalsCountAndDropsCountForLaterPhasesToo) {
  expect({"mbarrier.arrive.shared.b64 d4, [b0];", 1});
  expect({"mbarrier.arrive.b64 d4, [d0];", 1});
  expect({"mbarrier.arrive.release.cluster.shared::cta.b64 d4, [b0], r1;", 2});
  expect({"mbarrier.arrive.relaxed.cta.b64 _, [d0], 3;", 3});
  expect({"mbarrier.arrive.relaxed.cluster.shared::cluster.b64 _, [b0];", 1});
  expect({"mbarrier.arrive.shared::cluster.b64 _, [b0], r1;", 2});
  expect({"mbarrier.arrive.noComplete.b64 d4, [d0], r1;", 2});
  expect({"mbarrier.arrive_drop.shared.b64 d4, [b0];", 1, 0, 1});
  expect({"mbarrier.arrive_drop.relaxed.cta.b64 d4, [d0], r1;", 2, 0, 2});
  expect({"mbarrier.arrive_drop.release.cluster.shared::cluster.b64 _, [b0], 3;", 3, 0, 3});
  expect({"mbarrier.arrive_drop.noComplete.shared::cta.b64 d4, [b0], r1;", 2, 0, 2});
}

JUDGES(Mbarrier, BytesThatAreExpectedAreWaitedFor, "mbarrier.expect_tx.relaxed.cta.shared.b64",
       "mbarrier.complete_tx.relaxed.cluster.shared::cluster.b64",
       "mbarrier.arrive.expect_tx.shared.b64",
       "mbarrier.arrive.expect_tx.release.cluster.shared::cluster.b64",
       "mbarrier.arrive_drop.expect_tx.b64", "mbarrier.arrive_drop.expect_tx.shared::cluster.b64");
TEST(Mbarrier, BytesThatAreExpectedAreWaitedFor) {
  expect({"mbarrier.expect_tx.relaxed.cta.shared.b64 [b0], r2;", 0, 48});
  expect({"mbarrier.expect_tx.b64 [d0], 16;", 0, 16});
  expect({"mbarrier.arrive.expect_tx.shared.b64 d4, [b0], r2;", 1, 48});
  expect({"mbarrier.arrive.expect_tx.release.cluster.shared::cluster.b64 _, [b0], r2;", 1, 48});
  expect({"mbarrier.arrive_drop.expect_tx.b64 d4, [d0], r2;", 1, 48, 1});
  expect({"mbarrier.arrive_drop.expect_tx.shared::cluster.b64 _, [b0], 32;", 1, 32, 1});
  // complete_tx counts against expect_tx.
  expect({"mbarrier.expect_tx.shared.b64 [b0], 64;\nmbarrier.complete_tx.shared::cta.b64 [b0], 16;",
          0, 48});
}

JUDGES(Mbarrier, AWaitTellsWhetherThePhaseIsComplete, "mbarrier.test_wait.shared.b64 p, [a], e:b64",
       "mbarrier.test_wait.relaxed.cta.b64", "mbarrier.test_wait.acquire.cluster.shared::cta.b64",
       "mbarrier.test_wait.parity.shared.b64 p, [a], e:u32",
       "mbarrier.test_wait.parity.relaxed.cluster.b64", "mbarrier.try_wait.shared.b64",
       "mbarrier.try_wait.parity.shared.b64");
TEST(Mbarrier, AWaitTellsWhetherThePhaseIsComplete) {
  for (const std::string how :
       {"shared.b64 P, [b0]", "relaxed.cta.b64 P, [d0]", "acquire.cluster.shared::cta.b64 P, [b0]",
        "relaxed.cluster.b64 P, [d0]"}) {
    const auto wait = [&](const std::string& opcode, const std::string& predicate,
                          const std::string& phase) {
      std::string s = "mbarrier." + opcode + "." + how + ", " + phase + ";";
      return s.replace(s.find(" P,"), 3, " " + predicate + ",");
    };
    for (const Effect& e : {Effect{"mbarrier.arrive.shared.b64 d4, [b0];", 1},
                            Effect{"mbarrier.expect_tx.shared.b64 [b0], 16;", 0, 16}}) {
      expect(e, wait("test_wait", "p1", "d8"), wait("test_wait.parity", "p2", "r0"));
      expect(e, wait("test_wait.parity", "p1", "r0"), wait("test_wait", "p2", "d8"));
      // try_wait times out if no other thread can complete the phase.
      expect(e, wait("try_wait", "p1", "d8, 100"), wait("try_wait.parity", "p2", "r0"));
      expect(e, wait("try_wait.parity", "p1", "r0, 100"), wait("try_wait", "p2", "d8"));
    }
  }
}

}  // namespace mbarrier_test
}  // namespace lockstep::engine
