// The elements of a whole warp as four groups of eight lanes. In each group all lanes read one
// place, or places side by side, as rows of a block do that is narrower than a warp. Such groups
// need no gather, which takes many times as long as a load.
#pragma once

#include <immintrin.h>

#include <cstdint>
#include <cstring>

#include "simulator/engine/access/global_words.h"

namespace lockstep::engine {

// Bit i: the lanes of group i read one place. Otherwise they read places side by side.
using OnePlace = unsigned;

// Whether all four groups of `words` are as described above.
template <int kBytes>
inline bool find_groups(const GlobalWords& words, OnePlace& one_place) {
  if (kAtomicsOnly) return false;
  one_place = 0;
  for (int group = 0; group < 4; ++group) {
    const __m256i at = _mm256_load_si256(reinterpret_cast<const __m256i*>(words.at + 8 * group)),
                  differ =
                      _mm256_xor_si256(at, _mm256_broadcastd_epi32(_mm256_castsi256_si128(at)));
    if (_mm256_testz_si256(differ, differ)) {
      one_place |= 1u << group;
    } else if (!side_by_side<kBytes>(at)) {
      return false;
    }
  }
  return true;
}

// As words_are_written().
template <int kBytes>
inline bool groups_are_written(const std::uint8_t* shadow, std::uint32_t skip,
                               const GlobalWords& words, OnePlace one_place) {
  for (int group = 0; group < 4; ++group) {
    const std::uint32_t bits = one_place >> group & 1 ? kBytes : 8 * kBytes;
    if (!all_written(shadow, std::uint64_t{words.at[8 * group]} + skip, bits)) return false;
  }
  return true;
}

// Copies the elements of all lanes to the register at `to`.
template <int kBytes>
inline void load_groups(std::byte* to, const std::byte* from, const GlobalWords& words,
                        OnePlace one_place) {
  for (int group = 0; group < 4; ++group, to += 8 * kBytes) {
    const std::byte* const first = from + words.at[8 * group];
    std::byte element[8];
    if (one_place >> group & 1) load_element<kBytes>(element, first);
    for (int part = 0; part < kBytes / 4; ++part) {
      __m256i v;
      if ((one_place >> group & 1) == 0) {
        asm volatile("vmovdqu %1, %0" : "=x"(v) : "m"(bytes_at<32>(first + 32 * part)));
      } else if constexpr (kBytes == 4) {
        std::int32_t word;
        std::memcpy(&word, element, 4);
        v = _mm256_set1_epi32(word);
      } else {
        std::int64_t word;
        std::memcpy(&word, element, 8);
        v = _mm256_set1_epi64x(word);
      }
      _mm256_storeu_si256(reinterpret_cast<__m256i*>(to + 32 * part), v);
    }
  }
}

}  // namespace lockstep::engine
