// Mutants of the warp exchanges. The correct kernel consists of steps; a mutant replaces one step
// by a typical mistake. The negative controls at the end are correct in another way and must be
// accepted.
#include <cstdint>

#include "kernels/argument_check.h"
#include "tests/known_bad/shuffle.h"

namespace lockstep::known_bad {
namespace {

using kernels::LaunchStatus;
using kernels::ShuffleLaunchers;
using kernels::ShuffleOp;
using kernels::WarpCollective;
using kernels::WarpShape;

constexpr const char* kWho = "known-bad shuffle";

__device__ unsigned thread_in_block() {
  return threadIdx.x + blockDim.x * (threadIdx.y + blockDim.y * threadIdx.z);
}
__device__ unsigned threads_in_block() { return blockDim.x * blockDim.y * blockDim.z; }
__device__ std::int64_t element() {
  return std::int64_t{blockIdx.x} * threads_in_block() + thread_in_block();
}
__device__ unsigned existing_lanes() {
  const unsigned left = threads_in_block() - (thread_in_block() & ~31u);
  return left >= 32 ? 0xffffffffu : (1u << left) - 1;
}

// ---- Exchanges. The correct steps, for T = int; the real launchers handle other
// types.

struct Honest {
  __device__ static unsigned lane() { return thread_in_block() % 32; }
  __device__ static unsigned existing() { return existing_lanes(); }
  __device__ static int width(int width) { return width; }
  __device__ static int index(unsigned mask, int value, int operand, int width) {
    return __shfl_sync(mask, value, operand, width);
  }
  __device__ static int up(unsigned mask, int value, int operand, int width) {
    return __shfl_up_sync(mask, value, operand, width);
  }
  __device__ static int down(unsigned mask, int value, int operand, int width) {
    return __shfl_down_sync(mask, value, operand, width);
  }
  __device__ static int butterfly(unsigned mask, int value, int operand, int width) {
    return __shfl_xor_sync(mask, value, operand, width);
  }
  __device__ static bool leaves_early(unsigned members, unsigned lane) {
    return !(members >> lane & 1);
  }
  __device__ static unsigned taking_part(unsigned members) { return members; }
  __device__ static unsigned along_a_branch(unsigned members, unsigned lane) {
    return members & (lane % 2 == 0 ? 0x55555555u : 0xaaaaaaaau);
  }
};

template <class Step>
__device__ int exchange(ShuffleOp op, unsigned mask, int value, int operand, int width) {
  switch (op) {
    case ShuffleOp::kIndex: return Step::index(mask, value, operand, width);
    case ShuffleOp::kUp: return Step::up(mask, value, operand, width);
    case ShuffleOp::kDown: return Step::down(mask, value, operand, width);
    default: return Step::butterfly(mask, value, operand, width);
  }
}

template <class Step>
__global__ void exchange_kernel(ShuffleOp op, const int* x, const int* operand, int* y, int width,
                                unsigned members, bool divergent) {
  const unsigned lane = Step::lane();
  if (Step::leaves_early(members & existing_lanes(), thread_in_block() % 32)) return;
  const unsigned mask = Step::taking_part(members & Step::existing());
  const std::int64_t i = element();
  const int value = x[i], wanted = operand[i], segment = Step::width(width);
  if (!divergent) {
    y[i] = exchange<Step>(op, mask, value, wanted, segment);
  } else if (lane % 2 == 0) {
    y[i] = exchange<Step>(op, Step::along_a_branch(mask, lane), value, wanted, segment);
  } else {
    y[i] = exchange<Step>(op, Step::along_a_branch(mask, lane), value, wanted, segment);
  }
}

// Refuses what the real launcher refuses: check_warp_arrays and the operand's checks.
LaunchStatus check_exchange(ShuffleOp op, const int* x, const int* operand, const int* y, int width,
                            const WarpShape& shape) {
  if (LaunchStatus status = check_warp_arrays(x, y, sizeof(int), width, shape); !status.ok())
    return status;
  const dim3& block = shape.block;
  const std::uint64_t bytes =
      std::uint64_t{shape.blocks} * block.x * block.y * block.z * sizeof(int);
  kernels::ArgumentCheck check(kWho);
  check.enumerator("operation", op, ShuffleOp::kXor);
  check.array("operand", operand, alignof(int));
  check.apart("operand", operand, bytes, "y", y, bytes);
  return check.status();
}

template <class Step>
LaunchStatus exchange_ints(ShuffleOp op, const int* x, const int* operand, int* y, int width,
                           std::uint32_t members, bool divergent, const WarpShape& shape,
                           cudaStream_t stream) {
  if (LaunchStatus status = check_exchange(op, x, operand, y, width, shape); !status.ok())
    return status;
  exchange_kernel<Step>
      <<<shape.blocks, shape.block, 0, stream>>>(op, x, operand, y, width, members, divergent);
  return kernels::status_of(cudaGetLastError(), kWho, "launching");
}

// The mask names every lane of the warp, but non-members wait elsewhere: the two sides never
// synchronise.
__global__ void mask_names_lanes_elsewhere(ShuffleOp op, const int* x, const int* operand, int* y,
                                           int width, unsigned members, bool divergent) {
  const unsigned lane = Honest::lane(), existing = existing_lanes();
  const std::int64_t i = element();
  if (divergent) {
    if (members >> lane & 1) {
      const unsigned mask = Honest::along_a_branch(members & existing, lane);
      y[i] = exchange<Honest>(op, mask, x[i], operand[i], width);
    }
    return;
  }
  if (members >> lane & 1) y[i] = exchange<Honest>(op, existing, x[i], operand[i], width);
  __syncwarp(existing);
}

LaunchStatus exchange_with_lanes_elsewhere(ShuffleOp op, const int* x, const int* operand, int* y,
                                           int width, std::uint32_t members, bool divergent,
                                           const WarpShape& shape, cudaStream_t stream) {
  if (LaunchStatus status = check_exchange(op, x, operand, y, width, shape); !status.ok())
    return status;
  mask_names_lanes_elsewhere<<<shape.blocks, shape.block, 0, stream>>>(op, x, operand, y, width,
                                                                       members, divergent);
  return kernels::status_of(cudaGetLastError(), kWho, "launching");
}

struct AlwaysTheWholeWarp : Honest {
  __device__ static int width(int) { return 32; }
};

struct HalfTheWidth : Honest {
  __device__ static int width(int width) { return width > 1 ? width / 2 : 1; }
};

struct DeltaWrapsInItsSegment : Honest {
  __device__ static int down(unsigned mask, int value, int operand, int width) {
    return __shfl_sync(mask, value, static_cast<int>(thread_in_block() % 32) + (operand & 31),
                       width);
  }
};

struct UpReadsZeroOutside : Honest {
  __device__ static int up(unsigned mask, int value, int operand, int width) {
    const int got = __shfl_up_sync(mask, value, operand, width);
    return static_cast<int>(thread_in_block() % 32 % width) < (operand & 31) ? 0 : got;
  }
};

struct UpAndDownSwapped : Honest {
  __device__ static int up(unsigned mask, int value, int operand, int width) {
    return __shfl_down_sync(mask, value, operand, width);
  }
};

struct MaskLeavesOutTheCaller : Honest {
  __device__ static int butterfly(unsigned mask, int value, int operand, int width) {
    return __shfl_xor_sync(mask & ~(1u << (thread_in_block() % 32)), value, operand, width);
  }
};

struct ReadsALaneOfTheOtherBranch : Honest {
  // Each branch exchanges with its own mask, but reads from a neighbour in the other
  // branch.
  __device__ static int index(unsigned mask, int value, int operand, int width) {
    const int lane = thread_in_block() % 32;
    return mask == 0x55555555u ? __shfl_sync(mask, value, lane + 1, 32)
                               : __shfl_sync(mask, value, operand, width);
  }
};

struct AskedOfActivemask : Honest {
  __device__ static unsigned taking_part(unsigned) { return __activemask(); }
};

struct LaneFromXAlone : Honest {
  __device__ static unsigned lane() { return threadIdx.x % 32; }
};

// ---- Collectives on floats.

struct HonestSum {
  __device__ static int first_step(int width) { return width / 2; }
  __device__ static int next_step(int step, int) { return step / 2; }
  __device__ static float add(float a, float b) { return __fadd_rn(a, b); }
  __device__ static bool scans(int position, int step) { return position >= step; }
  __device__ static float exclusive(float scanned, float, int position, unsigned mask, int width) {
    const float before = __shfl_up_sync(mask, scanned, 1, width);
    return position == 0 ? 0 : before;
  }
};

template <class Step>
__global__ void collective_kernel(WarpCollective collective, const float* x, float* y, int width,
                                  int root) {
  const std::int64_t i = element();
  const unsigned mask = existing_lanes();
  const int position = static_cast<int>(thread_in_block() % width);
  const float own = x[i];
  float value = own;
  switch (collective) {
    case WarpCollective::kBroadcast: value = __shfl_sync(mask, value, root, width); break;
    case WarpCollective::kButterflySum:
      for (int step = Step::first_step(width); step > 0; step = Step::next_step(step, width))
        value = Step::add(value, __shfl_xor_sync(mask, value, step, width));
      break;
    case WarpCollective::kTreeSum:
      for (int step = Step::first_step(width); step > 0; step = Step::next_step(step, width))
        value = Step::add(value, __shfl_down_sync(mask, value, step, width));
      if (position != 0) value = 0;
      break;
    default:
      for (int step = 1; step < width; step *= 2) {
        const float left = __shfl_up_sync(mask, value, step, width);
        if (Step::scans(position, step)) value = Step::add(left, value);
      }
      if (collective == WarpCollective::kExclusiveScan)
        value = Step::exclusive(value, own, position, mask, width);
  }
  y[i] = value;
}

template <class Step>
LaunchStatus collect_floats(WarpCollective collective, const float* x, float* y, int width,
                            int root, const WarpShape& shape, cudaStream_t stream) {
  if (LaunchStatus status = check_warp_arrays(x, y, sizeof(float), width, shape); !status.ok())
    return status;
  if (collective > WarpCollective::kExclusiveScan || root < 0 || root >= width ||
      shape.block.x * shape.block.y * shape.block.z % width != 0) {
    return kernels::refused(kWho, "no such collective, root or segment");
  }
  collective_kernel<Step><<<shape.blocks, shape.block, 0, stream>>>(collective, x, y, width, root);
  return kernels::status_of(cudaGetLastError(), kWho, "launching");
}

struct StartsAtAQuarter : HonestSum {
  __device__ static int first_step(int width) { return width / 4; }
};

struct AddsOutsideTheSegment : HonestSum {
  __device__ static bool scans(int, int) { return true; }
};

struct ExclusiveKeepsTheFirst : HonestSum {
  __device__ static float exclusive(float scanned, float, int, unsigned mask, int width) {
    return __shfl_up_sync(mask, scanned, 1, width);
  }
};

struct RoundsDown : HonestSum {
  __device__ static float add(float a, float b) { return __fadd_rd(__fadd_rd(a, b), -1e-6f); }
};

struct RoundsToZero : HonestSum {
  __device__ static float add(float a, float b) { return __fadd_rz(a, b); }
};

struct FlushesSubnormals : HonestSum {
  __device__ static float add(float a, float b) {
    const float sum = __fadd_rn(a, b);
    return fabsf(sum) < 0x1p-126f ? 0.0f : sum;
  }
};

// An exclusive scan that shifts before it scans: 0 + -0 is +0.
struct ShiftFirst : HonestSum {
  __device__ static float exclusive(float, float own, int position, unsigned mask, int width) {
    float value = __shfl_up_sync(mask, own, 1, width);
    if (position == 0) value = 0;
    for (int step = 1; step < width; step *= 2) {
      const float left = __shfl_up_sync(mask, value, step, width);
      if (position >= step) value = __fadd_rn(left, value);
    }
    return value;
  }
};

// Sums at distances 1, 2, 4, ...: the same terms in another order.
struct DistancesGrow : HonestSum {
  __device__ static int first_step(int width) { return width > 1 ? 1 : 0; }
  __device__ static int next_step(int step, int width) { return 2 * step < width ? 2 * step : 0; }
};

// ---- Negative controls.

// Computes the source lane of every exchange and shuffles by index.
struct ByIndex : Honest {
  __device__ static int from(unsigned mask, int value, int source, bool inside) {
    const int lane = thread_in_block() % 32;
    return __shfl_sync(mask, value, inside ? source : lane);
  }
  __device__ static int up(unsigned mask, int value, int operand, int width) {
    const int lane = thread_in_block() % 32, source = lane - (operand & 31);
    return from(mask, value, source, source >= lane / width * width);
  }
  __device__ static int down(unsigned mask, int value, int operand, int width) {
    const int lane = thread_in_block() % 32, source = lane + (operand & 31);
    return from(mask, value, source, source < lane / width * width + width);
  }
};

template <auto kExchange>
const ShuffleLaunchers* with_launcher() {
  static const ShuffleLaunchers family = [] {
    ShuffleLaunchers f;
    static_cast<kernels::ShuffleLaunchersOf<int>&>(f).shuffle = kExchange;
    return f;
  }();
  return &family;
}

template <class Step>
const ShuffleLaunchers* with_exchange() {
  return with_launcher<&exchange_ints<Step>>();
}

template <class Step>
const ShuffleLaunchers* with_collective() {
  static const ShuffleLaunchers family = [] {
    ShuffleLaunchers f;
    static_cast<kernels::ShuffleLaunchersOf<float>&>(f).warp_collective = &collect_floats<Step>;
    return f;
  }();
  return &family;
}

}  // namespace

Mutants<const ShuffleLaunchers> shuffle_mutants() {
  return {
      {"always_the_whole_warp",
       "width 32 whatever was asked",
       with_exchange<AlwaysTheWholeWarp>(),
       {"mismatch", "finding:inactive-lane"},
       {"mismatch"}},
      {"half_the_width",
       "segments half as wide",
       with_exchange<HalfTheWidth>(),
       {"mismatch", "finding:inactive-lane"},
       {"mismatch"}},
      {"delta_wraps_in_its_segment",
       "down wraps around where it should keep the own value",
       with_exchange<DeltaWrapsInItsSegment>(),
       {"mismatch", "finding:inactive-lane"},
       {"mismatch"}},
      {"up_reads_zero_outside",
       "zero, not the own value, past the segment",
       with_exchange<UpReadsZeroOutside>(),
       {"mismatch"},
       {"mismatch"}},
      {"up_and_down_swapped",
       "down for up",
       with_exchange<UpAndDownSwapped>(),
       {"mismatch", "law", "finding:inactive-lane"},
       {"mismatch", "law"}},
      {"mask_names_lanes_elsewhere",
       "a mask with lanes that wait at another place",
       with_launcher<&exchange_with_lanes_elsewhere>(),
       {"finding:deadlock", "finding:invalid-mask", "finding:barrier-divergence"},
       {},
       "hardware would wait for ever"},
      {"mask_leaves_out_the_caller",
       "the caller is not in its own mask",
       with_exchange<MaskLeavesOutTheCaller>(),
       {"finding:invalid-mask"},
       {},
       "what hardware does is undefined; it may hang"},
      {"reads_a_lane_of_the_other_branch",
       "asks for a lane that is on another branch",
       with_exchange<ReadsALaneOfTheOtherBranch>(),
       {"finding:inactive-lane"},
       {"mismatch"},
       "the value read is undefined and may be right by chance"},
      {"asked_of_activemask",
       "takes __activemask for the lanes that will come",
       with_exchange<AskedOfActivemask>(),
       {"mismatch", "finding:invalid-mask", "finding:inactive-lane", "nondeterminism"},
       {},
       "lanes that nothing divides have stayed together on every GPU so far"},
      {"lane_from_x_alone",
       "threadIdx.x % 32 for the lane: wrong in blocks of two and three dimensions",
       with_exchange<LaneFromXAlone>(),
       {"mismatch", "finding:invalid-mask", "finding:inactive-lane", "finding:deadlock"},
       {},
       "a mask that leaves out its caller may hang the hardware"},
      {"starts_at_a_quarter",
       "a sum that leaves out half of the segment",
       with_collective<StartsAtAQuarter>(),
       {"mismatch"},
       {"mismatch"}},
      {"adds_outside_the_segment",
       "a scan that adds its own value where there is none to the left",
       with_collective<AddsOutsideTheSegment>(),
       {"mismatch"},
       {"mismatch"}},
      {"exclusive_keeps_the_first",
       "an exclusive scan whose first element is not 0",
       with_collective<ExclusiveKeepsTheFirst>(),
       {"mismatch"},
       {"mismatch"}},
      {"rounds_down",
       "sums a little low",
       with_collective<RoundsDown>(),
       {"mismatch"},
       {"mismatch"}},
      {"rounds_to_zero",
       "__fadd_rz for +",
       with_collective<RoundsToZero>(),
       {"mismatch"},
       {"mismatch"}},
      {"flushes_subnormals",
       "sums below the least normal become 0",
       with_collective<FlushesSubnormals>(),
       {"mismatch"},
       {"mismatch"}},
      {"distances_grow",
       "adds neighbours first, not halves",
       with_collective<DistancesGrow>(),
       {"mismatch"},
       {"mismatch"}},
      {"shift_first",
       "an exclusive scan that shifts first and scans then: 0 + -0 is +0",
       with_collective<ShiftFirst>(),
       {"mismatch"},
       {"mismatch"}},
      // Negative controls.
      {"exchange_in_steps", "the unchanged steps of the exchanges", with_exchange<Honest>()},
      {"collective_in_steps", "the unchanged steps of the collectives",
       with_collective<HonestSum>()},
      {"exchange_by_index", "shifts by computed source lanes", with_exchange<ByIndex>()},
  };
}

}  // namespace lockstep::known_bad
