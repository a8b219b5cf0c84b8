// The lanes of an access to global memory whose elements of 4 or 8 bytes all lie in one allocation,
// anywhere: where they are, whether they are written, and their copies. Eight lanes at a time.
//
// Other host threads may access the same bytes at the same time. No element is torn, as in
// state/relaxed_bytes.h.
#pragma once

#include <immintrin.h>

#include <bit>
#include <cstdint>
#include <cstring>

#include "simulator/engine/state/lane_addresses.h"
#include "simulator/engine/state/relaxed_bytes.h"
#include "simulator/engine/state/worker.h"
#include "simulator/engine/state/written_bits.h"

namespace lockstep::engine {

// Where lanes' elements are: bytes from the begin of a range. An inactive lane is where an active
// one is.
struct GlobalWords {
  alignas(32) std::uint32_t at[kWarpSize];
  std::uint32_t low, high;  // the least and the greatest of `at`
};

// All bits of the lanes i to i + 7 that are among `lanes`, and none of the others; for elements of
// 8 bytes of the lanes i to i + 3.
inline __attribute__((always_inline)) __m256i eight_of(LaneMask lanes, int i) {
  const __m256i bits = _mm256_setr_epi32(1, 2, 4, 8, 16, 32, 64, 128);
  return _mm256_cmpeq_epi32(_mm256_and_si256(_mm256_set1_epi32(static_cast<int>(lanes >> i)), bits),
                            bits);
}
inline __attribute__((always_inline)) __m256i four_of(LaneMask lanes, int i) {
  const __m256i bits = _mm256_setr_epi64x(1, 2, 4, 8);
  return _mm256_cmpeq_epi64(_mm256_and_si256(_mm256_set1_epi64x(lanes >> i), bits), bits);
}

// Finds the elements at `a`, each `more` bytes long with all that is accessed beside it, which must
// be aligned to `size` bytes. False: one lies outside of the range, or is not aligned. `begin`: the
// address of the range without the access's offset.
inline bool find_words(const std::uint64_t* a, std::uint64_t begin, std::uint64_t bytes,
                       LaneMask lanes, std::uint32_t size, std::uint32_t more, GlobalWords& out) {
  const __m256i somewhere = _mm256_set1_epi32(static_cast<int>(a[std::countr_zero(lanes)] - begin));
  const __m256i from = _mm256_set1_epi64x(static_cast<long long>(begin));
  __m256i far = _mm256_setzero_si256(), bits = far, low = _mm256_set1_epi32(-1), high = far;
  for (int i = 0; i < kWarpSize; i += 8) {
    const auto four = [&](int k) {
      return _mm256_castsi256_ps(
          _mm256_sub_epi64(_mm256_loadu_si256(reinterpret_cast<const __m256i*>(a + k)), from));
    };
    const __m256 one = four(i), other = four(i + 4);
    // Low and high halves, of the lanes 0 1 4 5 2 3 6 7.
    __m256i mixed = _mm256_castps_si256(_mm256_shuffle_ps(one, other, 0x88)),
            above = _mm256_castps_si256(_mm256_shuffle_ps(one, other, 0xdd));
    if (lanes != kAllLanes) {
      const __m256i here = _mm256_permute4x64_epi64(eight_of(lanes, i), 0xd8);
      mixed = _mm256_blendv_epi8(somewhere, mixed, here);
      above = _mm256_and_si256(above, here);
    }
    far = _mm256_or_si256(far, above);
    bits = _mm256_or_si256(bits, mixed);
    low = _mm256_min_epu32(low, mixed);
    high = _mm256_max_epu32(high, mixed);
    _mm256_store_si256(reinterpret_cast<__m256i*>(out.at + i),
                       _mm256_permute4x64_epi64(mixed, 0xd8));
  }
  const auto misaligned = _mm256_set1_epi32(static_cast<int>(size - 1));
  if (!_mm256_testz_si256(far, far) || !_mm256_testz_si256(bits, misaligned)) return false;
  const auto halves = [](__m256i v, auto f) {
    return f(_mm256_castsi256_si128(v), _mm256_extracti128_si256(v, 1));
  };
  const auto least = [](__m128i x, __m128i y) { return _mm_min_epu32(x, y); };
  // The greatest is the complement of the least of the complements: both are found at once.
  const __m128i lows = halves(low, least),
                complements = halves(_mm256_xor_si256(high, _mm256_set1_epi32(-1)), least),
                pairs = _mm_min_epu32(_mm_unpacklo_epi32(lows, complements),
                                      _mm_unpackhi_epi32(lows, complements)),
                both = _mm_min_epu32(pairs, _mm_unpackhi_epi64(pairs, pairs));
  const auto two = static_cast<std::uint64_t>(_mm_cvtsi128_si64(both));
  out.low = static_cast<std::uint32_t>(two);
  out.high = ~static_cast<std::uint32_t>(two >> 32);
  return std::uint64_t{out.high} + more <= bytes;
}

// A stretch of memory that is looked at as a whole: longer ones take longer than their elements.
inline constexpr std::uint32_t kShortStretch = 512;

// Four bytes of each of eight lanes, and eight of each of four. `at`: less than 2^31.
// Lanes whose bits in `which` are not set keep what `v` has.
inline __attribute__((always_inline)) __m256i gather_four(const void* from, __m256i at,
                                                          __m256i which, __m256i v) {
  asm volatile("vpgatherdd %1, (%2, %3), %0"
               : "+&x"(v), "+&x"(which)
               : "r"(from), "x"(at)
               : "memory");
  return v;
}
inline __attribute__((always_inline)) __m256i gather_eight(const void* from, __m128i at,
                                                           __m256i which, __m256i v) {
  asm volatile("vpgatherdq %1, (%2, %3), %0"
               : "+&x"(v), "+&x"(which)
               : "r"(from), "x"(at)
               : "memory");
  return v;
}

// Whether the bytes of the elements of `lanes`, `size` of each, are written. `shadow` and `skip`:
// the byte and the bit of the range's begin. Between aligned elements nothing is asked where they
// are far apart.
inline bool words_are_written(const std::uint8_t* shadow, std::uint32_t skip,
                              const GlobalWords& words, std::uint32_t size, LaneMask lanes) {
  const std::uint64_t span = std::uint64_t{words.high} - words.low + size;
  if (span <= kShortStretch &&
      all_written(shadow, std::uint64_t{words.low} + skip, static_cast<std::uint32_t>(span)))
    return true;
  const std::uint32_t whole = (1u << size) - 1;
  if (kAtomicsOnly || words.high >= 1u << 31) {  // an index of a gather has a sign
    unsigned missing = 0;
    for (const std::uint32_t at : words.at) {
      const std::uint64_t bit = std::uint64_t{at} + skip;
      missing |= static_cast<unsigned>(~shadow_byte(shadow + (bit >> 3))) >> (bit & 7);
    }
    return (missing & whole) == 0;
  }
  // Four bytes of the shadow at a time. The bits of an element lie in one of these.
  const auto misplaced = static_cast<std::uint32_t>(reinterpret_cast<std::uintptr_t>(shadow) & 3);
  shadow -= misplaced;
  const __m256i first = _mm256_set1_epi32(static_cast<int>(skip + 8 * misplaced));
  const __m256i every = _mm256_set1_epi32(-1);
  __m256i all = every;
  for (int i = 0; i < kWarpSize; i += 8) {
    if ((lanes >> i & 0xff) == 0) continue;
    const __m256i bit = _mm256_add_epi32(
                      _mm256_load_si256(reinterpret_cast<const __m256i*>(words.at + i)), first),
                  byte = _mm256_slli_epi32(_mm256_srli_epi32(bit, 5), 2);
    all = _mm256_and_si256(all, _mm256_srlv_epi32(gather_four(shadow, byte, every, every),
                                                  _mm256_and_si256(bit, _mm256_set1_epi32(31))));
  }
  return _mm256_testc_si256(all, _mm256_set1_epi32(static_cast<int>(whole)));
}

// Whether eight lanes' elements are side by side.
template <int kBytes>
inline __attribute__((always_inline)) bool side_by_side(__m256i at) {
  constexpr int b = kBytes;
  const __m256i row = _mm256_add_epi32(
                    _mm256_broadcastd_epi32(_mm256_castsi256_si128(at)),
                    _mm256_setr_epi32(0, b, 2 * b, 3 * b, 4 * b, 5 * b, 6 * b, 7 * b)),
                differ = _mm256_xor_si256(row, at);
  return _mm256_testz_si256(differ, differ);
}

// Copies the elements of `lanes` to the register at `to`.
template <int kBytes>
inline void load_words(std::byte* to, const std::byte* from, const GlobalWords& words,
                       LaneMask lanes) {
  if (kAtomicsOnly || words.high >= 1u << 31) {
    each(lanes, [&](int i) { load_element<kBytes>(to + i * kBytes, from + words.at[i]); });
    return;
  }
  const __m256i every = _mm256_set1_epi32(-1);
  for (int i = 0; i < kWarpSize; i += 8) {
    const LaneMask here = lanes >> i & 0xff;
    if (here == 0) continue;
    const __m256i at = _mm256_load_si256(reinterpret_cast<const __m256i*>(words.at + i));
    const bool row = here == 0xff && side_by_side<kBytes>(at);
    constexpr int kVectors = kBytes / 4;
    const __m128i halves[2] = {_mm256_castsi256_si128(at), _mm256_extracti128_si256(at, 1)};
    for (int part = 0; part < kVectors; ++part) {
      auto* const d = reinterpret_cast<__m256i*>(to + i * kBytes + 32 * part);
      __m256i v;
      if (row) {
        asm volatile("vmovdqu %1, %0"
                     : "=x"(v)
                     : "m"(bytes_at<32>(from + words.at[i] + 32 * part)));
      } else if constexpr (kBytes == 4) {
        v = here == 0xff ? gather_four(from, at, every, every)
                         : gather_four(from, at, eight_of(lanes, i), _mm256_loadu_si256(d));
      } else {
        v = here == 0xff ? gather_eight(from, halves[part], every, every)
                         : gather_eight(from, halves[part], four_of(lanes, i + 4 * part),
                                        _mm256_loadu_si256(d));
      }
      _mm256_storeu_si256(d, v);
    }
  }
}

// Copies the elements of `lanes` from the register at `from`: of lanes that name one place, the
// last one's stays. `shadow`, `skip`: as above, to mark them as written; nullptr: nothing is
// marked.
template <int kBytes>
inline void store_words(std::byte* to, const std::byte* from, const GlobalWords& words,
                        LaneMask lanes, std::uint8_t* shadow, std::uint32_t skip) {
  const bool marks = shadow != nullptr && !words_are_written(shadow, skip, words, kBytes, lanes);
  for (int i = 0; i < kWarpSize; i += 8) {
    const __m256i at = _mm256_load_si256(reinterpret_cast<const __m256i*>(words.at + i));
    if (!kAtomicsOnly && (lanes >> i & 0xff) == 0xff && side_by_side<kBytes>(at)) {
      if (marks) set_written(shadow, std::uint64_t{words.at[i]} + skip, 8 * kBytes);
      for (int part = 0; part < kBytes / 4; ++part) {
        const __m256i v =
            _mm256_loadu_si256(reinterpret_cast<const __m256i*>(from + i * kBytes + 32 * part));
        asm volatile("vmovdqu %1, %0" : "=m"(bytes_at<32>(to + words.at[i] + 32 * part)) : "x"(v));
      }
      continue;
    }
    each(lanes & 0xffu << i, [&](int lane) {
      if (marks) set_written(shadow, std::uint64_t{words.at[lane]} + skip, kBytes);
      store_element<kBytes>(to + words.at[lane], from + lane * kBytes);
    });
  }
}

}  // namespace lockstep::engine
