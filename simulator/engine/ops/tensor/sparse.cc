#include "simulator/engine/ops/tensor/sparse.h"

#include <algorithm>

#include "simulator/matrix/fragments.h"

namespace lockstep::engine {
namespace {

// Whether a word holds the metadata of two rows: for elements of 16 and 32 bits.
bool share_words(const TensorProduct& p) { return p.stored_bits() >= 16; }

}  // namespace

std::uint32_t columns_of_metadata(const TensorProduct& p) { return share_words(p) ? 1 : 2; }

// Layout of the metadata. With elements of at most eight bits, a row has 64 bits of metadata in its
// own lane. With wider elements it has 32 bits. Of each 16 lanes, the first eight hold the first
// half of the columns, the other eight the second half. The halves of a word belong to rows 0 to 7
// and 8 to 15. The manual shows this only in figures. This code follows CUTLASS
// (cute/atom/mma_traits_sm100_frag.hpp, tmem_e_frg), which does not cover 64 rows.
std::vector<std::uint8_t> columns_kept(const TensorMemory& t, std::uint32_t address,
                                       const TensorProduct& p,
                                       const matrix::AccumulatorPart& part) {
  const matrix::Sparsity sparsity{p.packed ? isa::Type::kS4 : p.operation.a, p.operation.shape};
  const auto word = [&](int row, int column) {
    return (*t.words)[TensorMemory::word(
        tensor_lane(address) + static_cast<std::uint32_t>(part.lane_of(row)),
        tensor_column(address) + static_cast<std::uint32_t>(column))];
  };
  std::vector<std::uint8_t> columns;
  for (int row = 0; row < part.rows; ++row) {
    for (int group = 0; group < sparsity.groups(); ++group) {
      const int half = group / 4;
      const std::uint32_t bits = share_words(p) ? word(row / 16 * 16 + 8 * half + row % 8, 0) >>
                                                      (16 * (row / 8 % 2) + 4 * (group % 4))
                                                : word(row, group / 8) >> (4 * (group % 8));
      for (int n = 0; n < sparsity.stored(); ++n)
        columns.push_back(
            static_cast<std::uint8_t>(group * sparsity.group() + sparsity.column(bits & 15, n)));
    }
  }
  return columns;
}

std::string understand_zero_columns(std::uint64_t mask, int m, int farthest) {
  const int most = std::min(farthest, m == 32 ? 16 : 32);
  if ((mask >> 36 & 7) != 0 || mask >> 62 != 0) return "has bits that are reserved";
  if (first_column(mask) > most)
    return "moves the first column by " + std::to_string(first_column(mask)) +
           ", and the instruction descriptor and M allow " + std::to_string(most);
  return {};
}

void take_columns(std::vector<std::uint64_t>& b, std::uint64_t mask, const isa::Shape& shape) {
  const std::size_t k = shape.k, n = shape.n;
  b.erase(b.begin(), b.begin() + static_cast<std::ptrdiff_t>(
                                     static_cast<std::size_t>(first_column(mask)) * k));
  if ((mask >> 39 & 1) == 0) return;
  const int zeros = static_cast<int>(mask >> 40 & 255) + 1,
            used = static_cast<int>(mask >> 48 & 255) + 1;
  // There is one mask for all columns, for each half or for each quarter of them.
  const std::size_t masks = 128u / shape.m, columns = n / masks;
  for (std::size_t part = 0; part < masks; ++part) {
    const bool zeros_first = (mask >> (32 + part) & 1) != 0;
    // At least one column of the first span is kept; the manual does not define a larger shift.
    const int first =
        std::min(static_cast<int>(mask >> (8 * part) & 255), (zeros_first ? zeros : used) - 1);
    for (std::size_t c = 0; c < columns; ++c) {
      const int at = (static_cast<int>(c) + first) % (zeros + used);
      if (zeros_first ? at >= zeros : at < used) continue;
      const auto column = b.begin() + static_cast<std::ptrdiff_t>((part * columns + c) * k);
      std::fill(column, column + static_cast<std::ptrdiff_t>(k), std::uint64_t{0});
    }
  }
}

}  // namespace lockstep::engine
