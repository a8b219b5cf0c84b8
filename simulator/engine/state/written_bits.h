// The written-shadow of a memory: bit i of byte k stands for byte 8 k + i of the memory. The
// engine's handlers read and change it at every access, so these functions are inline.
#pragma once

#include <bit>
#include <cstdint>
#include <cstring>

#include "simulator/engine/state/relaxed_bytes.h"
#include "simulator/engine/state/vocabulary.h"

namespace lockstep::engine {

// Calls f with the number of each lane in turn.
template <class F>
inline __attribute__((always_inline)) void each(LaneMask lanes, F f) {
  for (; lanes != 0; lanes &= lanes - 1) f(std::countr_zero(lanes));
}

inline std::uint8_t shadow_byte(const std::uint8_t* p) {
  return __atomic_load_n(p, __ATOMIC_RELAXED);
}

// Whether all `bits` bits from bit `first` of `shadow` on are set.
inline bool all_written(const std::uint8_t* shadow, std::uint64_t first, std::uint32_t bits) {
  shadow += first >> 3;
  const unsigned skip = first & 7;
  if (skip + bits <= 8) {
    const unsigned mask = ((1u << bits) - 1) << skip;
    return (shadow_byte(shadow) & mask) == mask;
  }
  if (skip != 0) {
    const unsigned mask = 0xffu << skip;
    if ((shadow_byte(shadow++) & mask) != (mask & 0xff)) return false;
    bits -= 8 - skip;
  }
  for (; bits >= 64; bits -= 64, shadow += 8) {
    if (load_eight(shadow) != ~0ull) return false;
  }
  for (; bits >= 8; bits -= 8) {
    if (shadow_byte(shadow++) != 0xff) return false;
  }
  const unsigned mask = (1u << bits) - 1;
  return (shadow_byte(shadow) & mask) == mask;
}

// As all_written(), for a row of accesses, from bit `skip` of the first byte.
template <std::uint32_t kBits>
inline __attribute__((always_inline)) bool row_is_written(const std::uint8_t* shadow,
                                                          unsigned skip) {
  if constexpr (kBits % 64 != 0) return all_written(shadow, skip, kBits);
  const unsigned before = (1u << skip) - 1;
  std::uint64_t all = load_eight(shadow) | before;
  for (std::uint32_t k = 8; k < kBits / 8; k += 8) all &= load_eight(shadow + k);
  return all == ~0ull && (skip == 0 || (shadow_byte(shadow + kBits / 8) & before) == before);
}

// Sets bits. Other host threads may write neighbouring bits: whole bytes can be stored, parts of
// bytes need an atomic.
inline void set_written(std::uint8_t* shadow, std::uint64_t first, std::uint32_t bits) {
  shadow += first >> 3;
  const unsigned skip = first & 7;
  const auto part = [](std::uint8_t* p, unsigned mask) {
    if ((shadow_byte(p) & mask) != mask)
      __atomic_fetch_or(p, static_cast<std::uint8_t>(mask), __ATOMIC_RELAXED);
  };
  if (skip + bits <= 8) {
    part(shadow, (((1u << bits) - 1) << skip) & 0xff);
    return;
  }
  if (skip != 0) {
    part(shadow++, (0xffu << skip) & 0xff);
    bits -= 8 - skip;
  }
  for (; bits >= 64; bits -= 64, shadow += 8) store_eight(shadow, ~0ull);
  for (; bits >= 8; bits -= 8) __atomic_store_n(shadow++, std::uint8_t{0xff}, __ATOMIC_RELAXED);
  if (bits != 0) part(shadow, (1u << bits) - 1);
}

inline void clear_written(std::uint8_t* shadow, std::uint64_t first, std::uint32_t bits) {
  for (std::uint64_t i = first; i < first + bits; ++i) {
    __atomic_fetch_and(shadow + (i >> 3), static_cast<std::uint8_t>(~(1u << (i & 7))),
                       __ATOMIC_RELAXED);
  }
}

// The bytes of an access of at most 32 bytes that nobody has written, one bit each.
inline std::uint32_t missing_bytes(const std::uint8_t* shadow, std::uint64_t first,
                                   std::uint32_t size) {
  std::uint32_t missing = 0;
  for (std::uint32_t k = 0; k < size; ++k)
    missing |= std::uint32_t{!(shadow_byte(shadow + ((first + k) >> 3)) >> ((first + k) & 7) & 1)}
               << k;
  return missing;
}

// The lanes with an unwritten byte; `missing` gets the unwritten bytes of each. In most cases all
// bytes between the lowest and the highest are written.
template <class At>
inline LaneMask unwritten_lanes(const std::uint8_t* shadow, std::uint64_t low, std::uint64_t span,
                                std::uint32_t size, LaneMask lanes, std::uint32_t* missing, At at) {
  if (span <= 4096 && all_written(shadow, low, static_cast<std::uint32_t>(span))) return 0;
  if (size <= 8) {
    // For aligned accesses, one byte of the shadow holds all bits of an access.
    unsigned none = 0;
    each(lanes, [&](int i) {
      const std::uint64_t bit = at(i);
      none |= static_cast<unsigned>(~shadow_byte(shadow + (bit >> 3))) >> (bit & 7);
    });
    if ((none & ((1u << size) - 1)) == 0) return 0;
  }
  LaneMask unwritten = 0;
  each(lanes, [&](int i) {
    if (all_written(shadow, at(i), size)) return;
    unwritten |= 1u << i;
    missing[i] = missing_bytes(shadow, at(i), size);
  });
  return unwritten;
}

// Marks a lane's stored bytes as written, except those in `missing`: a copy of an unwritten value
// is unwritten, too.
inline void set_written_but(std::uint8_t* shadow, std::uint64_t first, std::uint32_t size,
                            std::uint32_t missing) {
  set_written(shadow, first, size);
  for (; missing != 0; missing &= missing - 1)
    clear_written(shadow, first + static_cast<unsigned>(std::countr_zero(missing)), 1);
}

}  // namespace lockstep::engine
