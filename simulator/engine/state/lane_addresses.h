// The addresses of a warp's lanes: where they come from and the two shapes that are worth knowing,
// a row and a range.
#pragma once

#include <immintrin.h>

#include <bit>
#include <cstdint>

#include "simulator/engine/state/block.h"
#include "simulator/engine/state/request.h"
#include "simulator/program/matrix.h"

namespace lockstep::engine {

// Whether every lane's address is kStep more than that of the lane before.
template <int kStep>
inline bool consecutive(const std::uint64_t* a) {
  if (a[kWarpSize - 1] - a[0] != (kWarpSize - 1) * kStep) return false;
  const __m256i first = _mm256_set1_epi64x(static_cast<long long>(a[0]));
  __m256i want = _mm256_add_epi64(first, _mm256_setr_epi64x(0, kStep, 2 * kStep, 3 * kStep));
  __m256i differ = _mm256_setzero_si256();
  for (int i = 0; i < 32; i += 4) {
    differ = _mm256_or_si256(
        differ, _mm256_xor_si256(want, _mm256_load_si256(reinterpret_cast<const __m256i*>(a + i))));
    want = _mm256_add_epi64(want, _mm256_set1_epi64x(4 * kStep));
  }
  return _mm256_testz_si256(differ, differ);
}
template <int kStep>
inline bool consecutive(const std::uint32_t* a) {
  if (a[kWarpSize - 1] - a[0] != (kWarpSize - 1) * kStep) return false;
  const __m256i first = _mm256_set1_epi32(static_cast<int>(a[0]));
  __m256i want = _mm256_add_epi32(
      first,
      _mm256_mullo_epi32(_mm256_set1_epi32(kStep), _mm256_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7)));
  __m256i differ = _mm256_setzero_si256();
  for (int i = 0; i < 32; i += 8) {
    differ = _mm256_or_si256(
        differ, _mm256_xor_si256(want, _mm256_load_si256(reinterpret_cast<const __m256i*>(a + i))));
    want = _mm256_add_epi32(want, _mm256_set1_epi32(8 * kStep));
  }
  return _mm256_testz_si256(differ, differ);
}

// Whether every lane has the same address.
inline bool all_same(const std::uint64_t* a) {
  if (a[kWarpSize - 1] != a[0]) return false;
  const __m256i first = _mm256_set1_epi64x(static_cast<long long>(a[0]));
  __m256i differ = _mm256_setzero_si256();
#pragma GCC unroll 8
  for (int i = 0; i < kWarpSize; i += 4)
    differ = _mm256_or_si256(
        differ,
        _mm256_xor_si256(first, _mm256_load_si256(reinterpret_cast<const __m256i*>(a + i))));
  return _mm256_testz_si256(differ, differ);
}

// How far each lane's address is from `base`, in 32 bits, 64-byte aligned. The lanes for which
// these are too few.
inline LaneMask distances(const std::uint64_t* a, std::uint64_t base, std::uint32_t* out) {
  const __m256i from = _mm256_set1_epi64x(static_cast<long long>(base));
  LaneMask far = 0;
  for (int i = 0; i < kWarpSize; i += 8) {
    const auto four = [&](int at) {
      return _mm256_castsi256_ps(
          _mm256_sub_epi64(_mm256_loadu_si256(reinterpret_cast<const __m256i*>(a + at)), from));
    };
    const __m256 one = four(i), other = four(i + 4);
    // Low and high halves, of the lanes 0 1 4 5 2 3 6 7.
    const __m256i low = _mm256_castps_si256(_mm256_shuffle_ps(one, other, 0x88)),
                  high = _mm256_castps_si256(_mm256_shuffle_ps(one, other, 0xdd));
    _mm256_store_si256(reinterpret_cast<__m256i*>(out + i), _mm256_permute4x64_epi64(low, 0xd8));
    const __m256i near =
        _mm256_cmpeq_epi32(_mm256_permute4x64_epi64(high, 0xd8), _mm256_setzero_si256());
    far |= (static_cast<LaneMask>(_mm256_movemask_ps(_mm256_castsi256_ps(near))) ^ 0xff) << i;
  }
  return far;
}

// Of all lanes, active or not.
inline void load_addresses(const Warp& w, const Op& op, std::uint64_t* out) {
  const auto offset = static_cast<std::uint64_t>(op.immediate);
  if (op.as<MemoryFields>().has(kNarrowAddress)) {
    const std::uint32_t* a = source<std::uint32_t>(w, op.src[0]);
    for (int i = 0; i < kWarpSize; ++i) out[i] = a[i] + offset;
  } else {
    const std::uint64_t* a = source<std::uint64_t>(w, op.src[0]);
    for (int i = 0; i < kWarpSize; ++i) out[i] = a[i] + offset;
  }
  if (op.as<MemoryFields>().has(kFrameAddress)) {
    const std::uint32_t base = w.control->frames[w.control->frame].local_base;
    for (int i = 0; i < kWarpSize; ++i) out[i] += base;
  }
}

