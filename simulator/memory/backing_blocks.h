// Divides a span of memory into blocks, which back small allocations of a device.
//
// A program that allocates and frees small memory all the time would pay for it page by page: the
// system takes each page back at a free, and supplies and clears another one at the next use. A
// block that backed a freed allocation backs a later one instead. The span bounds the bytes that
// are kept.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

namespace lockstep::memory {

class BackingBlocks {
 public:
  static constexpr std::uint64_t kPage = 4096;
  // The bytes of the span, and the most of a block.
  static constexpr std::uint64_t kSpan = 16 << 20, kLargest = 256 << 10;

  struct Block {
    std::uint64_t place = 0;  // from the start of the span; a multiple of kPage
    bool is_new = false;      // no block had these bytes before
  };
  // A block of at least so many bytes, which are more than 0. std::nullopt if there is none.
  std::optional<Block> take(std::uint64_t bytes);
  // Accepts a block that take(bytes) returned.
  void put(std::uint64_t place, std::uint64_t bytes);

 private:
  static constexpr int kSizes = 7;  // of 1, 2, 4 ... 64 pages
  static_assert(kPage << (kSizes - 1) == kLargest);

  std::optional<std::uint64_t> free_block(int size);
  std::optional<std::uint64_t> half_of_larger(int size);

  std::uint64_t next_ = 0;      // what follows is undivided
  std::uint64_t new_from_ = 0;  // what follows was never in a block
  std::size_t taken_ = 0;       // blocks
  std::array<std::vector<std::uint64_t>, kSizes> free_;
};

}  // namespace lockstep::memory
