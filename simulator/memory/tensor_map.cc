#include "simulator/memory/tensor_map.h"

#include <algorithm>
#include <cstring>

#include "simulator/splitmix64.h"

namespace lockstep::memory {
namespace {

constexpr std::uint64_t kSeed = 0x6c6f636b73746570;  // of the check
constexpr std::uint32_t kElementBytes[] = {1, 2, 4, 4, 8, 8, 2, 4, 8, 2, 4, 4, 4};
constexpr std::int32_t kTypes = 13;
constexpr std::uint64_t kMostBytes = 228 << 10;      // of a box: shared memory of a multiprocessor
constexpr std::uint32_t kSpan[] = {0, 32, 64, 128};  // by swizzle

struct Packed {
  std::uint64_t address;
  std::uint8_t type, rank;
  std::uint8_t empty;  // kUnusedBit lies here
  std::uint8_t interleave, swizzle, promotion, fill, im2col;
  std::uint64_t strides[4];
  std::uint32_t sizes_less_one[5];
  std::uint32_t box[5];
  std::int16_t lower[3], upper[3];
  std::uint16_t channels, pixels;
  std::uint8_t steps[5];
  std::uint8_t padding[3];
  std::uint64_t unused;
  std::uint64_t check;
};
static_assert(sizeof(Packed) == TensorMap::kBytes);
static_assert(offsetof(Packed, empty) == 8 * TensorMap::kUnusedWord + TensorMap::kUnusedBit / 8);

std::uint64_t check_of(const Packed& p) {
  std::uint64_t words[15], h = kSeed;
  std::memcpy(words, &p, sizeof words);
  words[TensorMap::kUnusedWord] &= ~(std::uint64_t{1} << TensorMap::kUnusedBit);
  for (const std::uint64_t w : words) h = mixed(h ^ w);
  return h;
}

std::string number(std::uint64_t n) { return std::to_string(n); }

// The rules that both kinds of map share, up to the box.
std::string refuse_tensor(const TensorMap& m) {
  if (m.type < 0 || m.type > 15) return "the type is none of CUtensorMapDataType";
  if (m.type >= kTypes) return "packed types of 4 and 6 bits need compute capability 10.0";
  if (m.rank < (m.im2col ? 3u : 1u) || m.rank > TensorMap::kMostDimensions)
    return "a tensor of " + number(m.rank) + " dimensions";
  if (m.interleave < 0 || m.interleave > 2) return "the layout is none of CUtensorMapInterleave";
  if (m.interleave != 0 && m.rank < 3) return "an interleaved tensor has three dimensions or more";
  if (m.swizzle < 0 || m.swizzle > 6) return "the pattern is none of CUtensorMapSwizzle";
  if (m.swizzle > 3) return "swizzles of atoms of 32 and 64 bytes need compute capability 10.0";
  if (m.promotion < 0 || m.promotion > 3) return "the promotion is none of CUtensorMapL2promotion";
  if (m.fill < 0 || m.fill > 1) return "the fill is none of CUtensorMapFloatOOBfill";
  if (m.fill == 1 && m.type < static_cast<std::int32_t>(TensorType::kF16))
    return "only floating-point elements can be filled with NaN";
  const std::uint32_t grain = m.interleave == 2 ? 32 : 16;
  if (m.address % grain != 0) return "the address is no multiple of " + number(grain);
  if (m.address >> 57 != 0) return "the address is beyond what a GPU has";
  for (std::uint32_t d = 0; d < m.rank; ++d) {
    if (m.sizes[d] == 0 || m.sizes[d] > 1ull << 32)
      return "dimension " + number(d) + " has " + number(m.sizes[d]) +
             " elements: 1 to 2^32 are possible";
    if (m.steps[d] == 0 || m.steps[d] > 8)
      return "dimension " + number(d) + " has an element stride of " + number(m.steps[d]) +
             ": 1 to 8 are possible";
  }
  for (std::uint32_t d = 0; d + 1 < m.rank; ++d) {
    if (m.strides[d] % grain != 0)
      return "the stride of dimension " + number(d + 1) + " is no multiple of " + number(grain);
    if (m.strides[d] >> 40 != 0)
      return "the stride of dimension " + number(d + 1) + " is 2^40 or more";
  }
  return {};
}

std::string refuse_pixels(const TensorMap& m) {
  if (m.channels == 0 || m.channels > 256)
    return "pixels of " + number(m.channels) + " channels: 1 to 256 are possible";
  if (m.pixels == 0 || m.pixels > 1024)
    return "columns of " + number(m.pixels) + " pixels: 1 to 1024 are possible";
  const std::int32_t most = m.rank == 3 ? 32767 : m.rank == 4 ? 127 : 15;
  for (std::uint32_t d = 0; d < m.spatial(); ++d) {
    if (std::max(m.lower[d], m.upper[d]) > most || std::min(m.lower[d], m.upper[d]) < -most - 1) {
      return "a corner of the pixels' box is beyond " + std::to_string(-most - 1) + " to " +
             std::to_string(most);
    }
    // In 32 bits, as silicon does it.
    const auto end =
        static_cast<std::int32_t>(static_cast<std::uint32_t>(m.sizes[m.first_spatial() + d]) +
                                  static_cast<std::uint32_t>(m.upper[d]));
    if (end <= m.lower[d]) return "the pixels' box is empty";
  }
  return {};
}

std::string refuse_box(const TensorMap& m) {
  for (std::uint32_t d = 0; d < m.rank; ++d) {
    if (m.box[d] == 0 || m.box[d] > 256)
      return "dimension " + number(d) + " of the box has " + number(m.box[d]) +
             " elements: 1 to 256 are possible";
  }
  std::uint64_t bytes = std::uint64_t{m.box[0]} * m.element_bytes();
  for (std::uint32_t d = 1; d < m.rank; ++d) bytes *= (m.box[d] + m.steps[d] - 1) / m.steps[d];
  if (bytes > kMostBytes)
    return "the box has " + number(bytes) + " bytes: " + number(kMostBytes) + " are the most";
  return {};
}

}  // namespace

std::uint32_t TensorMap::element_bytes() const {
  return type >= 0 && type < kTypes ? kElementBytes[type] : 1;
}

std::uint32_t TensorMap::row_units() const {
  if (im2col) return interleave != 0 ? 1 : channels;
  return interleave != 0 ? (box[0] + steps[0] - 1) / steps[0] : box[0];
}

std::uint32_t TensorMap::rows() const {
  if (im2col) return pixels;
  std::uint32_t n = 1;
  for (std::uint32_t d = 1; d < rank; ++d) {
    if (interleave == 0 || d != slice_dimension()) n *= (box[d] + steps[d] - 1) / steps[d];
  }
  return n;
}

std::uint32_t TensorMap::pitch() const {
  return interleave == 0 ? std::max(row_bytes(), kSpan[swizzle]) : row_bytes();
}

std::uint32_t TensorMap::covered_bytes() const {
  const std::uint32_t span = std::max(16u, kSpan[swizzle]);
  return (rows() * pitch() + span - 1) / span * span;
}

std::uint32_t TensorMap::place(std::uint32_t to, std::uint32_t offset) const {
  const std::uint32_t row = row_bytes(), at = to + offset / row * pitch() + offset % row;
  const std::uint32_t chunks = kSpan[swizzle] / 16;
  return chunks == 0 ? at : at ^ (at >> 7 & (chunks - 1)) << 4;
}

std::string refusal(const TensorMap& m) {
  std::string why = refuse_tensor(m);
  if (why.empty()) why = m.im2col ? refuse_pixels(m) : refuse_box(m);
  if (!why.empty()) return why;
  const std::uint32_t inner = (m.im2col ? m.channels : m.box[0]) * m.element_bytes();
  if (inner % 16 != 0) return "the box is " + number(inner) + " bytes wide, no multiple of 16";
  if (m.interleave == 0 && m.swizzle != 0 && inner > kSpan[m.swizzle]) {
    return "the box is " + number(inner) + " bytes wide, more than the " +
           number(kSpan[m.swizzle]) + " that are swizzled";
  }
  return {};
}

void encode(const TensorMap& m, std::byte* bytes) {
  Packed p{};
  p.address = m.address;
  std::copy(std::begin(m.strides), std::end(m.strides), p.strides);
  std::copy(std::begin(m.box), std::end(m.box), p.box);
  for (std::uint32_t d = 0; d < TensorMap::kMostDimensions; ++d) {
    p.sizes_less_one[d] = static_cast<std::uint32_t>(m.sizes[d] - 1);
    p.steps[d] = static_cast<std::uint8_t>(std::min(m.steps[d], 255u));
  }
  for (int d = 0; d < 3; ++d) {
    p.lower[d] = static_cast<std::int16_t>(m.lower[d]);
    p.upper[d] = static_cast<std::int16_t>(m.upper[d]);
  }
  p.channels = static_cast<std::uint16_t>(m.channels);
  p.pixels = static_cast<std::uint16_t>(m.pixels);
  p.type = static_cast<std::uint8_t>(m.type);
  p.rank = static_cast<std::uint8_t>(std::min(m.rank, 255u));
  p.interleave = static_cast<std::uint8_t>(m.interleave);
  p.swizzle = static_cast<std::uint8_t>(m.swizzle);
  p.promotion = static_cast<std::uint8_t>(m.promotion);
  p.fill = static_cast<std::uint8_t>(m.fill);
  p.im2col = m.im2col;
  p.check = check_of(p);
  std::memcpy(bytes, &p, sizeof p);
}

std::optional<TensorMap> decode(const std::byte* bytes) {
  Packed p;
  std::memcpy(&p, bytes, sizeof p);
  if (p.check != check_of(p)) return std::nullopt;
  TensorMap m;
  m.address = p.address;
  std::copy(std::begin(p.strides), std::end(p.strides), m.strides);
  std::copy(std::begin(p.box), std::end(p.box), m.box);
  for (std::uint32_t d = 0; d < TensorMap::kMostDimensions; ++d) {
    m.sizes[d] = std::uint64_t{p.sizes_less_one[d]} + 1;
    m.steps[d] = p.steps[d];
  }
  for (int d = 0; d < 3; ++d) {
    m.lower[d] = p.lower[d];
    m.upper[d] = p.upper[d];
  }
  m.channels = p.channels;
  m.pixels = p.pixels;
  m.type = p.type;
  m.rank = p.rank;
  m.interleave = p.interleave;
  m.swizzle = p.swizzle;
  m.promotion = p.promotion;
  m.fill = p.fill;
  m.im2col = p.im2col != 0;
  return m;
}

std::optional<TensorMap> decode_or_blank(const std::byte* bytes) {
  if (std::any_of(bytes, bytes + TensorMap::kBytes, [](std::byte b) { return b != std::byte{0}; }))
    return decode(bytes);
  TensorMap blank;
  blank.rank = 1;
  for (std::uint32_t d = 0; d < TensorMap::kMostDimensions; ++d)
    blank.sizes[d] = blank.steps[d] = blank.box[d] = 1;
  return blank;
}

std::string refusal(const TensorMap& m, const std::int32_t* at, bool writes) {
  if (m.interleave == 0) {
    const std::int64_t bytes = std::int64_t{at[0]} * m.element_bytes();
    if (bytes % 16 != 0) {
      return "the innermost coordinate is " + std::to_string(at[0]) + ", " + std::to_string(bytes) +
             " bytes into the dimension: no multiple of 16";
    }
  }
  for (std::uint32_t d = 0; writes && d < m.rank; ++d) {
    if (at[d] < 0)
      return "coordinate " + number(d) + " is " + std::to_string(at[d]) +
             ": what is written to must not begin before the tensor";
  }
  for (std::uint32_t d = 0; m.im2col && d < m.spatial(); ++d) {
    if (writes && (m.lower[d] < 0 || m.upper[d] > 0))
      return "writing through a map whose box of pixels goes beyond the tensor";
    const std::int64_t c = at[m.first_spatial() + d],
                       end = static_cast<std::int64_t>(m.sizes[m.first_spatial() + d]) + m.upper[d];
    if (c < m.lower[d] || c >= end) {
      return "coordinate " + number(m.first_spatial() + d) + " is " + std::to_string(c) +
             ", outside of the pixels' box, which goes from " + std::to_string(m.lower[d]) +
             " to " + std::to_string(end - 1);
    }
  }
  return {};
}

TensorRows::TensorRows(const TensorMap& map, const std::int32_t* at, const std::uint16_t* offsets)
    : map_(map) {
  for (std::uint32_t d = 0; d < map.rank; ++d) at_[d] = first_[d] = at[d];
  for (std::uint32_t d = 0; offsets != nullptr && map.im2col && d < map.spatial(); ++d)
    offsets_[d] = offsets[d];
}

std::int64_t TensorRows::offset(std::uint32_t d) const {
  const std::uint32_t first = map_.first_spatial();
  return d >= first && d < first + map_.spatial() ? offsets_[d - first] : 0;
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

void TensorRows::next() {
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
  // The next pixel of the box; past its last one comes the first of the next image.
  for (std::uint32_t s = 0; s < map_.spatial(); ++s) {
    const std::uint32_t d = map_.first_spatial() + s;
    at_[d] += map_.steps[d];
    if (at_[d] < static_cast<std::int64_t>(map_.sizes[d]) + map_.upper[s]) return;
    at_[d] = map_.lower[s];
  }
  at_[map_.rank - 1] += map_.steps[map_.rank - 1];
}

std::uint32_t loaded_word(TensorType type, std::uint32_t bits) {
  switch (type) {
    case TensorType::kTF32:
    case TensorType::kTF32Ftz:
      return (bits & 0x7fffffff) > 0x7f800000
                 ? 0x7fffe000
                 : (bits + 0x1000) & ~0x1fffu;  // to nearest, ties away from zero
    default: return bits;
  }
}

}  // namespace lockstep::memory
