// The accesses of a copy through a tensor map: its valid coordinates, and its rows in order.
#include <string>

#include "simulator/memory/tensor_map.h"

namespace lockstep::memory {
namespace {

constexpr std::uint32_t kRowsTogether = 4;  // .tile::gather4, .tile::scatter4
constexpr std::uint32_t kWidePixels = 128;  // of im2col::w::128
constexpr std::uint32_t kHaloEvery = 32;    // pixels of im2col::w::128 that share a halo
constexpr std::uint32_t kMostOffset = 31;   // im2col::w
constexpr std::uint32_t kMostHalo = 511, kMostHaloOf128 = 31;

std::string number(std::int64_t n) { return std::to_string(n); }

bool is_wide(TensorMode mode) {
  return mode == TensorMode::kIm2colW || mode == TensorMode::kIm2colW128;
}
bool is(const TensorMap& m, TensorType type) { return m.type == static_cast<std::int32_t>(type); }

std::string refuse_halo(const TensorAccess& a) {
  if (!is_wide(a.mode)) return {};
  const std::uint32_t most = a.mode == TensorMode::kIm2colW ? kMostHalo : kMostHaloOf128;
  if (a.offsets[0] > most)
    return "a halo of " + number(a.offsets[0]) + " pixels: " + number(most) + " are the most";
  if (a.offsets[1] > kMostOffset)
    return "an offset of " + number(a.offsets[1]) + " pixels: " + number(kMostOffset) +
           " are the most";
  return {};
}

// The restrictions of packed types and swizzles on a copy (cuda.h; PTX ISA 9.7.9.27.1.1).
std::string refuse_direction(const TensorMap& m, const TensorAccess& a) {
  const bool six = is(m, TensorType::k16U6Align16);
  if (a.to_cluster && a.sm / 10 == 12 && (m.packed() || m.atom != 0))
    return "a copy of packed elements or in atoms of other than 16 bytes to .shared::cluster, "
           "which "
           "this GPU makes to .shared::cta alone";
  if (a.writes && is(m, TensorType::k16U4Align16)) return "a store of elements of 4 bits with gaps";
  if (a.writes && m.swizzle == 3 && m.atom == 2)
    return "a store through a map whose swizzle turns halves of 16 bytes, which loads alone do";
  if (!a.writes && six && m.swizzle == 3 && m.atom == 3)
    return "a load of elements of 6 bits swizzled in atoms of 64 bytes, which stores alone have";
  const bool narrow = six && (m.box[0] == 64 || m.swizzle == 2);
  if (narrow && !m.im2col && !a.writes)
    return "a load through a map of 6 bits as stores alone have it";
  return {};
}

std::string refuse_innermost(const TensorMap& m, const TensorAccess& a) {
  if (m.interleave != 0) return {};
  if (m.padded()) {
    const bool by_64 = a.sm == 103 && a.writes;
    if (a.at[0] % (by_64 ? 64 : 128) != 0)
      return "the innermost coordinate is " + number(a.at[0]) + ", and padded elements come by " +
             (by_64 ? "64" : "128");
    return {};
  }
  const std::int64_t bits = std::int64_t{a.at[0]} * m.element_bits();
  if (bits % 128 != 0) {
    return "the innermost coordinate is " + number(a.at[0]) + ", " + number(bits / 8) +
           " bytes into the dimension: no multiple of 16";
  }
  return {};
}

}  // namespace

std::string mismatch(const TensorMap& m, TensorMode mode) {
  const bool wide = is_wide(mode);
  if (m.im2col != (mode == TensorMode::kIm2col || wide)) {
    return m.im2col ? "a copy of a tile through a map that is for im2col"
                    : "a copy with im2col through a map that is for tiles";
  }
  if (m.im2col && m.wide != (mode == TensorMode::kIm2colW128 ? 2 : wide ? 1 : 0)) {
    constexpr const char* kModes[] = {"im2col", "im2col::w", "im2col::w::128"};
    return std::string("a copy of another mode than that of the map, which is for ") +
           kModes[m.wide];
  }
  if (mode == TensorMode::kFourRows) {
    if (m.interleave != 0) return "four rows of an interleaved tensor";
    if (m.box[1] != 1)
      return "four rows through a map whose box has " + number(m.box[1]) + " rows: 1 is wanted";
  }
  return {};
}

std::string refusal(const TensorMap& m, const TensorAccess& a) {
  if (std::string why = refuse_halo(a); !why.empty()) return why;
  if (std::string why = refuse_direction(m, a); !why.empty()) return why;
  if (std::string why = refuse_innermost(m, a); !why.empty()) return why;
  const std::uint32_t coordinates = a.mode == TensorMode::kFourRows ? 1 + kRowsTogether : m.rank;
  for (std::uint32_t d = 0; a.writes && d < coordinates; ++d) {
    if (a.at[d] < 0)
      return "coordinate " + number(d) + " is " + number(a.at[d]) +
             ": what is written to must not begin before the tensor";
  }
  const bool wide = is_wide(a.mode);
  for (std::uint32_t d = 0; m.im2col && d < (wide ? 1 : m.spatial()); ++d) {
    if (a.writes && (m.lower[d] < 0 || m.upper[d] > 0))
      return "writing through a map whose box of pixels goes beyond the tensor";
    const std::int64_t c = a.at[m.first_spatial() + d],
                       end = static_cast<std::int64_t>(m.sizes[m.first_spatial() + d]) + m.upper[d];
    // Along one dimension, a copy may begin before the box.
    if ((c < m.lower[d] && !wide) || c >= end) {
      return "coordinate " + number(m.first_spatial() + d) + " is " + number(c) +
             ", outside of the pixels' box, which goes from " + number(m.lower[d]) + " to " +
             number(end - 1);
    }
  }
  return {};
}

TensorRows::TensorRows(const TensorMap& map, const TensorAccess& access)
    : map_(map), access_(access) {
  for (std::uint32_t d = 0; d < map.rank; ++d) at_[d] = first_[d] = access.at[d];
  if (is_wide(access.mode)) go_along(0);
}

std::uint32_t TensorRows::count() const {
  switch (access_.mode) {
    case TensorMode::kFourRows: return kRowsTogether;
    case TensorMode::kIm2colW: return map_.pixels + access_.offsets[0];
    case TensorMode::kIm2colW128:
      return kWidePixels + kWidePixels / kHaloEvery * access_.offsets[0];
    default: return map_.rows();
  }
}

std::int64_t TensorRows::offset(std::uint32_t d) const {
  const std::uint32_t first = map_.first_spatial();
  if (access_.mode != TensorMode::kIm2col) return 0;
  return d >= first && d < first + map_.spatial() ? access_.offsets[d - first] : 0;
}

std::uint64_t TensorRows::base() const {
  std::uint64_t address = map_.address;
  for (std::uint32_t d = 1; d < map_.rank; ++d)
    address += static_cast<std::uint64_t>(at_[d] + offset(d)) * map_.strides[d - 1];
  return address;
}

bool TensorRows::inside() const {
  for (std::uint32_t d = 1; d < map_.rank; ++d) {
    const std::int64_t c = at_[d] + offset(d);
    if (c < 0 || static_cast<std::uint64_t>(c) >= map_.sizes[d]) return false;
  }
  return true;
}

std::int64_t TensorRows::coordinate(std::uint32_t n) const {
  const std::uint32_t step = map_.interleave != 0 && !map_.im2col ? map_.steps[0] : 1;
  return at_[0] + offset(0) + std::int64_t{n} * step;
}

// im2col along one dimension: reads from the first pixel to the end of the box, then the boxes of
// the following images. The halo follows the last pixel. With 128 pixels, each 32 have a halo:
// behind all pixels come the first halo pixels of the four groups, then the second.
void TensorRows::go_along(std::uint32_t row) {
  std::int64_t position = row;
  if (access_.mode == TensorMode::kIm2colW128 && row >= kWidePixels) {
    constexpr std::uint32_t kHalos = kWidePixels / kHaloEvery;
    const std::uint32_t n = row - kWidePixels;
    position = kHaloEvery * (n % kHalos + 1) + n / kHalos;
  }
  const std::uint32_t last = map_.rank - 1;
  const std::int64_t moved = access_.offsets[1], step = map_.steps[1], from = first_[1] + moved,
                     begin = map_.lower[0] + moved,
                     end = static_cast<std::int64_t>(map_.sizes[1]) + map_.upper[0] + moved;
  const std::int64_t in_first = (end - from + step - 1) / step;
  if (position < in_first) {
    at_[1] = from + position * step;
    at_[last] = first_[last];
    return;
  }
  const std::int64_t in_box = (end - begin + step - 1) / step, rest = position - in_first;
  at_[1] = begin + rest % in_box * step;
  at_[last] = first_[last] + (1 + rest / in_box) * map_.steps[last];
}

void TensorRows::next() {
  ++row_;
  if (access_.mode == TensorMode::kFourRows) {
    if (row_ < kRowsTogether) at_[1] = access_.at[1 + row_];
    return;
  }
  if (is_wide(access_.mode)) return go_along(row_);
  if (!map_.im2col) {
    for (std::uint32_t d = 1; d < map_.rank; ++d) {
      if (map_.interleave != 0 && d == map_.slice_dimension()) continue;
      at_[d] += map_.steps[d];
      if (++done_[d] < (map_.box[d] + map_.steps[d] - 1) / map_.steps[d]) return;
      done_[d] = 0;
      at_[d] = first_[d];
    }
    return;
  }
  // The next pixel of the box; after the last one, the first pixel of the next image.
  for (std::uint32_t s = 0; s < map_.spatial(); ++s) {
    const std::uint32_t d = map_.first_spatial() + s;
    at_[d] += map_.steps[d];
    if (at_[d] < static_cast<std::int64_t>(map_.sizes[d]) + map_.upper[s]) return;
    at_[d] = map_.lower[s];
  }
  at_[map_.rank - 1] += map_.steps[map_.rank - 1];
}

}  // namespace lockstep::memory
