#include "simulator/mutation/operator.h"

#include <algorithm>

namespace lockstep::mutation {
namespace {

struct Entry {
  Operator op;
  bool changes_results;
  std::string_view name, description;
};

constexpr std::array<Entry, kOperators> kEntries = {{
    {Operator::kBarrierRemoved, false, "barrier-removed",
     "A barrier of a block, cluster or warp is left out."},
    {Operator::kBarrierChanged, false, "barrier-changed",
     "A barrier has another number, or another count of threads."},
    {Operator::kFenceRemoved, false, "fence-removed", "A fence is left out."},
    {Operator::kWaitRemoved, false, "wait-removed",
     "A wait for asynchronous copies or products or for an mbarrier's phase is left out, or is for "
     "fewer of them."},
    {Operator::kCommitRemoved, false, "commit-removed",
     "Asynchronous copies or products are not made a group, to be waited for."},
    {Operator::kParityFlipped, false, "parity-flipped",
     "A wait is for the other phase of an mbarrier."},
    {Operator::kScopeNarrowed, false, "scope-narrowed",
     "A strong access or a fence has a narrower scope."},
    {Operator::kOrderWeakened, false, "order-weakened", "A strong access or a fence orders less."},
    {Operator::kAtomicSplit, false, "atomic-split",
     "An atomic operation becomes a load, the operation and a store."},
    {Operator::kSharingRemoved, true, "sharing-removed",
     "A shared variable becomes one of each thread."},
    {Operator::kShuffleChanged, true, "shuffle-changed",
     "A shuffle has another mode, offset, clamp or mask of members."},
    {Operator::kVoteChanged, true, "vote-changed",
     "A vote or match has another mode or mask of members."},
    {Operator::kIndexExchanged, true, "index-exchanged",
     "An index of thread or block, or a size, is another one."},
    {Operator::kIndexShifted, true, "index-shifted",
     "An index of thread or block, or a size, is one more or one less."},
    {Operator::kAddressShifted, true, "address-shifted",
     "An access is one element further, or one before."},
    {Operator::kStoreRemoved, true, "store-removed",
     "A store, a reduction in memory or an asynchronous copy is left out."},
    {Operator::kCoordinateChanged, true, "coordinate-changed",
     "A tensor copy is of the next element in a dimension, or its coordinates change places."},
    {Operator::kBytesChanged, true, "bytes-changed",
     "A copy has fewer bytes, or an mbarrier expects more, fewer or none."},
    {Operator::kMulticastNarrowed, true, "multicast-narrowed",
     "A copy to several blocks of a cluster is for one block fewer."},
    {Operator::kCompareEdge, true, "compare-edge",
     "A comparison takes in its edge, or leaves it out."},
    {Operator::kCompareNegated, true, "compare-negated", "A comparison says the opposite."},
    {Operator::kGuardRemoved, true, "guard-removed",
     "A branch is always taken, or never; what is done under a condition is always done, or "
     "never."},
    {Operator::kRoundingChanged, true, "rounding-changed",
     "An operation rounds another way, or is the approximate one."},
    {Operator::kFlushChanged, true, "flush-changed",
     "Subnormal numbers become zeros, or no longer do."},
    {Operator::kProductSplit, true, "product-split", "A fused multiply-add rounds its product."},
    {Operator::kProductFused, true, "product-fused", "A multiplication and an addition are fused."},
    {Operator::kConversionChanged, true, "conversion-changed",
     "A conversion is from half the width, or does not saturate."},
    {Operator::kConstantChanged, true, "constant-changed",
     "A constant is one more, one less, or zero."},
    {Operator::kOperandsExchanged, true, "operands-exchanged",
     "The operands of what does not commute change places."},
    {Operator::kOperationReplaced, true, "operation-replaced",
     "An operation becomes its sibling: a sum a difference, a minimum a maximum."},
    {Operator::kAccumulatorChanged, true, "accumulator-changed",
     "A product of matrices is not added to its accumulator, or is where it should not be."},
    {Operator::kFragmentChanged, true, "fragment-changed",
     "A register of a matrix is its neighbour."},
    {Operator::kLayoutChanged, true, "layout-changed",
     "A matrix is read or written transposed, or with its parts elsewhere."},
    {Operator::kSignChanged, true, "sign-changed", "A factor of a product of matrices is negated."},
    {Operator::kSaturationChanged, true, "saturation-changed",
     "A sum of integer products saturates, or wraps."},
}};

constexpr bool in_order() {
  for (std::size_t i = 0; i < kOperators; ++i)
    if (kEntries[i].op != static_cast<Operator>(i)) return false;
  return true;
}
static_assert(in_order());

const Entry& entry(Operator op) { return kEntries[static_cast<std::size_t>(op)]; }

}  // namespace

bool changes_results(Operator op) { return entry(op).changes_results; }
std::string_view name_of(Operator op) { return entry(op).name; }
std::string_view description_of(Operator op) { return entry(op).description; }

std::optional<Operator> operator_named(std::string_view name) {
  const auto it = std::find_if(kEntries.begin(), kEntries.end(),
                               [&](const Entry& e) { return e.name == name; });
  if (it == kEntries.end()) return std::nullopt;
  return it->op;
}

}  // namespace lockstep::mutation
