#include "reference/memory_spaces.h"

namespace lockstep::reference {

SpaceWords local_rotation(std::int64_t threads, int words, std::uint32_t seed, int shift) {
  SpaceWords y(threads * words);
  for (std::int64_t i = 0; i < threads; ++i) {
    const auto turn = static_cast<int>((i + shift) % words);
    const SpaceWords a = SpaceWords::LinSpaced(words, 0, static_cast<std::uint32_t>(words - 1)) +
                         (seed + static_cast<std::uint32_t>(i * words));
    y.segment(i * words, words) << a.tail(words - turn), a.head(turn);
  }
  return y;
}

SpaceWords block_sums(std::span<const std::uint32_t> x, int block) {
  eigen_assert(block >= 1 && x.size() % static_cast<std::size_t>(block) == 0);
  const Eigen::Map<const SpaceWords> all(x.data(), static_cast<Eigen::Index>(x.size()));
  SpaceWords y(all.size());
  for (Eigen::Index first = 0; first < all.size(); first += block)
    y.segment(first, block).setConstant(all.segment(first, block).sum());
  return y;
}

}  // namespace lockstep::reference
