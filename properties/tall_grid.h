// Launches with more rows than the blocks of the tallest grid hold, one block wide: the first
// blocks process further rows.
#pragma once

#include <bit>
#include <cstdint>
#include <optional>
#include <vector>

#include "harness/device/device.h"
#include "harness/device/device_array.h"
#include "harness/property/case.h"

namespace lockstep::properties {

// Until the end of the scope, if the session limits work, the simulated GPU executes only the first
// and the last blocks of a grid. Elsewhere all blocks execute. Inside a running case.
class TallGrid {
 public:
  static constexpr std::int64_t kRowsOfBlocks = 65535;  // the most of a grid

  enum class Blocks : std::uint8_t { kAsLimited, kEnds };
  // `poison`: of the result, whose elements have 32 bits. kEnds: as if the session limited work.
  explicit TallGrid(Poison poison, Blocks blocks = Blocks::kAsLimited)
      : unwritten_(static_cast<std::uint32_t>(poison_word(poison, sizeof unwritten_))) {
    if (is_simulator() && (blocks == Blocks::kEnds || may_reduce())) sampled_.emplace(2 * kEnd);
  }

  // Whether a block that is not executed may have to write this row of the result: it holds its
  // poison, and is neither among the first rows nor among the last, which the first blocks write.
  // A row has one element. This depends on no number of rows of a block.
  template <class T>
  bool leaves_out(std::int64_t row, std::int64_t rows, T element) const {
    return sampled_ && row >= kEnd && row < rows - kLast &&
           std::bit_cast<std::uint32_t>(element) == unwritten_;
  }
  // Gives the rows that are left out their expected elements.
  template <class T, class Expected>
  void complete(std::vector<T>& actual, const Expected& expected) const {
    const auto rows = static_cast<std::int64_t>(actual.size());
    for (std::int64_t row = 0; row < rows; ++row) {
      if (leaves_out(row, rows, actual[row])) actual[row] = expected[row];
    }
  }

 private:
  static constexpr std::int64_t kEnd = 128;  // blocks
  static constexpr std::int64_t kLast = 3;   // rows, at least, past all rows of a grid's blocks

  std::uint32_t unwritten_;
  std::optional<SampledBlocks> sampled_;
};

}  // namespace lockstep::properties
