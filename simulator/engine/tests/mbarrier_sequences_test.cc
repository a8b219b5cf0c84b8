// Sequences of operations of one thread on one mbarrier object, compared with a model. After each
// operation: the pending count, and whether the phase is complete, by state and by parity. They
// cover every order of arrivals, dropped arrivals and bytes, including those that complete a phase.
// The model agrees with an H100 on 400 such sequences.
#include <gtest/gtest.h>

#include <algorithm>
#include <iterator>
#include <string>
#include <vector>

#include "simulator/engine/tests/testing.h"
#include "simulator/splitmix64.h"

namespace lockstep::engine {
namespace mbarrier_sequences_test {

using testing::Machine;
using testing::text;

constexpr int kSequences = 60, kOperations = 24;
constexpr std::uint32_t kNoState = 0xffff, kNoAnswer = 9;

// An mbarrier object as PTX ISA 9.7.13.15.1 to 9.7.13.15.5 defines it.
struct Model {
  std::uint32_t expected, pending, bytes = 0, phase = 0;

  void complete_if_due() {
    if (pending != 0 || bytes != 0) return;
    ++phase;
    pending = expected;
  }
};

struct Operation {
  const char* name;
  bool arrives, drops, expects_bytes, completes_bytes, leaves_some;
};
constexpr Operation kKinds[] = {
    {"arrive", true, false, false, false, false},
    {"arrive_drop", true, true, false, false, false},
    {"expect_tx.relaxed.cta", false, false, true, false, false},
    {"complete_tx.relaxed.cta", false, false, false, true, false},
    {"arrive.expect_tx", true, false, true, false, false},
    {"arrive_drop.expect_tx", true, true, true, false, false},
    {"arrive.noComplete", true, false, false, false, true},
    {"arrive_drop.noComplete", true, true, false, false, true},
};

// A kernel of legal consecutive operations, and the expected values after each: the pending count
// before it, if it returns a state; whether the phase of the last state is complete; whether phase
// 0 is complete, by parity.
struct Sequence {
  std::string text;
  std::vector<std::uint32_t> expected;
};

Sequence sequence(std::uint64_t seed) {
  const auto draw = [&](std::uint32_t below) {
    return static_cast<std::uint32_t>(next_mixed(seed) % below);
  };
  const std::uint32_t count = 1 + draw(6);
  Model m{count, count};
  Sequence s;
  s.text = R"(
.visible .entry k(.param .u64 out)
{
.reg .pred p<4>; .reg .b32 r<8>; .reg .b32 b<2>; .reg .b64 d<4>;
.shared .align 8 .b64 object;
ld.param.u64 d1, [out];
mov.u32 b0, object;
mbarrier.init.shared.b64 [b0], )" +
           std::to_string(count) + ";\n";
  bool any_state = false;
  std::uint32_t phase_of_state = 0;
  while (s.expected.size() < 3 * kOperations) {
    const Operation& o = kKinds[draw(std::size(kKinds))];
    std::uint32_t n = 16 * (1 + draw(3));  // bytes
    if (o.completes_bytes) {
      if (m.bytes == 0 || (m.pending != 0 && draw(2) == 0)) continue;
      n = draw(2) == 0 ? m.bytes : 16;
    } else if (o.arrives && !o.expects_bytes) {
      n = 1 + draw(std::max(m.pending, 1u));
    }
    const std::uint32_t arrivals = o.expects_bytes ? 1 : n;
    if (o.arrives && arrivals + o.leaves_some > m.pending) continue;
    if (o.drops && arrivals >= m.expected) continue;

    s.text += "mbarrier." + std::string(o.name) + ".shared.b64 " + (o.arrives ? "d2, " : "") +
              "[b0], " + std::to_string(n) + ";\n";
    s.expected.push_back(o.arrives ? m.pending : kNoState);
    if (o.arrives) any_state = true, phase_of_state = m.phase;
    if (o.expects_bytes) m.bytes += n;
    if (o.completes_bytes) m.bytes -= n;
    if (o.drops) m.expected -= arrivals;
    if (o.arrives) m.pending -= arrivals;
    if (o.arrives || o.completes_bytes) m.complete_if_due();
    s.expected.push_back(any_state ? m.phase != phase_of_state : kNoAnswer);
    s.expected.push_back(m.phase & 1);

    s.text += o.arrives ? "mbarrier.pending_count.b64 r0, d2;\n"
                        : "mov.u32 r0, " + std::to_string(kNoState) + ";\n";
    s.text += any_state ? "mbarrier.test_wait.shared.b64 p1, [b0], d2;\nselp.u32 r1, 1, 0, p1;\n"
                        : "mov.u32 r1, " + std::to_string(kNoAnswer) + ";\n";
    s.text += "mbarrier.test_wait.parity.shared.b64 p2, [b0], 0;\nselp.u32 r2, 1, 0, p2;\n";
    for (int i = 0; i < 3; ++i)
      s.text += "st.global.u32 [d1+" + std::to_string(4 * (s.expected.size() - 3 + i)) + "], r" +
                std::to_string(i) + ";\n";
  }
  s.text += "mbarrier.inval.shared.b64 [b0];\nret;\n}\n";
  return s;
}

TEST(MbarrierSequences, LeaveWhatTheModelSays) {
  for (std::uint64_t seed = 0; seed < kSequences; ++seed) {
    const Sequence s = sequence(seed);
    Machine gpu;
    gpu.load(s.text);
    const auto out = gpu.unwritten(s.expected.size() * 4, "out");
    const Outcome o = gpu.launch("k", 1, 1, out);
    ASSERT_TRUE(o.findings.empty()) << text(o) << s.text;
    ASSERT_EQ(gpu.fetch<std::uint32_t>(out, s.expected.size()), s.expected)
        << "sequence " << seed << s.text;
  }
}

}  // namespace mbarrier_sequences_test
}  // namespace lockstep::engine
