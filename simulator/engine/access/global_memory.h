// A cache of the global memory ranges that kernels may access, by the instruction that accessed
// them last.
#pragma once

#include "simulator/engine/state/block.h"
#include "simulator/engine/state/worker.h"

namespace lockstep::engine {

// The range that this instruction accessed last. Empty if the set of allocations has changed since,
// or what is written of them as a whole.
inline CachedRange& cached(Worker& k, const Op& op) {
  const std::uint64_t generation = k.memory->cache_generation();
  if (__builtin_expect(k.generation != generation, 0)) {
    for (CachedRange& c : k.cache) c = CachedRange{};
    k.generation = generation;
  }
  return k.cache[op.origin % kCacheSlots];
}
inline bool holds(const CachedRange& c, std::uint64_t address, std::uint64_t bytes) {
  const std::uint64_t at = address - c.begin;
  return at < c.size && c.size - at >= bytes;
}
// Copies to `c` the range of another instruction that holds the bytes: a range is valid for all
// instructions, and a search of the cache costs less than one of the allocations. False: none does.
bool refill_from_others(const Worker& k, CachedRange& c, std::uint64_t address,
                        std::uint64_t bytes);

}  // namespace lockstep::engine
