// The kinds of changes in mutants of a kernel. docs/reference/mutation.md describes the source
// mistake that each represents.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string_view>

namespace lockstep::mutation {

enum class Operator : std::uint8_t {
  // Among threads.
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
  // Where a thread is, and what it accesses.
  kIndexExchanged,
  kIndexShifted,
  kAddressShifted,
  kStoreRemoved,
  // What a copy by a tensor map or of many bytes moves.
  kCoordinateChanged,
  kBytesChanged,
  kMulticastNarrowed,
  // Which way it goes.
  kCompareEdge,
  kCompareNegated,
  kGuardRemoved,
  // What it computes.
  kRoundingChanged,
  kFlushChanged,
  kProductSplit,
  kProductFused,
  kConversionChanged,
  kConstantChanged,
  kOperandsExchanged,
  kOperationReplaced,
  // Of matrices that lanes hold together.
  kAccumulatorChanged,
  kFragmentChanged,
  kLayoutChanged,
  kSignChanged,
  kSaturationChanged,
  kCount,
};

inline constexpr std::size_t kOperators = static_cast<std::size_t>(Operator::kCount);

// Whether a program's results can show the change on a GPU that runs blocks one after another, warp
// by warp. Other changes show only in checks of the order of accesses, or by chance.
bool changes_results(Operator op);

// "barrier-removed".
std::string_view name_of(Operator op);
// Returns nullopt if no operator has the name.
std::optional<Operator> operator_named(std::string_view name);
// One sentence.
std::string_view description_of(Operator op);

}  // namespace lockstep::mutation
