// The tensor memory instructions of tensor_matmul. Each is a step that a known-bad kernel may
// replace. kBlocks: 1, or 2 if a pair of blocks multiplies as one (.cta_group::2). Compute
// capability 10.0 and 10.3 (compute_100f).
#pragma once

#include <cstdint>

#include "kernels/tensor_matmul_boxes.cuh"

namespace lockstep::kernels::by_tcgen05 {

constexpr int kRowsOfMemory = 128;  // lanes of tensor memory: rows of D that a block has
constexpr int kAtOnce = 16;         // columns that a warp loads or stores by one instruction

// An instruction for one block or two; `rest` is the text after .cta_group::N.
#define LOCKSTEP_TCGEN05(blocks, name, rest, ...)                                  \
  do {                                                                             \
    if constexpr ((blocks) == 1) {                                                 \
      asm volatile("tcgen05." name ".cta_group::1" rest ::__VA_ARGS__ : "memory"); \
    } else {                                                                       \
      asm volatile("tcgen05." name ".cta_group::2" rest ::__VA_ARGS__ : "memory"); \
    }                                                                              \
  } while (0)

// d[first] to d[first + 15], as operands of constraint `c`.
#define LOCKSTEP_TCGEN05_4(c, d, i) c(d[i]), c(d[i + 1]), c(d[i + 2]), c(d[i + 3])
#define LOCKSTEP_TCGEN05_16(c, d)                                                        \
  LOCKSTEP_TCGEN05_4(c, d, 0), LOCKSTEP_TCGEN05_4(c, d, 4), LOCKSTEP_TCGEN05_4(c, d, 8), \
      LOCKSTEP_TCGEN05_4(c, d, 12)

struct Tcgen05 : AsyncSteps {
  // Executed by a whole warp: allocates columns, a power of two from 32, and frees them. Stores
  // their address to shared memory at `to`.
  template <int kBlocks>
  __device__ static void allocate(unsigned to, unsigned columns) {
    LOCKSTEP_TCGEN05(kBlocks, "alloc", ".sync.aligned.shared::cta.b32 [%0], %1;", "r"(to),
                     "r"(columns));
  }
  template <int kBlocks>
  __device__ static void relinquish() {
    if constexpr (kBlocks == 1) {
      asm volatile("tcgen05.relinquish_alloc_permit.cta_group::1.sync.aligned;" ::: "memory");
    } else {
      asm volatile("tcgen05.relinquish_alloc_permit.cta_group::2.sync.aligned;" ::: "memory");
    }
  }
  template <int kBlocks>
  __device__ static void free(unsigned at, unsigned columns) {
    LOCKSTEP_TCGEN05(kBlocks, "dealloc", ".sync.aligned.b32 %0, %1;", "r"(at), "r"(columns));
  }

  // Before and after synchronisation of threads: before a barrier or an arrival, and after a
  // barrier or a wait.
  __device__ static void fence_before() {
    asm volatile("tcgen05.fence::before_thread_sync;" ::: "memory");
  }
  __device__ static void fence_after() {
    asm volatile("tcgen05.fence::after_thread_sync;" ::: "memory");
  }

  // A warp's 32 lanes of 16 columns.
  __device__ static void store(unsigned at, const unsigned (&r)[kAtOnce]) {
    asm volatile(
        "tcgen05.st.sync.aligned.32x32b.x16.b32 [%0], {%1, %2, %3, %4, %5, %6, %7, %8, %9, %10, "
        "%11, %12, %13, %14, %15, %16};" ::"r"(at),
        LOCKSTEP_TCGEN05_16("r", r)
        : "memory");
  }
  __device__ static void wait_for_stores() {
    asm volatile("tcgen05.wait::st.sync.aligned;" ::: "memory");
  }
  __device__ static void load(unsigned (&r)[kAtOnce], unsigned at) {
    asm volatile(
        "tcgen05.ld.sync.aligned.32x32b.x16.b32 {%0, %1, %2, %3, %4, %5, %6, %7, %8, %9, %10, "
        "%11, %12, %13, %14, %15}, [%16];"
        : LOCKSTEP_TCGEN05_16("=r", r)
        : "r"(at)
        : "memory");
  }
  // The registers are operands, so that the compiler does not use them before the wait.
  __device__ static void wait_for_loads(unsigned (&r)[kAtOnce]) {
    asm volatile("tcgen05.wait::ld.sync.aligned;" : LOCKSTEP_TCGEN05_16("+r", r)::"memory");
  }
  // The quarter of the lanes that a warp accesses.
  __device__ static unsigned quarter(unsigned warp) { return warp % 4; }

