// Mistakes between the two blocks of a pair beside the correct kernel.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "simulator/engine/tests/tensor_kernels.h"

namespace lockstep::engine {
namespace tensor_pair_test {

using check::Kind;
using ::testing::HasSubstr;
using testing::Machine;
using testing::text;

// A kernel of two blocks of four warps that computes a product of 256 x 64 f16 ones in columns 0 to
// 63. Thread 0 of block 0 (p0) issues it. p1: warp 0. p2: false. p5: thread 0. p6: block 1. Each
// part may be replaced.
struct Parts {
  std::string allocate = "@p1 tcgen05.alloc.cta_group::2.sync.aligned.shared::cta.b32 [s2], 64;\n";
  std::string proxy_fence = "fence.proxy.async;\n";
  std::string cluster_barrier = "barrier.cluster.arrive.aligned;\nbarrier.cluster.wait.aligned;\n";
  std::string multiply = "@p0 tcgen05.mma.cta_group::2.kind::f16 [all], d2, d3, " +
                         std::to_string(1 << 4 | 64 / 8 << 17 | 256 / 16 << 24) + ", p2;\n";
  std::string mask = "3";
  std::string after_multiply;
  std::string commit =
      "@p0 "
      "tcgen05.commit.cta_group::2.mbarrier::arrive::one.shared::cluster.multicast::cluster.b64 "
      "[s1], h0;\n";
  std::string wait = "$wait:\nmbarrier.try_wait.parity.shared.b64 p9, [s1], 0;\n@!p9 bra $wait;\n";
  std::string after_wait = "tcgen05.fence::after_thread_sync;\n";
  // The commit also shows that shared memory may be reused.
  std::string read =
      "tcgen05.ld.sync.aligned.32x32b.x1.b32 {r0}, [tm];\ntcgen05.wait::ld.sync.aligned;\n"
      "st.global.b32 [mine], r0;\nst.shared.b32 [x1], tid;\n";
  std::string end =
      "tcgen05.fence::before_thread_sync;\nbarrier.cluster.arrive.aligned;\n"
      "barrier.cluster.wait.aligned;\ntcgen05.fence::after_thread_sync;\n";
  std::string free = "@p1 tcgen05.dealloc.cta_group::2.sync.aligned.b32 all, 64;\n";

