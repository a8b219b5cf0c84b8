#include "simulator/compile/constant_file.h"

#include <cstring>

namespace lockstep::compile {

using program::kWarpSize;
using program::Slot;

Slot ConstantFile::value(std::uint64_t bits, int bytes) {
  if (bytes < 8) bits &= (std::uint64_t{1} << (8 * bytes)) - 1;
  const auto [it, is_new] = known_.try_emplace({bits, bytes}, 0);
  if (!is_new) return it->second;
  const std::size_t at = (bytes_.size() + 63) & ~std::size_t{63};
  bytes_.resize(at + static_cast<std::size_t>(kWarpSize * bytes));
  for (int i = 0; i < kWarpSize; ++i)
    std::memcpy(bytes_.data() + at + static_cast<std::size_t>(i * bytes), &bits,
                bytes < 8 ? bytes : 8);
  return it->second = static_cast<Slot>(at) | 1;
}

Slot ConstantFile::predicate(bool v) {
  const auto [it, is_new] = known_.try_emplace({v, 0}, 0);
  if (!is_new) return it->second;
  const std::size_t at = (bytes_.size() + 63) & ~std::size_t{63};
  const program::LaneMask mask = v ? program::kAllLanes : 0;
  bytes_.resize(at + sizeof mask);
  std::memcpy(bytes_.data() + at, &mask, sizeof mask);
  return it->second = static_cast<Slot>(at) | 1;
}

void ConstantFile::finish(program::Program& program) {
  // Handlers may read whole vectors past the last value.
  program.constants = program::allocate_aligned(bytes_.size() + 512);
  std::memset(program.constants.get(), 0, bytes_.size() + 512);
  if (!bytes_.empty()) std::memcpy(program.constants.get(), bytes_.data(), bytes_.size());
  program.constant_bytes = bytes_.size();
}

}  // namespace lockstep::compile
