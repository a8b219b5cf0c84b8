#include "simulator/memory/backing_blocks.h"

#include <algorithm>
#include <bit>

namespace lockstep::memory {
namespace {

// The index of the smallest size of at least so many bytes.
int size_for(std::uint64_t bytes) {
  return static_cast<int>(std::bit_width((bytes - 1) / BackingBlocks::kPage));
}

std::uint64_t bytes_of(int size) { return BackingBlocks::kPage << size; }

}  // namespace

std::optional<BackingBlocks::Block> BackingBlocks::take(std::uint64_t bytes) {
  if (bytes > kLargest) return std::nullopt;
  const int size = size_for(bytes);
  std::optional<std::uint64_t> place = free_block(size);
  if (!place && taken_ == 0 && kSpan - next_ < bytes_of(size)) {
    // Nothing holds the span as it was divided.
    for (auto& free : free_) free.clear();
    next_ = 0;
  }
  if (!place && kSpan - next_ >= bytes_of(size)) {
    place = next_;
    next_ += bytes_of(size);
  }
  if (!place) place = half_of_larger(size);
  if (!place) return std::nullopt;
  ++taken_;
  const Block block{*place, *place >= new_from_};
  new_from_ = std::max(new_from_, next_);
  return block;
}

void BackingBlocks::put(std::uint64_t place, std::uint64_t bytes) {
  free_[static_cast<std::size_t>(size_for(bytes))].push_back(place);
  --taken_;
}

std::optional<std::uint64_t> BackingBlocks::free_block(int size) {
  std::vector<std::uint64_t>& free = free_[static_cast<std::size_t>(size)];
  if (free.empty()) return std::nullopt;
  const std::uint64_t place = free.back();
  free.pop_back();
  return place;
}

std::optional<std::uint64_t> BackingBlocks::half_of_larger(int size) {
  for (int larger = size + 1; larger < kSizes; ++larger) {
    const std::optional<std::uint64_t> place = free_block(larger);
    if (!place) continue;
    for (int half = larger - 1; half >= size; --half)
      free_[static_cast<std::size_t>(half)].push_back(*place + bytes_of(half));
    return place;
  }
  return std::nullopt;
}

}  // namespace lockstep::memory
