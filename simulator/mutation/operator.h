// What a mutant of a kernel changes, by kind. docs/reference/mutation.md says of each what mistake
// in a source it stands for.
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

// Whether the results of a program can show the change on a GPU that runs one block after the
// other, warp by warp. Of the others only checks of the order of accesses can tell, or luck.
bool changes_results(Operator op);

// "barrier-removed".
std::string_view name_of(Operator op);
// nullopt when no operator has the name.
std::optional<Operator> operator_named(std::string_view name);
// One sentence.
std::string_view description_of(Operator op);

}  // namespace lockstep::mutation
