#include "simulator/memory/tensor_map.h"

#include <algorithm>
#include <cstring>

#include "simulator/splitmix64.h"

namespace lockstep::memory {
namespace {

constexpr std::uint64_t kSeed = 0x6c6f636b73746570;  // of the check
constexpr std::uint32_t kElementBits[] = {8,  16, 32, 32, 64, 64, 16, 32,
                                          64, 16, 32, 32, 32, 4,  4,  6};
constexpr std::int32_t kTypes = 16;
constexpr std::int32_t kHopperTypes = 13;
constexpr std::uint64_t kMostBytes = 228 << 10;  // of a box: the shared memory of a multiprocessor
constexpr std::uint32_t kSpan[] = {0, 32, 64, 128, 96};  // by swizzle
constexpr std::int32_t k128 = 3, k96 = 4;
constexpr std::int32_t kAtom16 = 0, kAtom32 = 1, kAtom32Turned = 2, kAtom64 = 3;

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

// The requirements of packed types, beside alignment (cuda.h; PTX ISA 9.7.9.27.1.1).
std::string refuse_packed(const TensorMap& m, int sm) {
  if (!m.packed()) return {};
  if (!m.padded())
    return m.sizes[0] % 2 != 0 ? "a tensor of 4 bits with an odd number of elements in a row" : "";
  const bool six = m.type == static_cast<std::int32_t>(TensorType::k16U6Align16);
  if (six && m.interleave != 0) return "elements of 6 bits are not interleaved";
  const std::uint64_t by = six && sm == 103 ? 64 : 128;
  if (m.sizes[0] % by != 0) return "rows of padded elements come by " + number(by);
  const bool atom = m.atom == kAtom32 || m.atom == kAtom16 || (six && m.atom == kAtom64);
  const bool narrow = six && m.swizzle == 2;  // of sm_103, when it stores
  if ((m.swizzle != 0 && m.swizzle != k128 && !narrow) || !atom)
    return "padded elements are swizzled in another way than these can be";
  return {};
}

// The rules that both kinds of map share, up to the box.
std::string refuse_tensor(const TensorMap& m, int sm) {
  if (m.type < 0 || m.type >= kTypes) return "the type is none of CUtensorMapDataType";
  if (m.type >= kHopperTypes && sm < 100)
    return "packed types of 4 and 6 bits need compute capability 10.0";
  if (m.rank < (m.im2col ? 3u : 1u) || m.rank > TensorMap::kMostDimensions)
    return "a tensor of " + number(m.rank) + " dimensions";
  if (m.interleave < 0 || m.interleave > 2) return "the layout is none of CUtensorMapInterleave";
  if (m.interleave != 0 && m.rank < 3) return "an interleaved tensor has three dimensions or more";
  if (m.swizzle < 0 || m.swizzle > k96 || m.atom < 0 || m.atom > kAtom64)
    return "the pattern is none of CUtensorMapSwizzle";
  if (m.atom != kAtom16 && sm < 100)
    return "swizzles of atoms of 32 and 64 bytes need compute capability 10.0";
  if (m.atom != kAtom16 && m.swizzle != k128)
    return "only swizzles of 128 bytes have atoms of other than 16 bytes";
  if (m.swizzle == k96 && sm != 103) return "a swizzle of 96 bytes needs compute capability 10.3";
  if (m.swizzle == k96 && (m.interleave != 0 || m.padded()))
    return "what is interleaved or padded is not swizzled by 96 bytes";
  if (m.promotion < 0 || m.promotion > 3) return "the promotion is none of CUtensorMapL2promotion";
  if (m.fill < 0 || m.fill > 1) return "the fill is none of CUtensorMapFloatOOBfill";
  if (m.fill == 1 && (m.type < static_cast<std::int32_t>(TensorType::kF16) || m.packed()))
    return "only floating-point elements can be filled with NaN";
  if (std::string why = refuse_packed(m, sm); !why.empty()) return why;
  const bool six = m.type == static_cast<std::int32_t>(TensorType::k16U6Align16);
  // Stores of sm_103 take six bits at multiples of 16 bytes.
  const std::uint32_t grain = m.interleave == 2 || (m.padded() && !(six && sm == 103)) ? 32 : 16;
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
  if (m.wide != 2 && (m.pixels == 0 || m.pixels > 1024))
    return "columns of " + number(m.pixels) + " pixels: 1 to 1024 are possible";
  const std::int32_t most = m.rank == 3 || m.wide != 0 ? 32767 : m.rank == 4 ? 127 : 15;
  if (m.wide != 0) {
    if (m.interleave != 0) return "im2col along one dimension is not of interleaved tensors";
    if ((m.swizzle != 2 && m.swizzle != k128) || m.atom > kAtom32)
      return "im2col along one dimension wants a swizzle of 64 bytes, or of 128 bytes in atoms of "
             "16 or 32";
  }
  for (std::uint32_t d = 0; d < (m.wide != 0 ? 1 : m.spatial()); ++d) {
    if (std::max(m.lower[d], m.upper[d]) > most || std::min(m.lower[d], m.upper[d]) < -most - 1) {
      return "a corner of the pixels' box is beyond " + std::to_string(-most - 1) + " to " +
             std::to_string(most);
    }
    // Computed in 32 bits, as on silicon.
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
  std::uint64_t bytes = std::uint64_t{m.box[0]} * m.shared_element_bits() / 8;
  for (std::uint32_t d = 1; d < m.rank; ++d) bytes *= (m.box[d] + m.steps[d] - 1) / m.steps[d];
  if (bytes > kMostBytes)
    return "the box has " + number(bytes) + " bytes: " + number(kMostBytes) + " are the most";
  return {};
}

}  // namespace

std::uint32_t TensorMap::element_bits() const {
  return type >= 0 && type < kTypes ? kElementBits[type] : 8;
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

std::uint32_t TensorMap::covered_bytes(std::uint32_t of_rows) const {
  const std::uint32_t span = std::max(16u, kSpan[swizzle]);
  return (of_rows * pitch() + span - 1) / span * span;
}

std::uint32_t TensorMap::place(std::uint32_t to, std::uint32_t offset) const {
  const std::uint32_t row = row_bytes(), at = to + offset / row * pitch() + offset % row;
  const std::uint32_t line = at >> 7;
  switch (swizzle) {
    case 1:
    case k96: return at ^ (line & 1) << 4;
    case 2: return at ^ (line & 3) << 4;
    case k128:
      return at ^ (atom == kAtom16   ? (line & 7) << 4
                   : atom == kAtom64 ? (line & 1) << 6
                                     : (line & 3) << 5);
    default: return at;
  }
}

std::string refusal(const TensorMap& m, int sm) {
  std::string why = refuse_tensor(m, sm);
  if (why.empty()) why = m.im2col ? refuse_pixels(m) : refuse_box(m);
  if (!why.empty()) return why;
  const std::uint32_t units = m.im2col ? m.channels : m.box[0],
                      inner = units * m.shared_element_bits() / 8;
  const bool six = m.type == static_cast<std::int32_t>(TensorType::k16U6Align16);
  if (m.padded() && units != 128 && !(six && sm == 103 && units == 64))
    return "the box is " + number(units) + " elements wide: padded ones come by 128";
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
  p.swizzle = static_cast<std::uint8_t>((m.swizzle & 15) | m.atom << 4);
  p.promotion = static_cast<std::uint8_t>(m.promotion);
  p.fill = static_cast<std::uint8_t>(m.fill);
  p.im2col = static_cast<std::uint8_t>((m.im2col ? 1 : 0) | m.wide << 1);
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
  m.swizzle = p.swizzle & 15;
  m.atom = p.swizzle >> 4;
  m.promotion = p.promotion;
  m.fill = p.fill;
  m.im2col = p.im2col != 0;
  m.wide = p.im2col >> 1;
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
