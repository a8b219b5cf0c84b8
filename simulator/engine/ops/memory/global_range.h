// Finds the elements of global memory that the lanes of a load, store or atomic access, if they lie
// in one range that the host thread has cached (access/global_memory.h).
#pragma once

#include <bit>
#include <cstdint>

#include "simulator/engine/access/global_memory.h"
#include "simulator/engine/access/global_words.h"

namespace lockstep::engine {

// The cached range for the first lane's element. If the instruction's own range does not hold it,
// another instruction's does so, or none.
template <int kBytes>
inline const CachedRange& range_of(Worker& k, const Warp& w, const Op& op, LaneMask mask) {
  CachedRange& c = cached(k, op);
  const std::uint64_t first = source<std::uint64_t>(w, op.src[0])[std::countr_zero(mask)] +
                              static_cast<std::uint64_t>(op.immediate);
  if (!holds(c, first, kBytes)) refill_from_others(k, c, first, kBytes);
  return c;
}

// Finds each lane's element. Returns false if one lies outside of the instruction's range.
template <int kBytes>
inline bool find_words(const Warp& w, const Op& op, const CachedRange& c, LaneMask mask,
                       GlobalWords& words) {
  return (c.begin & (kBytes - 1)) == 0 &&
         find_words(source<std::uint64_t>(w, op.src[0]),
                    c.begin - static_cast<std::uint64_t>(op.immediate), c.size, mask, kBytes,
                    kBytes, words);
}

}  // namespace lockstep::engine