  // The descriptor of a tile whose rows of kRowBytes are swizzled over their whole length. Its
  // fields, in units of 16 bytes: the address, a field that such rows ignore, and the distance from
  // eight rows to the next eight.
  template <int kRowBytes>
  __device__ static std::uint64_t descriptor(unsigned tile) {
    constexpr std::uint64_t kSwizzle = kRowBytes == 128 ? 2 : 4;
    return (tile & 0x3ffff) >> 4 | std::uint64_t{1} << 16 |
           std::uint64_t{8 * kRowBytes / 16} << 32 | std::uint64_t{1} << 46 | kSwizzle << 61;
  }
  // The instruction descriptor for rows x columns of f32 results, from factors of this type that
  // are contiguous along k.
  template <MatrixElement kElement>
  __device__ static constexpr unsigned instruction(int rows, int columns) {
    constexpr unsigned kType = kElement == MatrixElement::kBf16   ? 1
                               : kElement == MatrixElement::kTf32 ? 2
                                                                  : 0;
    return 1u << 4 | kType << 7 | kType << 10 | static_cast<unsigned>(columns) / 8 << 17 |
           static_cast<unsigned>(rows) / 16 << 24;
  }
  // Whether the first product is added to the columns, which hold C.
  __device__ static constexpr bool adds_to_c() { return true; }
  // Executed by one thread: D = A * B, or D + A * B. Asynchronous until a commit of the thread has
  // completed.
  template <int kBlocks, MatrixElement kElement>
  __device__ static void multiply(unsigned d, std::uint64_t a, std::uint64_t b,
                                  unsigned instruction, bool accumulates) {
    const auto adds = static_cast<unsigned>(accumulates);
#define LOCKSTEP_TCGEN05_MMA(blocks, kind)            \
  asm volatile(                                       \
      "{\n"                                           \
      ".reg .pred adds;\n"                            \
      "setp.ne.u32 adds, %4, 0;\n"                    \
      "tcgen05.mma.cta_group::" blocks ".kind::" kind \
      " [%0], %1, %2, %3, adds;\n"                    \
      "}" ::"r"(d),                                   \
      "l"(a), "l"(b), "r"(instruction), "r"(adds)     \
      : "memory")
#define LOCKSTEP_TCGEN05_KIND(kind)    \
  do {                                 \
    if constexpr (kBlocks == 1) {      \
      LOCKSTEP_TCGEN05_MMA("1", kind); \
    } else {                           \
      LOCKSTEP_TCGEN05_MMA("2", kind); \
    }                                  \
  } while (0)
    if constexpr (kElement == MatrixElement::kTf32) {
      LOCKSTEP_TCGEN05_KIND("tf32");
    } else if constexpr (kElement == MatrixElement::kE4m3) {
      LOCKSTEP_TCGEN05_KIND("f8f6f4");
    } else {
      LOCKSTEP_TCGEN05_KIND("f16");
    }
#undef LOCKSTEP_TCGEN05_KIND
#undef LOCKSTEP_TCGEN05_MMA
  }
  // Arrives at the mbarrier, in each block of a pair, when the thread's earlier operations have
  // completed.
  template <int kBlocks>
  __device__ static void commit(unsigned barrier) {
    if constexpr (kBlocks == 1) {
      asm volatile(
          "tcgen05.commit.cta_group::1.mbarrier::arrive::one.shared::cluster.b64 [%0];" ::"r"(
              barrier)
          : "memory");
    } else {
      constexpr unsigned short kBoth = 3;
      asm volatile(
          "tcgen05.commit.cta_group::2.mbarrier::arrive::one.shared::cluster.multicast::cluster."
          "b64 [%0], %1;" ::"r"(barrier),
          "h"(kBoth)
          : "memory");
    }
  }
  // The same for a stage that may be filled again.
  template <int kBlocks>
  __device__ static void commit_stage(unsigned barrier) {
    commit<kBlocks>(barrier);
  }
  // Waits for a stage's products; for every thread that reads them or fills the stage again.
  __device__ static void wait_for_products(unsigned barrier, unsigned round) {
    wait(barrier, full_parity(round));
  }
  // Waits for C in an accumulator.
  __device__ static void wait_for_c(unsigned barrier, unsigned round) {
    wait(barrier, full_parity(round));
  }
  // The first column of an accumulator.
  __device__ static unsigned column_of(unsigned accumulator, int columns) {
    return accumulator * static_cast<unsigned>(columns);
  }
  // Whether D has this row or column.
  __device__ static bool has(std::int64_t index, std::int64_t count) { return index < count; }

  // Tries to cancel a cluster of the grid that has not begun. The response, 16 bytes, is written to
  // each block of this cluster and counted on a barrier there.
  template <int kBlocks>
  __device__ static void try_cancel(unsigned answer, unsigned barrier) {
    if constexpr (kBlocks == 1) {
      asm volatile(
          "clusterlaunchcontrol.try_cancel.async.shared::cta.mbarrier::complete_tx::bytes.b128 "
          "[%0], [%1];" ::"r"(answer),
          "r"(barrier)
          : "memory");
    } else {
      asm volatile(
          "clusterlaunchcontrol.try_cancel.async.shared::cta.mbarrier::complete_tx::bytes."
          "multicast::cluster::all.b128 [%0], [%1];" ::"r"(answer),
          "r"(barrier)
          : "memory");
    }
  }
  template <int kBlocks>
  __device__ static void expect_answer(unsigned barrier, unsigned block) {
    constexpr unsigned kBytes = 16;
    if constexpr (kBlocks == 1) {
      arrive_expecting(barrier, kBytes);
    } else {
      asm volatile(
          "{\n"
          ".reg .b32 there;\n"
          "mapa.shared::cluster.u32 there, %0, %1;\n"
          "mbarrier.arrive.expect_tx.release.cluster.shared::cluster.b64 _, [there], %2;\n"
          "}" ::"r"(barrier),
          "r"(block), "r"(kBytes)
          : "memory");
    }
  }
  __device__ static void wait_for_answer(unsigned barrier, unsigned round) {
    wait(barrier, full_parity(round));
  }
  // The first block, by x, of the cancelled cluster; -1: none was cancelled.
  __device__ static int first_block_of(unsigned answer) {
    int first;
    asm volatile(
        "{\n"
        ".reg .b128 answer;\n"
        ".reg .pred cancelled;\n"
        "ld.shared::cta.b128 answer, [%1];\n"
        "clusterlaunchcontrol.query_cancel.is_canceled.pred.b128 cancelled, answer;\n"
        "mov.s32 %0, -1;\n"
        "@cancelled clusterlaunchcontrol.query_cancel.get_first_ctaid::x.b32.b128 %0, answer;\n"
        "}"
        : "=&r"(first)
        : "r"(answer)
        : "memory");
    return first;
  }
};

}  // namespace lockstep::kernels::by_tcgen05
