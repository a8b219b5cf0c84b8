// The input values of the recorded matrix kernels.
#include <algorithm>

#include "simulator/splitmix64.h"
#include "simulator/vectors/matrix_forms.h"

namespace lockstep::vectors {
namespace {

using isa::Type;

// The kind of a tile's numbers, by the tile's number.
enum class Range : int {
  kAll,         // any finite number
  kNearOne,     // exponents around zero
  kTiny,        // subnormal, and the smallest normal ones
  kCancelling,  // zeros, and few magnitudes of either sign
  kSpecial,     // NaNs and infinities among the others
  kHuge,        // up to overflow
  kSpread,      // a few exponents as far apart as the unit keeps bits
  kSparse,      // most are zero
  kCount,
};

struct Format {
  int fraction_bits = 0, exponent_bits = 0;
  bool has_infinity = true;
};
// Exponent bits 0: integers, or bits.
Format format_of(Type t) {
  switch (t) {
    case Type::kF16: return {10, 5};
    case Type::kBF16: return {7, 8};
    case Type::kTF32:
    case Type::kF32: return {23, 8};
    case Type::kF64: return {52, 11};
    case Type::kE4M3: return {3, 4, false};
    case Type::kE5M2: return {2, 5};
    default: return {};
  }
}

std::uint64_t number(const Format& f, Range range, bool accumulator, std::uint64_t r) {
  const std::uint64_t fraction_mask = (std::uint64_t{1} << f.fraction_bits) - 1,
                      top = (std::uint64_t{1} << f.exponent_bits) - 1;
  const std::uint64_t bias = top >> 1, sign = r >> 63;
  std::uint64_t fraction = r & fraction_mask, q = r >> 52 & 0x7ff;  // q: 11 further random bits
  if (f.fraction_bits == 52) q = (r * 0x9e3779b97f4a7c15) >> 53;
  std::uint64_t exponent = 0;
  const auto near = [&](std::uint64_t width, std::uint64_t below) {
    return bias + q % width - below;
  };
  switch (range) {
    case Range::kAll: exponent = q % top; break;
    case Range::kNearOne: exponent = near(accumulator ? 9 : 4, accumulator ? 3 : 2); break;
    case Range::kTiny: exponent = q % 3; break;
    case Range::kCancelling:
      if (q % 4 == 0) return sign << (f.fraction_bits + f.exponent_bits);
      exponent = near(2, 0);
      fraction = q >> 2 & 3 ? 0 : q >> 4 & 1 ? 1 : fraction_mask;
      break;
    case Range::kSpecial:
      exponent = q % 64 == 0 ? top : near(4, 2);
      if (q % 128 == 0 && f.has_infinity) fraction = 0;
      break;
    case Range::kHuge: exponent = top - 1 - q % 3; break;
    case Range::kSpread: {
      constexpr std::uint64_t kSteps[] = {0, 0, 5, 6, 10, 11, 12, 13};
      const std::uint64_t down = kSteps[q % 8] * (accumulator ? 2 : 1);
      exponent = bias > down ? bias - down : 0;
      fraction = q >> 3 & 1 ? fraction : q >> 4 & 1 ? 0 : fraction_mask;
      break;
    }
    default:
      if (q % 8 != 0) return sign << (f.fraction_bits + f.exponent_bits);
      exponent = near(8, 4);
  }
  if (!f.has_infinity && exponent == top && range != Range::kSpecial && fraction == fraction_mask)
    fraction = 0;  // the one NaN of e4m3
  return sign << (f.fraction_bits + f.exponent_bits) | exponent << f.fraction_bits | fraction;
}

std::uint64_t integer(Type type, Range range, std::uint64_t r) {
  const int bits = isa::bits_of(type);
  const std::uint64_t mask = bits == 64 ? ~std::uint64_t{0} : (std::uint64_t{1} << bits) - 1,
                      top = std::uint64_t{1} << (bits - 1);
  switch (range) {
    case Range::kTiny: return ((r & 3) - 1) & mask;
    case Range::kHuge: return ((r >> 8 & 1 ? top : top - 1) + (r & 1)) & mask;  // the ends
    case Range::kSparse: return r >> 8 & 7 ? 0 : r >> 16 & mask;
    case Range::kSpread: return (r >> 8 & 1 ? r >> 16 : r >> 40 | top) & mask;
    default: return r >> 16 & mask;
  }
}

// Four bits for every four columns of a sparse row: two column indices, in order (PTX ISA
// 9.7.14.6.1); for tf32 one of two.
std::uint32_t metadata(Type type, std::uint64_t r) {
  constexpr std::uint32_t kPairs[] = {0x4, 0x8, 0xc, 0x9, 0xd, 0xe};
  std::uint32_t word = 0;
  for (int i = 0; i < 8; ++i) {
    word |= (type == Type::kTF32 ? (r >> i & 1 ? 0xeu : 0x4u) : kPairs[(r >> (7 * i) & 0x7f) % 6])
            << (4 * i);
  }
  return word;
}

}  // namespace

std::vector<std::uint32_t> matrix_inputs(const MatrixForm& form) {
  std::uint64_t seed = 0;
  for (const Section& s : form.inputs)
    seed =
        seed * 131 + static_cast<std::uint64_t>(s.type) * 8 + static_cast<std::uint64_t>(s.words);
  return matrix_inputs(form, seed, form.tiles);
}

std::vector<std::uint32_t> matrix_inputs(const MatrixForm& form, std::uint64_t seed, int tiles) {
  std::uint64_t state = seed;
  std::vector<std::uint32_t> words;
  words.reserve(static_cast<std::size_t>(tiles) * static_cast<std::size_t>(form.input_words()));
  for (int tile = 0; tile < tiles; ++tile) {
    const auto range = static_cast<Range>(tile % static_cast<int>(Range::kCount));
    const bool accumulates = tile / static_cast<int>(Range::kCount) % 4 != 0;  // else C is zero
    for (const Section& s : form.inputs) {
      const Format format = format_of(s.type);
      const bool accumulator = s.use == Section::Use::kAccumulator;
      const int bits = std::max(1, isa::bits_of(s.type));
      for (int w = 0; w < form.lanes * s.words; w += std::max(1, bits / 32)) {
        std::uint64_t word = 0;
        if (s.use == Section::Use::kMetadata) {
          word = metadata(s.type, next_mixed(state));
        } else if (s.use == Section::Use::kAny || s.type == Type::kB1) {
          word = next_mixed(state) >> 32;
        } else {
          for (int at = 0; at < std::max(32, bits); at += bits) {
            const std::uint64_t r = next_mixed(state);
            if (accumulator && !accumulates) continue;
            word |= (format.exponent_bits != 0 ? number(format, range, accumulator, r)
                                               : integer(s.type, range, r))
                    << at;
          }
        }
        words.push_back(static_cast<std::uint32_t>(word));
        if (bits == 64) words.push_back(static_cast<std::uint32_t>(word >> 32));
      }
    }
  }
  return words;
}

}  // namespace lockstep::vectors