  std::string text() const {
    std::string s = R"(.version 9.0
.target sm_100a
.address_size 64
.visible .entry k(.param .u64 out)
{
.reg .pred p<10>; .reg .b16 h<2>; .reg .b32 r<8>; .reg .b32 x<16>; .reg .b32 s<4>;
.reg .b32 tid, tm, all, smem;
.reg .b64 d<16>, mine;
.shared .align 1024 .b8 tile[16384];
.shared .align 8 .b64 object;
.shared .align 4 .b32 address;
mov.u32 tid, %tid.x;
mov.u32 x10, %cluster_ctarank;
setp.eq.u32 p5, tid, 0;
setp.eq.and.u32 p0, x10, 0, p5;
setp.lt.u32 p1, tid, 32;
setp.ne.u32 p2, tid, tid;
setp.eq.u32 p6, x10, 1;
ld.param.u64 d0, [out];
mad.lo.u32 x11, x10, 128, tid;
mad.wide.u32 mine, x11, 4, d0;
mov.u32 smem, tile;
mov.u32 s1, object;
mov.u32 s2, address;
)";
    s += allocate + "@p5 mbarrier.init.shared.b64 [s1], 1;\nmad.lo.u32 x1, tid, 16, smem;\n";
    for (int i = 0; i < 16384; i += 2048)
      s += "st.shared.v4.b32 [x1+" + std::to_string(i) +
           "], {0x3c003c00, 0x3c003c00, 0x3c003c00, 0x3c003c00};\n";
    s += proxy_fence + cluster_barrier +
         "ld.shared.b32 all, [s2];\nand.b32 tm, tid, 0x60;\n"
         "shl.b32 tm, tm, 16;\nadd.u32 tm, tm, all;\nmov.b16 h0, " +
         mask + ";\n";
    s += testing::descriptor("d2", 0, 2048, 128) + testing::descriptor("d3", 8192, 512, 128);
    return s + multiply + after_multiply + commit + wait + after_wait + read + end + free +
           "ret;\n}\n";
  }
};

Outcome run(const Parts& parts, std::uint64_t seed, unsigned cluster, std::vector<float>* out) {
  Machine gpu;
  gpu.config.compute_capability = 100;
  gpu.config.cluster = {cluster, 1, 1};
  gpu.config.schedule_seed = seed;
  gpu.load_text(parts.text());
  const auto to = gpu.buffer(std::vector<float>(256), "out");
  Outcome o = gpu.launch("k", 2, 128, to);
  if (out != nullptr) *out = gpu.fetch<float>(to, 256);
  return o;
}

TEST(TensorPair, IsRightWithoutAMistake) {
  for (const std::uint64_t seed : {0, 1, 2, 3}) {
    std::vector<float> out;
    const Outcome o = run(Parts{}, seed, 2, &out);
    EXPECT_TRUE(o.findings.empty()) << text(o);
    EXPECT_THAT(out, ::testing::Each(16.0f));
  }
}

// Threads of both blocks arrive at the mbarrier of the first block, which waits before it issues.
// The second block addresses that mbarrier by clearing bit 24 of its own mbarrier's address. The
// kernel has no tensor copy.
TEST(TensorPair, AClearedBitNamesTheFirstBlocksMbarrier) {
  Parts p;
  p.allocate =
      ".shared .align 8 .b64 both;\nmov.u32 s3, both;\n"
      "@p5 mbarrier.init.shared.b64 [s3], 256;\n" +
      p.allocate;
  p.multiply =
      "and.b32 x12, s3, 0xfeffffff;\nmbarrier.arrive.shared::cluster.b64 _, [x12];\n"
      "@p6 bra $arrived;\n$both:\nmbarrier.try_wait.parity.shared.b64 p9, [s3], 0;\n"
      "@!p9 bra $both;\n$arrived:\n" +
      p.multiply;
  for (const std::uint64_t seed : {0, 1, 2}) {
    std::vector<float> out;
    const Outcome o = run(p, seed, 2, &out);
    EXPECT_TRUE(o.findings.empty()) << text(o);
    EXPECT_THAT(out, ::testing::Each(16.0f));
  }
}

struct Mistake {
  const char* name;
  Parts parts;
  Kind kind;
  const char* words;
  bool of_default_schedule = false;
  unsigned cluster = 2;
};

std::vector<Mistake> mistakes() {
  std::vector<Mistake> all;
  const auto add = [&](const char* name, Kind kind, const char* words, auto change,
                       bool of_default_schedule = false, unsigned cluster = 2) {
    Parts p;
    change(p);
    all.push_back({name, p, kind, words, of_default_schedule, cluster});
  };
  const Kind kInvalid = Kind::kInvalidInstruction, kOrder = Kind::kAsyncOrder;
  add("OneBlockNeverAllocates", kInvalid, "the other block of the pair",
      [](Parts& p) { p.allocate = "@p6 ret;\n" + p.allocate; });
  add(
      "OneBlockLeavesWhileTheProductIsUnderWay", kInvalid, "ends while this is under way",
      [](Parts& p) {
        // The remaining block frees the columns alone.
        p.wait = "@p6 bra $done;\n" + p.wait;
        p.free = "$done:\n@p6 ret;\n" + p.free;
        p.end =
            "tcgen05.fence::before_thread_sync;\nbar.sync 0;\ntcgen05.fence::after_thread_sync;\n";
      },
      true);
  add("OneBlockHasEndedBeforeTheProduct", kInvalid, "has ended", [](Parts& p) {
    p.multiply = "@p6 bra $gone;\nbarrier.cluster.arrive.aligned;\n" + p.multiply;
    p.cluster_barrier +=
        "@!p6 bra $stays;\n@p1 tcgen05.dealloc.cta_group::2.sync.aligned.b32 "
        "0, 64;\nret;\n$stays:\n"
        "mov.u32 x12, 3000;\n$slow:\nsub.u32 x12, x12, 1;\n"
        "setp.ne.u32 p7, x12, 0;\nnanosleep.u32 100;\n@p7 bra $slow;\n";
    p.multiply = p.multiply.substr(p.multiply.find("@p0"));
    p.end = "";
  });
  add("TheTwoAskForDifferentNumbers", kInvalid, "are asked for", [](Parts& p) {
    p.allocate =
        "selp.u32 x12, 128, 64, p6;\n"
        "@p1 tcgen05.alloc.cta_group::2.sync.aligned.shared::cta.b32 [s2], x12;\n";
  });
  add("BothGroupsInAKernel", kInvalid, "All tcgen05 of a kernel must agree", [](Parts& p) {
    p.commit =
        "@p0 tcgen05.commit.cta_group::1.mbarrier::arrive::one.shared::cluster."
        "multicast::cluster.b64 [s1], h0;\n";
  });
  add(
      "NoClusterToMakePairsOf", kInvalid, "no other block to make a pair with", [](Parts&) {},
      false, 1);
  add(
      "TheOtherBlockReadsBeforeTheCommit", kOrder, "may be under way",
      [](Parts& p) { p.wait = "@p6 bra $early;\n" + p.wait + "$early:\n"; }, true);
  add("TheCommitReachesOneBlock", Kind::kDeadlock, "", [](Parts& p) { p.mask = "1"; });
  add("NoFenceAfterTheWaitInTheOtherBlock", kOrder, "fence::after_thread_sync",
      [](Parts& p) { p.after_wait = "@p6 bra $unfenced;\n" + p.after_wait + "$unfenced:\n"; });
  add("NoProxyFence", Kind::kMissingProxyFence, "", [](Parts& p) { p.proxy_fence = ""; });
  add(
      "TheOtherBlocksFactorIsOverwritten", Kind::kRace, "Nothing orders the two blocks",
      [](Parts& p) {
        p.after_multiply = "setp.eq.and.u32 p7, x10, 1, p5;\n@p7 st.shared.b32 [smem+64], 0;\n";
      },
      true);
  add("AStoreOfTheOtherBlockIsNotWaitedFor", kOrder, "wait::st", [](Parts& p) {
    p.allocate += "";
    p.cluster_barrier +=
        "@!p6 bra $no;\nld.shared.b32 all, [s2];\nand.b32 tm, tid, 0x60;\n"
        "shl.b32 tm, tm, 16;\nadd.u32 tm, tm, all;\n"
        "tcgen05.st.sync.aligned.32x32b.x1.b32 [tm], {tid};\n$no:\n" +
        p.cluster_barrier;
  });
  add("AnAllocationIsLeftInOneBlock", kInvalid, "are still allocated when the block ends",
      [](Parts& p) { p.free = "@p6 ret;\n" + p.free; });
  add("AProductInColumnsThatAreTheBlocksAlone", Kind::kOutOfBounds, "is in no allocation",
      [](Parts& p) {
        p.multiply.replace(p.multiply.find("[all]"), 5, "[x13]");
        p.after_multiply = "";
        p.cluster_barrier += "mov.u32 x13, 448;\n";
      });
  return all;
}

TEST(TensorPair, EachMistakeIsFound) {
  for (const Mistake& m : mistakes()) {
    for (const std::uint64_t seed : {0, 1, 2}) {
      if (seed != 0 && m.of_default_schedule) continue;
      const Outcome o = run(m.parts, seed, m.cluster, nullptr);
      ASSERT_FALSE(o.findings.empty()) << m.name << ", schedule " << seed;
      EXPECT_EQ(o.findings[0].kind, m.kind) << m.name << ", schedule " << seed << text(o);
      EXPECT_THAT(text(o), HasSubstr(m.words)) << m.name << ", schedule " << seed;
    }
  }
}

}  // namespace tensor_pair_test
}  // namespace lockstep::engine
