// One tcgen05.mma by one block or a pair, for tests that compare all of tensor memory with their
// own model. The test determines the layout of factors, scales and accumulator.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "simulator/engine/tests/tensor_kernels.h"

namespace lockstep::engine::testing {

// A block's data. Its shared memory: A from byte 0 on, B from kSharedB on. Its tensor memory, as
// words by lane: A from column kColumnA on, the scales of rows and columns, the metadata of a
// sparse A, and the first columns of the accumulator.
struct TensorBlock {
  static constexpr int kShared = 32768, kSharedB = 16384, kLanes = 128;
  static constexpr int kOfA = 12, kOfRows = 8, kOfColumns = 16, kOfMetadata = 2;
  std::vector<std::uint8_t> shared = std::vector<std::uint8_t>(kShared);
  std::vector<std::uint32_t> a = std::vector<std::uint32_t>(kLanes * kOfA),
                             rows = std::vector<std::uint32_t>(kLanes * kOfRows),
                             columns = std::vector<std::uint32_t>(kLanes * kOfColumns),
                             metadata = std::vector<std::uint32_t>(kLanes * kOfMetadata);
};

struct TensorProductKernel {
  std::string instruction;  // from "tcgen05.mma" up to the operands
  bool paired = false, a_in_tensor_memory = false, scaled = false, accumulates = false;
  bool sparse = false;
  std::uint32_t descriptor = 0;
  std::string describe_a, describe_b;     // PTX that sets d2, d3; empty: no swizzle
  int a_rows = 0, b_rows = 0;             // of one block
  int columns = 0;                        // columns of tensor memory of D
  std::string target = "sm_100a", after;  // further operands

