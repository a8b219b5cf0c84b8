// Mutants of the product by wgmma: the real kernel with one step replaced by a typical mistake,
// some of them from published kernels. Mistakes that need a cluster run on tiles of 64 x 64 in
// clusters of two blocks.
#include "kernels/tensor_matmul_wgmma.cuh"
#include "tests/known_bad/tensor_matmul.h"

namespace lockstep::known_bad {
namespace {

using kernels::kGroup;
using kernels::LaunchStatus;
using kernels::MatrixElement;
using kernels::TensorMatmulPath;
using kernels::TensorView;
using kernels::by_wgmma::Pair;
using kernels::by_wgmma::Shape;
using kernels::by_wgmma::Small;
using kernels::by_wgmma::Wgmma;
using In = TensorView<const void>;
using Out = TensorView<void>;

constexpr const char* kWho = "known-bad tensor_matmul";
// One stage: a warp does nothing between its reads of a stage and the next fill of that
// stage.
using OneStage = Shape<1, 64, 64, 1, 1>;

// This kernel handles f16 by wgmma on tiles of 64 x 64; the real kernel handles everything else.
template <class Step, class S>
LaunchStatus with(TensorMatmulPath path, MatrixElement element, const In& a, const In& b,
                  const In& c, const Out& d, cudaStream_t stream) {
  if (path != TensorMatmulPath::kWgmma || element != MatrixElement::kF16)
    return kernels::tensor_matmul(path, element, a, b, c, d, stream);
  if (LaunchStatus status = kernels::check_tensor_matmul(path, element, a, b, c, d);
      !status.ok() || d.rows == 0 || d.columns == 0)
    return status;
  return kernels::status_of(kernels::by_wgmma::launch<Step, S, MatrixElement::kF16>(
                                kernels::arguments_of(a, b, c, d), stream),
                            kWho, "launching");
}

// ---- Mistakes with wgmma itself.

struct NoFence : Wgmma {
  __device__ static void fence() {}
};

struct NoCommit : Wgmma {
  __device__ static void commit() {}
};

struct OneGroupLeft : Wgmma {
  __device__ static void wait_for_products() { wait_for_group<1>(); }
};

struct ReleasesBeforeTheWait : Wgmma {
  __device__ static constexpr bool releases_before_the_wait() { return true; }
};

struct OneWarpReleases : Wgmma {
  template <class S>
  __device__ static constexpr unsigned releasing_warps() {
    return S::kConsumers * S::kBlocks;
  }
  __device__ static bool releases(int warp, unsigned, unsigned) { return warp == 0; }
};

struct SwizzleOf128 : Wgmma {
  template <int kRowBytes>
  __device__ static std::uint64_t descriptor(unsigned tile) {
    return (Wgmma::descriptor<kRowBytes>(tile) & ~(std::uint64_t{3} << 62)) | std::uint64_t{1}
                                                                                  << 62;
  }
};

struct NoSwizzle : Wgmma {
  template <int kRowBytes>
  __device__ static std::uint64_t descriptor(unsigned tile) {
    return Wgmma::descriptor<kRowBytes>(tile) & ~(std::uint64_t{3} << 62);
  }
};

struct StrideOfOneRow : Wgmma {
  template <int kRowBytes>
  __device__ static std::uint64_t descriptor(unsigned tile) {
    return (Wgmma::descriptor<kRowBytes>(tile) & ~(std::uint64_t{0x3fff} << 32)) |
           std::uint64_t{kRowBytes / 16} << 32;
  }
};

// ---- Mistakes with the barriers.

struct FullParityTurned : Wgmma {
  __device__ static void wait_for_full(unsigned barrier, unsigned round) {
    wait(barrier, full_parity(round) ^ 1);
  }
};

struct EmptyParityTurned : Wgmma {
  __device__ static void wait_for_empty(unsigned barrier, unsigned round) {
    wait(barrier, empty_parity(round) ^ 1);
  }
};

struct NeverWaitsForEmpty : Wgmma {
  __device__ static void wait_for_empty(unsigned, unsigned) {}
};

struct ExpectsTooFewBytes : Wgmma {
  __device__ static unsigned expected(unsigned bytes) { return bytes / 2; }
};

struct ExpectsTooManyBytes : Wgmma {
  __device__ static unsigned expected(unsigned bytes) { return bytes + 128; }
};

struct CoordinatesSwapped : Wgmma {
  __device__ static void copy_box(unsigned to, const CUtensorMap* map, int element, int row,
                                  unsigned barrier) {
    Wgmma::copy_box(to, map, row, element, barrier);
  }
};

// ---- Mistakes with ordinary stores that wgmma reads.

struct NoProxyFence : Wgmma {
  __device__ static void publish_stores() {}
};

struct OneThreadArrivesForAll : Wgmma {
  __device__ static void publish_stores() {
    if (threadIdx.x % kGroup == 0) Wgmma::publish_stores();
  }
  __device__ static constexpr unsigned copying_threads() { return 1; }
  __device__ static bool arrives_for_its_stores(int thread) { return thread == 0; }
};

// ---- Mistakes in a cluster.

struct JoinsItsBlockAlone : Wgmma {
  __device__ static void join_cluster() { __syncthreads(); }
};

struct LeavesAtOnce : Wgmma {
  __device__ static void leave_cluster() {}
};

struct CopiesToTheFirstBlockAlone : Wgmma {
  __device__ static void copy_box_to_all(unsigned to, const CUtensorMap* map, int element, int row,
                                         unsigned barrier, unsigned) {
    Wgmma::copy_box_to_all(to, map, element, row, barrier, 1);
  }
};

// ---- No mistake.

// A copy's bytes may arrive before expect_tx: the phase waits for the pending arrival.
struct ArmsAfterTheCopies : Wgmma {
  __device__ static constexpr bool arms_before_the_copies() { return false; }
};

}  // namespace

Mutants<TensorMatmulLauncher> tensor_matmul_wgmma_mutants() {
  const Labels order = {"finding:async-order"}, wrong = {"mismatch", "law"},
               early = {"finding:race", "finding:uninitialised"};
  const char* const in_time = "hardware is mostly done in time";
  const char* const hangs = "the kernel never ends";
  return {
      {"no_fence",
       "no wgmma.fence before the multiplications",
       with<NoFence, Small>,
       order,
       {},
       "ptxas orders what it sees"},
      {"no_commit",
       "no wgmma.commit_group: there is no group to wait for",
       with<NoCommit, Small>,
       {"finding:async-order", "finding:race"},
       {},
       in_time},
      {"one_group_left",
       "reads the accumulator with the last group still under way",
       with<OneGroupLeft, Small>,
       {"finding:async-order", "finding:race"},
       {},
       in_time},
      {"releases_before_the_wait",
       "hands the stage back before wgmma has read it",
       with<ReleasesBeforeTheWait, OneStage>,
       {"finding:race"},
       {},
       in_time},
      {"swizzle_of_128",
       "the descriptor names another swizzle than the copy had",
       with<SwizzleOf128, Small>,
       {"mismatch", "finding:out-of-bounds", "finding:uninitialised", "finding:race"},
       wrong},
      {"no_swizzle",
       "the descriptor names no swizzle; its offsets are not those of such a tile either",
       with<NoSwizzle, Small>,
       {"mismatch", "law", "finding:out-of-bounds", "finding:uninitialised", "finding:race"},
       wrong},
      {"stride_of_one_row", "the descriptor's stride goes to the next row, not to the next eight",
       with<StrideOfOneRow, Small>, wrong, wrong},
      {"full_parity_turned",
       "waits for the phase before the one that fills the stage",
       with<FullParityTurned, Small>,
       early,
       {},
       in_time},
      {"empty_parity_turned",
       "waits for stages to become empty that nobody has filled",
       with<EmptyParityTurned, Small>,
       {"finding:deadlock"},
       {},
       hangs},
      {"never_waits_for_empty",
       "fills stages that are still read",
       with<NeverWaitsForEmpty, Small>,
       // Phases that complete too early have passed before their readers wait.
       {"finding:race", "finding:mbarrier-misuse", "finding:deadlock"},
       {},
       in_time},
      {"expects_too_few_bytes",
       "expect_tx of half the bytes",
       with<ExpectsTooFewBytes, Small>,
       {"finding:race", "finding:uninitialised", "finding:mbarrier-misuse", "finding:deadlock"},
       {},
       "the phases that complete early are mostly right, and then the kernel may never end"},
      {"expects_too_many_bytes",
       "expect_tx of bytes that never come",
       with<ExpectsTooManyBytes, Small>,
       {"finding:deadlock"},
       {},
       hangs},
      {"coordinates_swapped",
       "a box's coordinates in the order of rows and columns",
       with<CoordinatesSwapped, Small>,
       {"mismatch", "law", "finding:invalid-instruction"},
       {},
       "coordinates that no box may have end the kernel, and with it the process's context"},
      {"no_proxy_fence",
       "no fence.proxy.async between ordinary stores and the wgmma that reads them",
       with<NoProxyFence, Small>,
       {"finding:missing-proxy-fence"},
       {},
       in_time},
      {"one_thread_arrives_for_all",
       "one thread fences and arrives for the stores of 128, and releases its own alone",
       with<OneThreadArrivesForAll, Small>,
       {"finding:race", "finding:uninitialised", "finding:missing-proxy-fence"},
       {},
       in_time},
      {"joins_its_block_alone",
       "copies to the other block's barrier before it is there",
       with<JoinsItsBlockAlone, Pair>,
       {"finding:mbarrier-misuse", "finding:race"},
       {},
       in_time},
      {"leaves_at_once",
       "exits while the other block still arrives at its barriers",
       with<LeavesAtOnce, Pair>,
       {"finding:use-after-free"},
       {},
       in_time},
      {"copies_to_the_first_block_alone",
       "a multicast's mask names one block of two",
       with<CopiesToTheFirstBlockAlone, Pair>,
       {"finding:deadlock", "finding:mbarrier-misuse"},
       {},
       hangs},
      // Negative controls.
      {"in_steps", "the unchanged steps from which the mutants are made", with<Wgmma, Small>},
      {"arms_after_the_copies",
       "two blocks share tiles of 64 x 64, and expect bytes after the copies",
       with<ArmsAfterTheCopies, Pair>},
      {"one_stage", "a ring of one stage", with<Wgmma, OneStage>},
      // A multiplication belongs to the warpgroup: once one warp has waited for it, all four warps
      // have read its operands.
      {"one_warp_releases", "one warp hands the stage back for all four",
       with<OneWarpReleases, OneStage>},
      {"wide_rows", "two stages of 128 bytes of each row", with<Wgmma, Shape<1, 64, 128, 2, 1>>},
  };
}

}  // namespace lockstep::known_bad