// The same of ldmatrix, stmatrix, wmma.load and wmma.store.
inline void matrix_addresses(const Warp& w, const Op& op, std::uint64_t* out) {
  const program::AddressOperand& a =
      w.block->program->matrices[static_cast<std::size_t>(op.immediate)].address;
  for (int l = 0; l < kWarpSize; ++l) {
    out[l] =
        (a.narrow ? source<std::uint32_t>(w, a.slot)[l] : source<std::uint64_t>(w, a.slot)[l]) +
        static_cast<std::uint64_t>(a.offset);
  }
}

// Where the first of `lanes` goes, but for the offset, which is the same each time.
inline std::uint64_t first_address(const Warp& w, const Op& op, LaneMask lanes) {
  const int lane = std::countr_zero(lanes);
  return op.as<MemoryFields>().has(kNarrowAddress) ? source<std::uint32_t>(w, op.src[0])[lane]
                                                   : source<std::uint64_t>(w, op.src[0])[lane];
}

// Whether what goes through these lanes one by one costs less than what goes through all of a warp
// at once.
inline bool few(LaneMask lanes) { return std::popcount(lanes) <= 4; }

// The lowest and the highest of 32-bit addresses, 32-byte aligned, of all lanes, and all of them
// or-ed together.
struct ShortExtent {
  std::uint32_t low, high, bits;
};
inline ShortExtent extent(const std::uint32_t* a) {
  const auto eight = [&](int i) {
    return _mm256_load_si256(reinterpret_cast<const __m256i*>(a + i));
  };
  __m256i low = eight(0), high = low, bits = low;
  for (int i = 8; i < kWarpSize; i += 8) {
    low = _mm256_min_epu32(low, eight(i));
    high = _mm256_max_epu32(high, eight(i));
    bits = _mm256_or_si256(bits, eight(i));
  }
  const auto halves = [](__m256i v, auto f) {
    return f(_mm256_castsi256_si128(v), _mm256_extracti128_si256(v, 1));
  };
  const auto least = [](__m128i x, __m128i y) { return _mm_min_epu32(x, y); };
  const auto either = [](__m128i x, __m128i y) { return _mm_or_si128(x, y); };
  // The highest is what the least of the complements is the complement of: both are found at once.
  const __m256i none = _mm256_set1_epi32(-1);
  const __m128i lows = halves(low, least),
                complements = halves(_mm256_xor_si256(high, none), least),
                pairs = _mm_min_epu32(_mm_unpacklo_epi32(lows, complements),
                                      _mm_unpackhi_epi32(lows, complements)),
                both = _mm_min_epu32(pairs, _mm_unpackhi_epi64(pairs, pairs));
  const __m128i ored = halves(bits, either);
  const auto two = static_cast<std::uint64_t>(_mm_cvtsi128_si64(both)),
             ends = static_cast<std::uint64_t>(
                 _mm_cvtsi128_si64(_mm_or_si128(ored, _mm_unpackhi_epi64(ored, ored))));
  return {static_cast<std::uint32_t>(two), ~static_cast<std::uint32_t>(two >> 32),
          static_cast<std::uint32_t>(ends | ends >> 32)};
}

// The lowest and the highest address of some lanes, and the low six bits of all of them or-ed
// together.
struct Extent {
  std::uint64_t low = ~0ull, high = 0, bits = 0;
};
inline Extent extent(const std::uint64_t* a, LaneMask lanes) {
  std::uint64_t low = ~0ull, high = 0, bits = 0;
  if (few(lanes)) {
    for (; lanes != 0; lanes &= lanes - 1) {
      const std::uint64_t here = a[std::countr_zero(lanes)];
      low = here < low ? here : low;
      high = here > high ? here : high;
      bits |= here;
    }
    return {low, high, bits & 63};
  }
  // Most often they are near to one another.
  const int first = std::countr_zero(lanes);
  const std::uint64_t base = (a[first] - (1u << 31)) & ~std::uint64_t{63};
  alignas(32) std::uint32_t at[kWarpSize];
  if ((distances(a, base, at) & lanes) == 0) {
    const std::uint32_t somewhere = at[first];
    for (int i = 0; i < kWarpSize; ++i) at[i] = lanes >> i & 1 ? at[i] : somewhere;
    const ShortExtent e = extent(at);
    return {base + e.low, base + e.high, e.bits & 63};
  }
  for (int i = 0; i < kWarpSize; ++i) {
    const std::uint64_t on = lanes >> i & 1 ? ~0ull : 0;
    const std::uint64_t up = a[i] | ~on, down = a[i] & on;
    low = up < low ? up : low;
    high = down > high ? down : high;
    bits |= down;
  }
  return {low, high, bits & 63};
}

}  // namespace lockstep::engine
