// Fences: a thread writes data, then a flag; another thread reads both. There is no race exactly if
// both execute a fence whose scope includes both threads.
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "simulator/coverage/judged.h"
#include "simulator/engine/tests/testing.h"

namespace lockstep::engine {
namespace fences_test {

using testing::Machine;
using testing::text;

struct Read {
  Outcome outcome;
  std::uint32_t value = 0;
};

// One thread writes 41, executes `release` and sets a flag. The other waits for the flag, executes
// `acquire` and reads.
enum class Where { kOneBlock, kOneCluster, kTwoBlocks };
Read pass_on(const std::string& release, const std::string& acquire, Where where) {
  Machine gpu;
  gpu.load_text(R"(.version 8.6
.target sm_90
.address_size 64
.visible .entry k(.param .u64 data, .param .u64 flag, .param .u64 out)
{
  .reg .pred %p<4>;
  .reg .b32 %r<8>;
  .reg .b64 %rd<4>;
  ld.param.u64 %rd1, [data];
  ld.param.u64 %rd2, [flag];
  ld.param.u64 %rd3, [out];
  mov.u32 %r1, %tid.x;
  mov.u32 %r2, %ctaid.x;
  add.u32 %r3, %r1, %r2;
  and.b32 %r4, %r1, 31;
  setp.ne.u32 %p1, %r4, 0;
  @%p1 bra END;
  setp.ne.u32 %p2, %r3, 0;
  @%p2 bra READ;
  st.global.u32 [%rd1], 41;
  )" + release + R"(
  st.relaxed.gpu.global.u32 [%rd2], 1;
  bra.uni END;
READ:
  ld.relaxed.gpu.global.u32 %r5, [%rd2];
  setp.eq.u32 %p3, %r5, 0;
  @%p3 bra READ;
  )" + acquire + R"(
  ld.global.u32 %r6, [%rd1];
  st.global.u32 [%rd3], %r6;
END:
  ret;
}
)");
  const auto data = gpu.buffer<std::uint32_t>({0}), flag = gpu.buffer<std::uint32_t>({0}),
             out = gpu.buffer<std::uint32_t>({0});
  Read r;
  if (where == Where::kOneCluster) gpu.config.cluster = {2, 1, 1};
  const bool one_block = where == Where::kOneBlock;
  r.outcome = gpu.launch("k", one_block ? 1 : 2, one_block ? 64 : 32, data, flag, out);
  r.value = gpu.fetch<std::uint32_t>(out, 1)[0];
  return r;
}

void expect_order(const std::string& release, const std::string& acquire, Where where) {
  const Read r = pass_on(release, acquire, where);
  EXPECT_TRUE(r.outcome.findings.empty()) << release << " " << acquire << "\n" << text(r.outcome);
  EXPECT_EQ(r.value, 41u) << release << " " << acquire;
}

void expect_race(const std::string& release, const std::string& acquire, Where where) {
  const Read r = pass_on(release, acquire, where);
  ASSERT_TRUE(r.outcome.failed()) << release << " " << acquire;
  EXPECT_EQ(r.outcome.findings[0].kind, check::Kind::kRace) << text(r.outcome);
}

JUDGES(Fences, OrderThreadsWithinTheirScope, "fence.acq_rel.gpu", "fence.sc.cta",
       "fence.acq_rel.cluster", "fence.acquire.gpu", "fence.release.gpu", "fence.acquire.cluster",
       "fence.release.cluster", "membar.gl", "membar.cta");
TEST(Fences, OrderThreadsWithinTheirScope) {
  for (const Where where : {Where::kOneBlock, Where::kOneCluster, Where::kTwoBlocks}) {
    expect_race("", "", where);
    for (const std::string scope : {"gpu", "sys"}) {
      expect_order("fence.acq_rel." + scope + ";", "fence.sc." + scope + ";", where);
      expect_order("fence." + scope + ";", "fence." + scope + ";", where);
      expect_order("fence.release." + scope + ";", "fence.acquire." + scope + ";", where);
    }
    expect_order("membar.gl;", "membar.sys;", where);
    expect_race("fence.acq_rel.gpu;", "", where);
    expect_race("", "fence.acq_rel.gpu;", where);
    expect_race("fence.acquire.gpu;", "fence.acquire.gpu;", where);
    expect_race("fence.release.gpu;", "fence.release.gpu;", where);
  }
  // Fences of cluster scope. They also order other clusters: a limit of the race check
  // (docs/reference/checks.md).
  for (const Where where : {Where::kOneBlock, Where::kOneCluster}) {
    expect_order("fence.acq_rel.cluster;", "fence.sc.cluster;", where);
    expect_order("fence.release.cluster;", "fence.acquire.cluster;", where);
  }
  // Fences of block scope.
  for (const auto& [release, acquire] :
       {std::pair<std::string, std::string>{"fence.acq_rel.cta;", "fence.sc.cta;"},
        {"fence.release.cta;", "fence.acquire.cta;"},
        {"membar.cta;", "membar.cta;"}}) {
    expect_order(release, acquire, Where::kOneBlock);
    expect_race(release, acquire, Where::kOneCluster);
    expect_race(release, acquire, Where::kTwoBlocks);
  }
}

// The same exchange in shared memory of the cluster's first block, for fences with .sync_restrict.
Read pass_on_shared(const std::string& release, const std::string& acquire) {
  Machine gpu;
  gpu.load_text(R"(.version 8.6
.target sm_90
.address_size 64
.visible .entry k(.param .u64 out)
{
  .shared .align 4 .u32 data;
  .shared .align 4 .u32 flag;
  .reg .pred %p<4>;
  .reg .b32 %r<12>;
  .reg .b64 %rd<4>;
  ld.param.u64 %rd1, [out];
  mov.u32 %r1, %cluster_ctarank;
  st.shared.u32 [flag], 0;
  st.shared.u32 [data], 0;
  barrier.cluster.arrive;
  barrier.cluster.wait;
  setp.ne.u32 %p1, %r1, 0;
  @%p1 bra READ;
  st.shared.u32 [data], 41;
  )" + release + R"(
  st.relaxed.cluster.shared::cta.u32 [flag], 1;
  bra.uni END;
READ:
  mov.u32 %r2, flag;
  mapa.shared::cluster.u32 %r3, %r2, 0;
  mov.u32 %r4, data;
  mapa.shared::cluster.u32 %r5, %r4, 0;
WAIT:
  ld.relaxed.cluster.shared::cluster.u32 %r6, [%r3];
  setp.eq.u32 %p2, %r6, 0;
  @%p2 bra WAIT;
  )" + acquire + R"(
  ld.shared::cluster.u32 %r7, [%r5];
  st.global.u32 [%rd1], %r7;
END:
  barrier.cluster.arrive;
  barrier.cluster.wait;
  ret;
}
)");
  const auto out = gpu.buffer<std::uint32_t>({0});
  gpu.config.cluster = {2, 1, 1};
  Read r;
  r.outcome = gpu.launch("k", 2, 1, out);
  r.value = gpu.fetch<std::uint32_t>(out, 1)[0];
  return r;
}

JUDGES(Fences, RestrictedOnesOrderSharedMemory,
       "fence.acquire.sync_restrict::shared::cluster.cluster",
       "fence.release.sync_restrict::shared::cta.cluster");
TEST(Fences, RestrictedOnesOrderSharedMemory) {
  const std::string release = "fence.release.sync_restrict::shared::cta.cluster;",
                    acquire = "fence.acquire.sync_restrict::shared::cluster.cluster;";
  const Read r = pass_on_shared(release, acquire);
  EXPECT_TRUE(r.outcome.findings.empty()) << text(r.outcome);
  EXPECT_EQ(r.value, 41u);
  for (const Read& missing : {pass_on_shared("", acquire), pass_on_shared(release, "")}) {
    ASSERT_TRUE(missing.outcome.failed());
    EXPECT_EQ(missing.outcome.findings[0].kind, check::Kind::kRace) << text(missing.outcome);
  }
}

}  // namespace fences_test
}  // namespace lockstep::engine
