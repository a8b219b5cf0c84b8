#include "reference/staging.h"

#include <algorithm>

namespace lockstep::reference {
namespace {

Eigen::Map<const Words> view(std::span<const std::uint32_t> x) {
  return {x.data(), static_cast<Eigen::Index>(x.size())};
}

// Replaces every tile of x by `map` of the tile.
template <class Map>
Words by_tiles(std::span<const std::uint32_t> x, std::int64_t length, Map&& map) {
  eigen_assert(length >= 1);
  Words y(static_cast<Eigen::Index>(x.size()));
  for (Eigen::Index first = 0; first < y.size(); first += length) {
    const Eigen::Index l = std::min<Eigen::Index>(length, y.size() - first);
    y.segment(first, l) = map(Words(view(x).segment(first, l)));
  }
  return y;
}

}  // namespace

Words thread_map(std::span<const std::uint32_t> x, std::uint32_t a, std::uint32_t b) {
  return view(x) * a + b;
}

Words reverse_tiles(std::span<const std::uint32_t> x, std::int64_t length) {
  return by_tiles(x, length, [](const Words& tile) -> Words { return tile.reverse(); });
}

Words rotate_tiles(std::span<const std::uint32_t> x, std::int64_t length) {
  return by_tiles(x, length, [](const Words& tile) {
    Words out(tile.size());
    out << tile.tail(tile.size() - 1), tile.head(1);
    return out;
  });
}

Words difference_tiles(std::span<const std::uint32_t> x, std::int64_t length) {
  return by_tiles(x, length, [](const Words& tile) {
    Words out = tile;
    out.tail(tile.size() - 1) -= tile.head(tile.size() - 1);
    return out;
  });
}

Words transpose(std::span<const std::uint32_t> x, std::int64_t rows, std::int64_t columns) {
  eigen_assert(static_cast<std::int64_t>(x.size()) == rows * columns);
  using RowMajor = Eigen::Array<std::uint32_t, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;
  const RowMajor y = Eigen::Map<const RowMajor>(x.data(), rows, columns).transpose();
  return Eigen::Map<const Words>(y.data(), y.size());
}

}  // namespace lockstep::reference
