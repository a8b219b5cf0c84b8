// Mutants of the product by tcgen05: the real kernel with one step replaced by a typical mistake.
// They replace a step of the plain kernel, or, for mistakes that it cannot show, of the
// warp-specialised kernel or of the kernel for a pair of blocks.
#include "kernels/tensor_matmul_tcgen05_ring.cuh"
#include "tests/known_bad/tensor_matmul.h"

namespace lockstep::known_bad {
namespace {

using kernels::LaunchStatus;
using kernels::MatrixElement;
using kernels::TensorMatmulArguments;
using kernels::TensorMatmulPath;
using kernels::TensorView;
using kernels::by_tcgen05::kAtOnce;
using kernels::by_tcgen05::Paired;
using kernels::by_tcgen05::Plain;
using kernels::by_tcgen05::Ringed;
using kernels::by_tcgen05::Shape;
using kernels::by_tcgen05::Tcgen05;
using In = TensorView<const void>;
using Out = TensorView<void>;

constexpr const char* kWho = "known-bad tensor_matmul";

// kLaunch handles f16 by this path; the real kernel handles everything else.
template <TensorMatmulPath kPath, auto kLaunch>
LaunchStatus instead(TensorMatmulPath path, MatrixElement element, const In& a, const In& b,
                     const In& c, const Out& d, cudaStream_t stream) {
  if (path != kPath || element != MatrixElement::kF16)
    return kernels::tensor_matmul(path, element, a, b, c, d, stream);
  if (LaunchStatus status = kernels::check_tensor_matmul(path, element, a, b, c, d);
      !status.ok() || d.rows == 0 || d.columns == 0)
    return status;
  return kernels::status_of(kLaunch(kernels::arguments_of(a, b, c, d), stream), kWho, "launching");
}

template <class Step, class S = Plain>
constexpr auto* kPlain =
    instead<TensorMatmulPath::kTcgen05, kernels::by_tcgen05::launch<Step, S, MatrixElement::kF16>>;
template <class Step, class S = Ringed>
constexpr auto* kRing =
    instead<TensorMatmulPath::kTcgen05Ring,
            kernels::by_tcgen05::launch_with_roles<Step, S, MatrixElement::kF16>>;
template <class Step, class S = Paired>
constexpr auto* kPair =
    instead<TensorMatmulPath::kTcgen05Pair,
            kernels::by_tcgen05::launch_with_roles<Step, S, MatrixElement::kF16>>;

// ---- Mistakes in waiting for Tensor Memory.

struct NoWaitForProducts : Tcgen05 {
  __device__ static void wait_for_products(unsigned, unsigned) {}
};

struct ParityOfProductsTurned : Tcgen05 {
  __device__ static void wait_for_products(unsigned barrier, unsigned round) {
    wait(barrier, full_parity(round) ^ 1);
  }
};

struct NoCommit : Tcgen05 {
  template <int kBlocks>
  __device__ static void commit(unsigned) {}
};

struct NoWaitForLoads : Tcgen05 {
  __device__ static void wait_for_loads(unsigned (&)[kAtOnce]) {}
};

struct NoWaitForStores : Tcgen05 {
  __device__ static void wait_for_stores() {}
};

struct NoFenceBefore : Tcgen05 {
  __device__ static void fence_before() {}
};

struct NoFenceAfter : Tcgen05 {
  __device__ static void fence_after() {}
};

// ---- Mistakes with columns and lanes.

struct LanesOfAnotherWarp : Tcgen05 {
  __device__ static unsigned quarter(unsigned warp) { return 3 - warp % 4; }
};

struct NeverFrees : Tcgen05 {
  template <int kBlocks>
  __device__ static void free(unsigned, unsigned) {}
};

struct FreesHalf : Tcgen05 {
  template <int kBlocks>
  __device__ static void free(unsigned at, unsigned columns) {
    Tcgen05::free<kBlocks>(at, columns / 2);
  }
};

struct AllocatesHalf : Tcgen05 {
  template <int kBlocks>
  __device__ static void allocate(unsigned to, unsigned columns) {
    Tcgen05::allocate<kBlocks>(to, columns / 2);
  }
  template <int kBlocks>
  __device__ static void free(unsigned at, unsigned columns) {
    Tcgen05::free<kBlocks>(at, columns / 2);
  }
};

struct AccumulatorsOverlap : Tcgen05 {
  __device__ static unsigned column_of(unsigned accumulator, int columns) {
    return accumulator * static_cast<unsigned>(columns) / 2;
  }
};

// ---- Mistakes in descriptors.

template <std::uint64_t kClear, std::uint64_t kSet>
struct DescriptorWith : Tcgen05 {
  template <int kRowBytes>
  __device__ static std::uint64_t descriptor(unsigned tile) {
    return (Tcgen05::descriptor<kRowBytes>(tile) & ~kClear) | kSet;
  }
};
using StrideOfOneRow = DescriptorWith<std::uint64_t{0x3fff} << 32, std::uint64_t{64 / 16} << 32>;
using SwizzleOf128 = DescriptorWith<std::uint64_t{7} << 61, std::uint64_t{2} << 61>;
using NoSwizzle = DescriptorWith<std::uint64_t{7} << 61, 0>;
using OfHopper = DescriptorWith<std::uint64_t{7} << 46, 0>;

struct TakenForBf16 : Tcgen05 {
  template <MatrixElement>
  __device__ static constexpr unsigned instruction(int rows, int columns) {
    return Tcgen05::instruction<MatrixElement::kBf16>(rows, columns);
  }
};

struct HalfOfTheRows : Tcgen05 {
  template <MatrixElement kElement>
  __device__ static constexpr unsigned instruction(int rows, int columns) {
    return Tcgen05::instruction<kElement>(rows / 2, columns);
  }
};

// ---- Mistakes in summing.

struct DropsC : Tcgen05 {
  __device__ static constexpr bool adds_to_c() { return false; }
};

struct AddsToNothing : Tcgen05 {
  __device__ static void store(unsigned, const unsigned (&)[kAtOnce]) {}
};

// ---- Mistakes at the edges.

struct StoresPastTheEdge : Tcgen05 {
  __device__ static bool has(std::int64_t, std::int64_t) { return true; }
};

// Reads the row up to the end of its last stage.
cudaError_t tail_not_masked(const TensorMatmulArguments& p, cudaStream_t stream) {
  TensorMatmulArguments q = p;
  q.k = (p.k + 31) / 32 * 32;
  return kernels::by_tcgen05::launch<Tcgen05, Plain, MatrixElement::kF16>(q, stream);
}

// ---- Mistakes with stages.

struct NoProxyFence : Tcgen05 {
  __device__ static void publish_stores() {}
};

struct FullParityTurned : Tcgen05 {
  __device__ static void wait_for_full(unsigned barrier, unsigned round) {
    wait(barrier, full_parity(round) ^ 1);
  }
};

struct NeverWaitsForFull : Tcgen05 {
  __device__ static void wait_for_full(unsigned, unsigned) {}
};

struct ExpectsTooManyBytes : Tcgen05 {
  __device__ static unsigned expected(unsigned bytes) { return bytes + 128; }
};

struct CoordinatesSwapped : Tcgen05 {
  __device__ static void copy_box(unsigned to, const CUtensorMap* map, int element, int row,
                                  unsigned barrier) {
    Tcgen05::copy_box(to, map, row, element, barrier);
  }
};

struct ReleasesBeforeItsProducts : Tcgen05 {
  template <int>
  __device__ static void commit_stage(unsigned barrier) {
    arrive(barrier);
  }
};

struct NeverWaitsForC : Tcgen05 {
  __device__ static void wait_for_c(unsigned, unsigned) {}
};

// ---- Mistakes with other blocks.

struct NeverWaitsForTheAnswer : Tcgen05 {
  __device__ static void wait_for_answer(unsigned, unsigned) {}
};

struct CommitsToOneBlock : Tcgen05 {
  template <int>
  __device__ static void commit(unsigned barrier) {
    constexpr unsigned short kFirst = 1;
    asm volatile(
        "tcgen05.commit.cta_group::2.mbarrier::arrive::one.shared::cluster.multicast::cluster.b64 "
        "[%0], %1;" ::"r"(barrier),
        "h"(kFirst)
        : "memory");
  }
};

struct ArrivesInItsOwnBlock : Tcgen05 {
  __device__ static void arrive_at(unsigned barrier, unsigned) { arrive(barrier); }
};

struct JoinsItsBlockAlone : Tcgen05 {
  __device__ static void join_cluster() { __syncthreads(); }
};

// ---- No mistake: a fence that the barrier's own ordering makes redundant.
struct FencesTwice : Tcgen05 {
  __device__ static void fence_after() {
    Tcgen05::fence_after();
    Tcgen05::fence_after();
  }
};

}  // namespace

Mutants<TensorMatmulLauncher> tensor_matmul_tcgen05_mutants() {
  const Labels order = {"finding:async-order"}, wrong = {"mismatch", "law"},
               refused = {"finding:invalid-instruction"},
               early = {"finding:race", "finding:uninitialised"},
               read = {"mismatch",
                       "law",
                       "finding:out-of-bounds",
                       "finding:uninitialised",
                       "finding:race",
                       "finding:mbarrier-misuse"};
  const char* const in_time = "hardware is mostly done in time";
  const char* const hangs = "the kernel never ends";
  const char* const trusted = "hardware does not look, or ends the process's context";
  return {
      {"no_wait_for_products",
       "reads the accumulator before the commit of its products",
       kPlain<NoWaitForProducts>,
       {"finding:async-order", "finding:race"},
       {},
       in_time},
      {"parity_of_products_turned",
       "waits for the phase before that of the commit",
       kPlain<ParityOfProductsTurned>,
       {"finding:async-order", "finding:race"},
       {},
       in_time},
      {"no_commit",
       "no tcgen05.commit: nothing arrives at the barrier",
       kPlain<NoCommit>,
       {"finding:deadlock"},
       {},
       hangs},
      {"no_wait_for_loads",
       "no tcgen05.wait::ld before loaded registers are stored",
       kPlain<NoWaitForLoads>,
       order,
       {},
       in_time},
      {"no_wait_for_stores",
       "no tcgen05.wait::st before products are added to what was stored",
       kPlain<NoWaitForStores>,
       order,
       {},
       in_time},
      {"no_fence_before",
       "no tcgen05.fence::before_thread_sync",
       kPlain<NoFenceBefore>,
       order,
       {},
       in_time},
      {"no_fence_after",
       "no tcgen05.fence::after_thread_sync",
       kPlain<NoFenceAfter>,
       order,
       {},
       in_time},
      {"lanes_of_another_warp",
       "a warp loads and stores another quarter of the lanes",
       kPlain<LanesOfAnotherWarp>,
       refused,
       {},
       trusted},
      {"never_frees", "no tcgen05.dealloc", kPlain<NeverFrees>, refused, {}, hangs},
      {"frees_half", "frees half of the columns", kPlain<FreesHalf>, refused, {}, trusted},
      {"allocates_half",
       "allocates half of the columns that it uses",
       kPlain<AllocatesHalf>,
       {"finding:out-of-bounds"},
       {},
       trusted},
      {"stride_of_one_row", "a descriptor's stride goes to the next row, not to the next eight",
       kPlain<StrideOfOneRow>, wrong, wrong},
      {"swizzle_of_128", "the descriptor names another swizzle than the copy had",
       kPlain<SwizzleOf128>, read, wrong},
      {"no_swizzle", "the descriptor names no swizzle", kPlain<NoSwizzle>, read, wrong},
      {"descriptor_of_hopper",
       "a matrix descriptor as wgmma has it",
       kPlain<OfHopper>,
       refused,
       {},
       trusted},
      {"taken_for_bf16", "the instruction descriptor names bf16", kPlain<TakenForBf16>, wrong,
       wrong},
      {"half_of_the_rows", "the instruction descriptor names 64 rows of 128", kPlain<HalfOfTheRows>,
       wrong, wrong},
      {"drops_c", "the first product of a sum does not add to the accumulator", kPlain<DropsC>,
       wrong, wrong},
      {"adds_to_nothing",
       "every product adds to an accumulator that nobody has stored",
       kPlain<AddsToNothing>,
       {"finding:uninitialised"},
       wrong},
      {"stores_past_the_edge",
       "stores whole tiles",
       kPlain<StoresPastTheEdge>,
       {"finding:out-of-bounds", "guard", "mismatch", "finding:race"},
       {"guard", "mismatch", "cuda-error"}},
      {"tail_not_masked",
       "multiplies what lies behind the end of a row",
       instead<TensorMatmulPath::kTcgen05, tail_not_masked>,
       {"mismatch", "law", "finding:out-of-bounds", "finding:uninitialised"},
       wrong},
      {"no_proxy_fence",
       "no fence.proxy.async between stores and the products that read them",
       kPlain<NoProxyFence>,
       {"finding:missing-proxy-fence"},
       {},
       in_time},
      {"never_waits_for_full",
       "multiplies what is still being copied",
       kPlain<NeverWaitsForFull>,
       early,
       {},
       in_time},
      {"full_parity_turned",
       "waits for the phase before the one that fills the stage",
       kRing<FullParityTurned>,
       {"finding:race", "finding:uninitialised", "finding:deadlock"},
       {},
       in_time},
      {"expects_too_many_bytes",
       "expect_tx of bytes that never come",
       kPlain<ExpectsTooManyBytes>,
       {"finding:deadlock"},
       {},
       hangs},
      {"coordinates_swapped",
       "a box's coordinates in the order of rows and columns",
       kPlain<CoordinatesSwapped>,
       {"mismatch", "law", "finding:invalid-instruction"},
       {},
       "coordinates that no box may have end the kernel, and with it the process's context"},
      {"releases_before_its_products",
       "hands a stage back by an arrival, not by a commit",
       kRing<ReleasesBeforeItsProducts>,
       {"finding:race"},
       {},
       in_time},
      {"accumulators_overlap",
       "the second accumulator begins in the middle of the first",
       kRing<AccumulatorsOverlap>,
       {"mismatch", "law", "finding:async-order", "finding:race"},
       wrong},
      {"never_waits_for_c",
       "multiplies before C is in the accumulator",
       kRing<NeverWaitsForC>,
       {"finding:async-order", "finding:race", "finding:uninitialised"},
       {},
       in_time},
      {"never_waits_for_the_answer",
       "reads an answer about more work that has not come",
       kRing<NeverWaitsForTheAnswer>,
       early,
       {},
       in_time},
      {"commits_to_one_block",
       "a commit of a pair arrives in one of its blocks",
       kPair<CommitsToOneBlock>,
       {"finding:deadlock"},
       {},
       hangs},
      {"arrives_in_its_own_block",
       "arrives at its own barriers, not at those of the first block",
       kPair<ArrivesInItsOwnBlock>,
       {"finding:deadlock", "finding:mbarrier-misuse"},
       {},
       hangs},
      {"joins_its_block_alone",
       "arrives at barriers of the other block that are not there yet",
       kPair<JoinsItsBlockAlone>,
       {"finding:mbarrier-misuse", "finding:race"},
       {},
       in_time},
      // Negative controls.
      {"in_steps", "the unchanged steps from which the mutants are made", kPlain<Tcgen05>},
      {"with_roles", "the same with a warp for each work", kRing<Tcgen05>},
      {"in_pairs", "the same in pairs of blocks", kPair<Tcgen05>},
      {"wide_rows", "two stages of 128 bytes of each row", kRing<Tcgen05, Shape<64, 128, 2, 1>>},
      {"wide_tiles", "pairs of blocks with 128 columns", kPair<Tcgen05, Shape<128, 64, 2, 2>>},
      {"one_stage", "a ring of one stage, and a fence too many",
       kRing<FencesTwice, Shape<64, 64, 1, 1>>},
  };
}

}  // namespace lockstep::known_bad