  // Kernel k(in, out) of one or two blocks of four warps. `in`: each block's shared, a, rows,
  // columns and metadata, in this order. `out`: 512 words for each lane, block after block; the
  // first `columns` of a lane are D's. Element (lane, column) of D starts as lane + column, in f32.
  std::string text() const {
    constexpr int kColumnD = 16, kColumnA = 300, kRows = 340, kColumns = 350, kMetadata = 370;
    using B = TensorBlock;
    constexpr int kWords = B::kOfA + B::kOfRows + B::kOfColumns + B::kOfMetadata;
    constexpr int kBlock = TensorBlock::kShared + TensorBlock::kLanes * 4 * kWords;
    std::string s =
        "mov.u32 x10, %cluster_ctarank;\nsetp.eq.and.u32 p4, x10, 0, p0;\n"
        "mul.wide.u32 d9, x10, " +
        std::to_string(kBlock) +
        ";\nadd.u64 d9, d9, in0;\n"
        "mad.wide.u32 d1, tid, 256, d9;\nmad.lo.u32 x1, tid, 256, smem;\n";
    for (int i = 0; i < 256; i += 16)
      s += "ld.global.v4.b32 {r0, r1, r2, r3}, [d1+" + std::to_string(i) +
           "];\nst.shared.v4.b32 [x1+" + std::to_string(i) + "], {r0, r1, r2, r3};\n";
    const auto words = [&](int from, int count, int column) {
      s += "mad.wide.u32 d1, tid, " + std::to_string(4 * count) + ", d9;\n";
      for (int i = 0; i < count; ++i)
        s += "ld.global.b32 r0, [d1+" + std::to_string(from + 4 * i) + "];\nadd.u32 x2, tm, " +
             std::to_string(column + i) + ";\ntcgen05.st.sync.aligned.32x32b.x1.b32 [x2], {r0};\n";
    };
    constexpr int kLane = 4 * TensorBlock::kLanes;
    int from = B::kShared;
    if (a_in_tensor_memory) words(from, B::kOfA, kColumnA);
    from += B::kOfA * kLane;
    if (scaled) {
      words(from, B::kOfRows, kRows);
      words(from + B::kOfRows * kLane, B::kOfColumns, kColumns);
    }
    from += (B::kOfRows + B::kOfColumns) * kLane;
    if (sparse) words(from, B::kOfMetadata, kMetadata);
    for (int n = 0; accumulates && n < columns; ++n)
      s += "add.u32 x2, tm, " + std::to_string(kColumnD + n) + ";\nadd.u32 r0, tid, " +
           std::to_string(n) +
           ";\ncvt.rn.f32.u32 r0, r0;\ntcgen05.st.sync.aligned.32x32b.x1.b32 [x2], {r0};\n";
    s += "tcgen05.wait::st.sync.aligned;\ntcgen05.fence::before_thread_sync;\n"
         "fence.proxy.async;\n" +
         barrier() + "tcgen05.fence::after_thread_sync;\n";
    s += describe_a.empty() ? testing::descriptor("d2", 0, 16 * a_rows, 128) : describe_a;
    s += describe_b.empty() ? testing::descriptor("d3", B::kSharedB, 16 * b_rows, 128) : describe_b;
    s += "add.u32 x5, all, " + std::to_string(kColumnD) + ";\nadd.u32 x6, all, " +
         std::to_string(kColumnA) + ";\nmov.b32 x7, " + std::to_string(descriptor) +
         ";\nadd.u32 x8, all, " + std::to_string(kRows) + ";\nadd.u32 x9, all, " +
         std::to_string(kColumns) + ";\nadd.u32 x11, all, " + std::to_string(kMetadata) + ";\n";
    s += std::string("setp.ne.u32 p2, tid, ") + (accumulates ? "77" : "tid") + ";\n";
    s += "@p4 " + instruction + " [x5], " + (a_in_tensor_memory ? "[x6]" : "d2") + ", d3, " +
         (sparse ? "[x11], " : "") + "x7, " + (scaled ? "[x8], [x9], " : "") + "p2" + after + ";\n";
    s += paired ? "mov.b16 h0, 3;\n@p4 tcgen05.commit.cta_group::1.mbarrier::arrive::one."
                  "shared::cluster.multicast::cluster.b64 [s1], h0;\n"
                : "@p4 tcgen05.commit.cta_group::1.mbarrier::arrive::one.shared::cluster.b64 "
                  "[s1];\n";
    s += "$product:\nmbarrier.try_wait.parity.shared.b64 p9, [s1], 0;\n@!p9 bra $product;\n"
         "tcgen05.fence::after_thread_sync;\n";
    for (int n = 0; n < columns; n += 4) {
      s += "add.u32 x2, tm, " + std::to_string(kColumnD + n) +
           ";\ntcgen05.ld.sync.aligned.32x32b.x4.b32 {r0, r1, r2, r3}, [x2];\n"
           "tcgen05.wait::ld.sync.aligned;\nst.global.v4.b32 [mine+" +
           std::to_string(4 * n) + "], {r0, r1, r2, r3};\n";
    }
    s += barrier();
    std::string all = tensor_kernel(s, target);
    const auto replace = [&](const std::string& from, const std::string& to) {
      for (std::size_t at = 0; (at = all.find(from, at)) != all.npos; at += to.size())
        all.replace(at, from.size(), to);
    };
    replace(".shared .align 1024", ".reg .b16 h<2>;\n.shared .align 1024");
    replace("mad.wide.u32 mine, tid, 2048, d0;",
            "mov.u32 x0, %cluster_ctarank;\nmad.lo.u32 x0, x0, 128, tid;\n"
            "mad.wide.u32 mine, x0, 2048, d0;");
    if (paired) replace("cta_group::1", "cta_group::2");
    return all;
  }

  std::string barrier() const {
    return paired ? "barrier.cluster.arrive.aligned;\nbarrier.cluster.wait.aligned;\n"
                  : "bar.sync 0;\n";
  }

  // Runs the kernel. Returns its outcome, and the contents of `out`.
  Outcome run(Machine& gpu, const std::vector<TensorBlock>& blocks,
              std::vector<std::uint32_t>& out) const {
    std::vector<std::uint8_t> in;
    const auto add = [&](const auto& v) {
      const auto* bytes = reinterpret_cast<const std::uint8_t*>(v.data());
      in.insert(in.end(), bytes, bytes + v.size() * sizeof v[0]);
    };
    for (const TensorBlock& b : blocks)
      add(b.shared), add(b.a), add(b.rows), add(b.columns), add(b.metadata);
    gpu.config.compute_capability = target.substr(0, 6) == "sm_103" ? 103 : 100;
    const auto count = static_cast<unsigned>(blocks.size());
    gpu.config.cluster = {count, 1, 1};
    gpu.load_text(text());
    const auto from = gpu.buffer(in, "in");
    const auto to = gpu.buffer(std::vector<std::uint32_t>(count * 128 * 512), "out");
    Outcome o = gpu.launch("k", count, 128, from, to);
    out = gpu.fetch<std::uint32_t>(to, count * 128 * 512);
    return o;
  }
};

}  // namespace lockstep::engine::testing
