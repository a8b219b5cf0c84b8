// clusterlaunchcontrol: blocks that take over the work of clusters not yet started.
#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "simulator/engine/tests/testing.h"

namespace lockstep::engine {
namespace launch_control_test {

using check::Kind;
using testing::Machine;
using testing::text;

// Every block counts its own position, then the positions of clusters that it obtains. `first`
// loads the position of the first block to r1, r2 and r3.
std::string kernel(const std::string& first, bool multicast, const std::string& wait) {
  return R"(.version 9.0
.target sm_100a
.address_size 64
.visible .entry k(.param .u64 out, .param .u64 begun)
{
.reg .b32 r<12>; .reg .b32 tid, s<3>, phase, rank; .reg .b64 d<8>; .reg .b128 q; .reg .pred p<5>;
.shared .align 16 .b8 answer[16];
.shared .align 8 .b64 bar;
mov.u32 tid, %tid.x;
setp.eq.u32 p0, tid, 0;
mov.u32 rank, %cluster_ctarank;
ld.param.u64 d0, [out];
ld.param.u64 d1, [begun];
mov.u32 s0, answer;
mov.u32 s1, bar;
mov.u32 phase, 0;
mov.u32 r1, %ctaid.x;
mov.u32 r2, %ctaid.y;
mov.u32 r3, %ctaid.z;
@p0 atom.global.add.u32 r5, [d1], 1;
@p0 mbarrier.init.shared.b64 [s1], 1;
fence.mbarrier_init.release.cluster;
barrier.cluster.arrive.aligned;
barrier.cluster.wait.aligned;
$more:
mov.u32 r5, %nctaid.x;
mov.u32 r6, %nctaid.y;
mad.lo.u32 r4, r3, r6, r2;
mad.lo.u32 r4, r4, r5, r1;
mad.wide.u32 d2, r4, 4, d0;
@p0 atom.global.add.u32 r5, [d2], 1;
@p0 mbarrier.arrive.expect_tx.shared.b64 d3, [s1], 16;
)" +
         std::string(multicast
                         ? "setp.eq.and.u32 p1, rank, 0, p0;\nbarrier.cluster.arrive.aligned;\n"
                           "barrier.cluster.wait.aligned;\n"
                         : "mov.pred p1, p0;\n") +
         "@p1 clusterlaunchcontrol.try_cancel.async.shared::cta.mbarrier::complete_tx::bytes" +
         (multicast ? ".multicast::cluster::all" : "") + ".b128 [s0], [s1];\n" + wait +
         R"(ld.shared.b128 q, [s0];
clusterlaunchcontrol.query_cancel.is_canceled.pred.b128 p2, q;
)" + first +
         (multicast ? "add.u32 r1, r1, rank;\n" : "") +
         R"(fence.proxy.async;
bar.sync 0;
xor.b32 phase, phase, 1;
@p2 bra $more;
barrier.cluster.arrive.aligned;
barrier.cluster.wait.aligned;
ret;
}
)";
}
const std::string kWait =
    "$wait:\nmbarrier.try_wait.parity.shared.b64 p3, [s1], phase;\n@!p3 bra $wait;\n";

JUDGES(LaunchControl, EveryPlaceIsDoneOnce,
       "clusterlaunchcontrol.try_cancel.async.shared::cta.mbarrier::complete_tx::bytes.b128",
       "clusterlaunchcontrol.try_cancel.async.shared::cta.mbarrier::complete_tx::bytes.multicast::"
       "cluster::all.b128",
       "clusterlaunchcontrol.query_cancel.is_canceled.pred.b128",
       "clusterlaunchcontrol.query_cancel.get_first_ctaid.v4.b32.b128",
       "clusterlaunchcontrol.query_cancel.get_first_ctaid::x.b32.b128",
       "clusterlaunchcontrol.query_cancel.get_first_ctaid::y.b32.b128",
       "clusterlaunchcontrol.query_cancel.get_first_ctaid::z.b32.b128");
TEST(LaunchControl, EveryPlaceIsDoneOnce) {
  const std::string together =
      "clusterlaunchcontrol.query_cancel.get_first_ctaid.v4.b32.b128 {r1, r2, r3, _}, q;\n";
  std::string apart;
  for (const char* d : {"x r1", "y r2", "z r3"})
    apart += std::string("clusterlaunchcontrol.query_cancel.get_first_ctaid::") + d[0] +
             ".b32.b128 " + (d + 2) + ", q;\n";
  for (const bool multicast : {false, true}) {
    for (const std::string& first : {together, apart}) {
      for (const int threads : {1, 3}) {
        for (const std::uint64_t seed : {0, 1, 2, 3}) {
          Machine gpu;
          gpu.config.compute_capability = 100;
          gpu.config.schedule_seed = seed;
          gpu.config.host_threads = static_cast<unsigned>(threads);
          const std::uint32_t blocks = multicast ? 2 : 1;
          gpu.config.cluster = {blocks, 1, 1};
          gpu.load_text(kernel(first, multicast, kWait));
          const auto out = gpu.buffer(std::vector<std::uint32_t>(60), "out");
          const auto begun = gpu.buffer(std::vector<std::uint32_t>(1), "begun");
          const Outcome o = gpu.launch("k", Dim3{10, 3, 2}, Dim3{64, 1, 1}, out, begun);
          ASSERT_TRUE(o.findings.empty()) << text(o);
          EXPECT_EQ(gpu.fetch<std::uint32_t>(out, 60), std::vector<std::uint32_t>(60, 1));
          const std::uint32_t count = gpu.fetch<std::uint32_t>(begun, 1)[0];
          EXPECT_GE(count, blocks);
          if (threads == 1 && seed == 0) {
            EXPECT_LT(count, 60u);
          }
        }
      }
    }
  }
}

TEST(LaunchControl, TheAnswerIsWaitedFor) {
  Machine gpu;
  gpu.config.compute_capability = 100;
  gpu.load_text(
      kernel("clusterlaunchcontrol.query_cancel.get_first_ctaid.v4.b32.b128 {r1, r2, r3, _}, q;\n",
             false, "bar.sync 0;\n"));
  const auto out = gpu.buffer(std::vector<std::uint32_t>(60), "out");
  const auto begun = gpu.buffer(std::vector<std::uint32_t>(1), "begun");
  const Outcome o = gpu.launch("k", Dim3{10, 3, 2}, Dim3{64, 1, 1}, out, begun);
  ASSERT_FALSE(o.findings.empty());
  EXPECT_EQ(o.findings[0].kind, Kind::kRace) << text(o);
}

}  // namespace launch_control_test
}  // namespace lockstep::engine
