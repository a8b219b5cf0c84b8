// The kinds of changes of kernel mutants. docs/reference/mutation.md describes the source mistake
// that each one imitates.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string_view>

namespace lockstep::mutation {

enum class Operator : std::uint8_t {
  // Synchronisation between threads.
  kBarrierRemoved,
  kBarrierChanged,
  kFenceRemoved,
  kWaitRemoved,
  kCommitRemoved,
  kParityFlipped,
  kScopeNarrowed,
  kOrderWeakened,
  kAtomicSplit,
  kSharingRemoved,
  kShuffleChanged,
  kVoteChanged,
  // A thread's index and the addresses of its accesses.
  kIndexExchanged,
  kIndexShifted,
  kAddressShifted,
  kStoreRemoved,
  // The data of bulk and tensor copies.
  kCoordinateChanged,
  kBytesChanged,
  kMulticastNarrowed,
  // Control flow.
  kCompareEdge,
  kCompareNegated,
  kGuardRemoved,
  // Arithmetic.
  kRoundingChanged,
  kFlushChanged,
  kProductSplit,
  kProductFused,
  kConversionChanged,
  kConstantChanged,
  kOperandsExchanged,
  kOperationReplaced,
  // Matrices distributed over lanes.
  kAccumulatorChanged,
  kFragmentChanged,
  kLayoutChanged,
  kSignChanged,
  kSaturationChanged,
  kCount,
};

inline constexpr std::size_t kOperators = static_cast<std::size_t>(Operator::kCount);

// Whether the change can alter results on a GPU that runs blocks one after the other, warp by warp.
// Other changes are visible only to checks of the order of accesses, or by chance.
bool changes_results(Operator op);

// "barrier-removed".
std::string_view name_of(Operator op);
// The operator with this name; nullopt if there is none.
std::optional<Operator> operator_named(std::string_view name);
// A one-sentence description.
std::string_view description_of(Operator op);

}  // namespace lockstep::mutation
