// Mistakes in Tensor Memory beside the correct kernel: order, lanes, columns, descriptors. Each
// mistake must be found under three schedules.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "simulator/engine/tests/tensor_kernels.h"

namespace lockstep::engine {
namespace tensor_order_test {

using check::Kind;
using ::testing::HasSubstr;
using testing::Machine;
using testing::tensor_kernel;
using testing::text;

// f16 ones in shared memory: 128 rows of A from byte 0 on, 64 rows of B from byte 8192 on.
const std::string kOperands = [] {
  std::string s = "mad.lo.u32 x1, tid, 16, smem;\n";
  for (int i = 0; i < 16384; i += 2048)
    s += "st.shared.v4.b32 [x1+" + std::to_string(i) +
         "], {0x3c003c00, 0x3c003c00, 0x3c003c00, "
         "0x3c003c00};\n";
  return s + "fence.proxy.async;\nbar.sync 0;\n" + testing::descriptor("d2", 0, 2048, 128) +
         testing::descriptor("d3", 8192, 1024, 128) +
         "setp.ne.u32 p2, tid, tid;\nsetp.eq.u32 p3, tid, tid;\n";
}();

// The instruction descriptor: f32 result, f16 factors, 128 x 64.
const std::string kInstruction = std::to_string(1 << 4 | 64 / 8 << 17 | 128 / 16 << 24);

std::string multiply(const std::string& accumulates = "p2", const std::string& to = "all",
                     const std::string& a = "d2", const std::string& instruction = kInstruction,
                     const std::string& guard = "@p0") {
  return guard + " tcgen05.mma.cta_group::1.kind::f16 [" + to + "], " + a + ", d3, " + instruction +
         ", " + accumulates + ";\n";
}
const std::string kCommit =
    "@p0 tcgen05.commit.cta_group::1.mbarrier::arrive::one.shared::cluster.b64 [s1];\n";
std::string wait(int parity = 0) {
  static int label = 0;
  const std::string here = "$here" + std::to_string(label++);
  return here + ":\nmbarrier.try_wait.parity.shared.b64 p9, [s1], " + std::to_string(parity) +
         ";\n@!p9 bra " + here + ";\n";
}
const std::string kBefore = "tcgen05.fence::before_thread_sync;\n",
                  kAfter = "tcgen05.fence::after_thread_sync;\n", kBarrier = "bar.sync 0;\n",
                  kLoad = "tcgen05.ld.sync.aligned.32x32b.x2.b32 {r0, r1}, [tm];\n",
                  kStore = "tcgen05.st.sync.aligned.32x32b.x2.b32 [tm], {tid, tid};\n",
                  kWaitLoad = "tcgen05.wait::ld.sync.aligned;\n",
                  kWaitStore = "tcgen05.wait::st.sync.aligned;\n",
                  kUse = "add.u32 r0, r0, 1;\nst.global.b32 [mine], r0;\n";

// e4m3, with scales in columns 0 and 4 and the accumulator from column 64 on.
const std::string kScaled =
    "@p0 tcgen05.mma.cta_group::1.kind::mxf8f6f4.block_scale [x9], d2, d3, " +
    std::to_string(1 << 23 | 64 / 8 << 17 | 128 / 16 << 24) + ", [all], [x11], p2;\n";

struct Pair {
  const char* name;
  std::string mistake, right;
  Kind kind;
  const char* words;  // of the finding
  // Other schedules may report another finding, or complete the operation before it matters.
  bool of_default_schedule = false;
};

std::vector<Pair> pairs() {
  const std::string done = kCommit + wait() + kAfter, read = kLoad + kWaitLoad + kUse;
  return {
      {"AccumulatorReadBeforeItsCommit", kOperands + multiply() + kCommit + kBarrier + read,
       kOperands + multiply() + done + read, Kind::kAsyncOrder, "may be under way"},
      {"AccumulatorReadWithoutACommit", kOperands + multiply() + kBarrier + kAfter + read,
       kOperands + multiply() + done + read, Kind::kAsyncOrder, "tcgen05.commit by the thread"},
      {"WaitOfTheWrongParity",
       kOperands + multiply() + kCommit + kBarrier + wait(1) + kAfter + read,
       kOperands + multiply() + done + read, Kind::kAsyncOrder, "may be under way", true},
      {"CommitBeforeTheProduct", kOperands + kCommit + multiply() + wait() + kAfter + read,
       kOperands + multiply() + done + read, Kind::kAsyncOrder, "may be under way"},
      {"NoFenceAfterTheWait", kOperands + multiply() + kCommit + wait() + read,
       kOperands + multiply() + done + read, Kind::kAsyncOrder, "fence::after_thread_sync"},
      {"FenceBeforeTheWaitInsteadOfAfter",
       kOperands + multiply() + kCommit + kAfter + wait() + read,
       kOperands + multiply() + done + read, Kind::kAsyncOrder, "fence::after_thread_sync"},
      {"LoadedRegistersUsedBeforeTheWait", kStore + kWaitStore + kLoad + kUse + kWaitLoad,
       kStore + kWaitStore + kLoad + kWaitLoad + kUse, Kind::kAsyncOrder,
       "tcgen05.wait::ld must come before its first use"},
      {"WaitForStoresInsteadOfLoads", kStore + kWaitStore + kLoad + kWaitStore + kUse + kWaitLoad,
       kStore + kWaitStore + kLoad + kWaitLoad + kUse, Kind::kAsyncOrder, "wait::ld"},
      {"LoadedBeforeTheStoreIsDone", kStore + kLoad + kWaitLoad + kUse + kWaitStore,
       kStore + kWaitStore + kLoad + kWaitLoad + kUse, Kind::kAsyncOrder,
       "tcgen05.wait::st must come between"},
      {"StoredOverALoadUnderWay", kStore + kWaitStore + kLoad + kStore + kWaitLoad + kWaitStore,
       kStore + kWaitStore + kLoad + kWaitLoad + kStore + kWaitStore, Kind::kAsyncOrder,
       "tcgen05.wait::ld must come between"},
      {"ProductOfAStoreThatIsNotDone",
       kOperands +
           "tcgen05.st.sync.aligned.32x32b.x8.b32 [tm], {tid, tid, tid, tid, tid, tid, tid, "
           "tid};\n" +
           kBefore + kBarrier + kAfter + multiply("p2", "x9", "[all]") + kCommit + wait() +
           kWaitStore,
       kOperands +
           "tcgen05.st.sync.aligned.32x32b.x8.b32 [tm], {tid, tid, tid, tid, tid, tid, tid, "
           "tid};\n" +
           kWaitStore + kBefore + kBarrier + kAfter + multiply("p2", "x9", "[all]") + kCommit +
           wait(),
       Kind::kAsyncOrder, "wait::st"},
      {"NoFenceBeforeTheBarrier",
       kOperands + kStore + kWaitStore + kBarrier + kAfter + multiply() + kCommit + wait(),
       kOperands + kStore + kWaitStore + kBefore + kBarrier + kAfter + multiply() + kCommit +
           wait(),
       Kind::kAsyncOrder, "fence::before_thread_sync"},
      {"NoFenceAfterTheBarrier",
       kOperands + kStore + kWaitStore + kBefore + kBarrier + multiply() + kCommit + wait(),
       kOperands + kStore + kWaitStore + kBefore + kBarrier + kAfter + multiply() + kCommit +
           wait(),
       Kind::kAsyncOrder, "fence::after_thread_sync"},
      {"NothingOrdersTheStoreAndTheProduct",
       kOperands + kStore + kWaitStore + kBefore + kAfter + multiply() + kCommit + wait(),
       kOperands + kStore + kWaitStore + kBefore + kBarrier + kAfter + multiply() + kCommit +
           wait(),
       Kind::kRace, "Nothing orders", true},
      {"AccumulatorOverwrittenWhileItIsLoaded",
       kOperands + multiply() + done + kLoad + kBefore + kBarrier + kAfter + multiply() + kCommit +
           wait(1) + kWaitLoad,
       kOperands + multiply() + done + kLoad + kWaitLoad + kBefore + kBarrier + kAfter +
           multiply() + kCommit + wait(1),
       Kind::kAsyncOrder, "wait::ld"},
      {"OperandOverwrittenBeforeTheCommit",
       kOperands + multiply() + kCommit + kBarrier + "@p1 st.shared.b32 [x1], tid;\n" + wait(),
       kOperands + multiply() + kCommit + wait() + kBarrier + "@p1 st.shared.b32 [x1], tid;\n",
       Kind::kRace, "has been overwritten", true},
      {"OperandsWithoutAProxyFence",
       "mad.lo.u32 x1, tid, 16, smem;\nst.shared.v4.b32 [x1], {tid, tid, tid, tid};\n" +
           kOperands.substr(0, kOperands.find("fence.proxy")) +
           kOperands.substr(kOperands.find("bar.sync")) + multiply() + kCommit + wait(),
       kOperands + multiply() + kCommit + wait(), Kind::kMissingProxyFence, "fence.proxy.async"},
      {"LanesOfAnotherWarp", "tcgen05.st.sync.aligned.32x32b.x1.b32 [all], {tid};\n" + kWaitStore,
       kStore + kWaitStore, Kind::kInvalidInstruction, "are not all the warp's own"},
      {"HalfAWarpsLanesTooHigh",
       "add.u32 x1, tm, 1572864;\ntcgen05.st.sync.aligned.16x64b.x1.b32 [x1], {tid};\n" +
           kWaitStore,
       "add.u32 x1, tm, 1048576;\ntcgen05.st.sync.aligned.16x64b.x1.b32 [x1], {tid};\n" +
           kWaitStore,
       Kind::kInvalidInstruction, "are not all the warp's own"},
      {"ColumnsPastTheEnd",
       "add.u32 x1, tm, 511;\ntcgen05.st.sync.aligned.32x32b.x2.b32 [x1], {tid, tid};\n" +
           kWaitStore,
       "add.u32 x1, tm, 510;\ntcgen05.st.sync.aligned.32x32b.x2.b32 [x1], {tid, tid};\n" +
           kWaitStore,
       Kind::kOutOfBounds, "is in no allocation"},
      {"ColumnsNeverWritten", read, kStore + kWaitStore + read, Kind::kUninitialised,
       "was never written"},
      {"AccumulatorNeverWritten", kOperands + multiply("p3") + kCommit + wait(),
       kOperands + multiply() + multiply("p3") + kCommit + wait(), Kind::kUninitialised,
       "enable-input-d"},
      {"AInTensorMemoryNeverWritten", kOperands + multiply("p2", "x9", "[all]") + kCommit + wait(),
       kOperands + multiply("p2", "x9") + kCommit + wait(), Kind::kUninitialised,
       "A in tensor memory was never written"},
      {"ScalesNeverWritten", kOperands + kScaled + kCommit + wait(),
       kOperands +
           "tcgen05.st.sync.aligned.32x32b.x8.b32 [tm], {tid, tid, tid, tid, tid, tid, tid, "
           "tid};\n" +
           kWaitStore + kBefore + kBarrier + kAfter + kScaled + kCommit + wait(),
       Kind::kUninitialised, "the scales of A were never written"},
      {"AllocatedAfterThePermitWasGivenUp",
       "@!p1 bra $l;\ntcgen05.dealloc.cta_group::1.sync.aligned.b32 all, 512;\n"
       "tcgen05.relinquish_alloc_permit.cta_group::1.sync.aligned;\n"
       "tcgen05.alloc.cta_group::1.sync.aligned.shared::cta.b32 [smem], 512;\n$l:\n",
       "@!p1 bra $l;\ntcgen05.dealloc.cta_group::1.sync.aligned.b32 all, 512;\n"
       "tcgen05.alloc.cta_group::1.sync.aligned.shared::cta.b32 [smem], 512;\n"
       "tcgen05.relinquish_alloc_permit.cta_group::1.sync.aligned;\n$l:\n",
       Kind::kInvalidInstruction, "given up the right"},
      {"ColumnsThatAreNoPowerOfTwo",
       "mov.b32 x2, 48;\n@!p1 bra $l;\ntcgen05.dealloc.cta_group::1.sync.aligned.b32 all, 512;\n"
       "tcgen05.alloc.cta_group::1.sync.aligned.shared::cta.b32 [smem], x2;\n$l:\n",
       "mov.b32 x2, 512;\n@!p1 bra $l;\ntcgen05.dealloc.cta_group::1.sync.aligned.b32 all, 512;\n"
       "tcgen05.alloc.cta_group::1.sync.aligned.shared::cta.b32 [smem], x2;\n$l:\n",
       Kind::kInvalidInstruction, "Powers of two"},
      {"FreedTwice", "@!p1 bra $l;\ntcgen05.dealloc.cta_group::1.sync.aligned.b32 all, 512;\n$l:\n",
       "", Kind::kInvalidInstruction, "no allocation of the block is"},
      {"FreedInAnotherSize",
       "@!p1 bra $l;\ntcgen05.dealloc.cta_group::1.sync.aligned.b32 all, 256;\n$l:\n", "",
       Kind::kInvalidInstruction, "no allocation of the block is 256 columns"},
      {"UsedAfterItWasFreed",
       "@!p1 bra $l;\ntcgen05.dealloc.cta_group::1.sync.aligned.b32 all, 512;\n$l:\n" + kBarrier +
           kStore + kWaitStore,
       kStore + kWaitStore, Kind::kUseAfterFree, "has been freed"},
      {"FreedWhileItIsWritten", kOperands + multiply() + kCommit,
       kOperands + multiply() + kCommit + wait(), Kind::kAsyncOrder, "may be under way"},
      {"NeverFreed", "@p1 exit;\nret;\n", "", Kind::kInvalidInstruction,
       "still allocated when the block ends"},
      {"NoRoomLeft",
       "@!p1 bra $l;\ntcgen05.alloc.cta_group::1.sync.aligned.shared::cta.b32 [smem], 32;\n$l:\n",
       "", Kind::kDeadlock, "never free side by side"},
      {"DescriptorOfHopper",
       kOperands + "mov.b64 {x5, x6}, d2;\nxor.b32 x6, x6, 16384;\nmov.b64 d2, {x5, x6};\n" +
           multiply() + kCommit + wait(),
       kOperands + multiply() + kCommit + wait(), Kind::kInvalidInstruction, "Hopper"},
      {"OperandPastSharedMemory",
       kOperands + testing::descriptor("d3", 32768 - 512, 1024, 128) + multiply() + kCommit +
           wait(),
       kOperands + multiply() + kCommit + wait(), Kind::kOutOfBounds, "past the end"},
      {"ShapeThatThereIsNot",
       kOperands + multiply("p2", "all", "d2", std::to_string(1 << 4 | 8 / 8 << 17 | 8 << 24)) +
           kCommit + wait(),
       kOperands + multiply() + kCommit + wait(), Kind::kInvalidInstruction,
       "a shape that this kind does not have"},
      {"TypesOfAnotherKind",
       kOperands +
           multiply("p2", "all", "d2",
                    std::to_string(1 << 4 | 2 << 7 | 2 << 10 | 8 << 17 | 8 << 24)) +
           kCommit + wait(),
       kOperands + multiply() + kCommit + wait(), Kind::kInvalidInstruction,
       "types of factors that this kind"},
      {"AccumulatorInTheWrongLane", kOperands + multiply("p2", "x10") + kCommit + wait(),
       kOperands + multiply() + kCommit + wait(), Kind::kInvalidInstruction,
       "the accumulator begins in lane 16"},
      {"CommitToNoObject",
       kOperands + multiply() +
           "@p0 tcgen05.commit.cta_group::1.mbarrier::arrive::one.shared::cluster.b64 [smem];\n",
       kOperands + multiply() + kCommit + wait(), Kind::kMbarrierMisuse, "is not initialised"},
  };
}

Outcome run(const std::string& body, std::uint64_t seed) {
  Machine gpu;
  gpu.config.compute_capability = 100;
  gpu.config.schedule_seed = seed;
  gpu.load_text(
      tensor_kernel("add.u32 x9, all, 64;\nadd.u32 x10, all, 1048576;\n"
                    "add.u32 x11, all, 4;\n" +
                    body));
  const auto out = gpu.buffer(std::vector<std::uint32_t>(128 * 512), "out");
  return gpu.launch("k", 1, 128, out, out);
}

void PrintTo(const Pair& pair, std::ostream* out) { *out << pair.name; }

class TensorOrder : public ::testing::TestWithParam<Pair> {};

TEST_P(TensorOrder, TheMistakeIsFoundAndItsControlIsClean) {
  for (const std::uint64_t seed : {0, 1, 2}) {
    const Outcome good = run(GetParam().right, seed);
    EXPECT_TRUE(good.findings.empty()) << "schedule " << seed << "\n" << text(good);
    if (GetParam().of_default_schedule && seed != 0) continue;
    const Outcome bad = run(GetParam().mistake, seed);
    ASSERT_FALSE(bad.findings.empty()) << "schedule " << seed;
    EXPECT_EQ(bad.findings[0].kind, GetParam().kind) << "schedule " << seed << "\n" << text(bad);
    EXPECT_THAT(bad.findings[0].to_string(), ::testing::HasSubstr(GetParam().words));
  }
}

INSTANTIATE_TEST_SUITE_P(Pairs, TensorOrder, ::testing::ValuesIn(pairs()),
                         [](const auto& info) { return info.param.name; });

// DeepGEMM's kernels for sm_100 pass the address of lane 0 to every warp: hardware then accesses
// the warp's own lanes.
TEST(TensorLanes, AWarpThatNamesOthersGoesOnWithItsOwn) {
  Machine gpu;
  gpu.config.compute_capability = 100;
  gpu.config.go_on = true;
  gpu.load_text(tensor_kernel("tcgen05.st.sync.aligned.32x32b.x1.b32 [all], {tid};\n" + kWaitStore +
                              "tcgen05.ld.sync.aligned.32x32b.x1.b32 {r0}, [tm];\n" + kWaitLoad +
                              "st.global.b32 [mine], r0;\n"));
  const auto out = gpu.buffer(std::vector<std::uint32_t>(128 * 512), "out");
  const Outcome o = gpu.launch("k", 1, 128, out, out);
  ASSERT_EQ(o.findings.size(), 1u) << text(o);
  EXPECT_EQ(o.findings[0].kind, Kind::kInvalidInstruction);
  EXPECT_TRUE(o.findings[0].survived);
  const auto words = gpu.fetch<std::uint32_t>(out, 128 * 512);
  for (std::uint32_t t = 0; t < 128; ++t) EXPECT_EQ(words[t * 512], t);
}

}  // namespace tensor_order_test
}  // namespace lockstep::engine
