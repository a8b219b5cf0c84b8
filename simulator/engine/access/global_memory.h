// A cache of the global memory ranges that kernels may access, by the instruction that accessed
// them last.
#pragma once

#include "simulator/engine/state/block.h"
#include "simulator/engine/state/worker.h"

namespace lockstep::engine {

// The range that this instruction accessed last. Empty if the set of allocations has changed since.
// Empty also if the written state of a whole allocation has changed.
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
// Copies to `c` the range of another instruction that holds the bytes. A range is valid for all
// instructions, and a search of the cache costs less than a search of the allocations. Returns
// false if no range holds the bytes.
bool refill_from_others(const Worker& k, CachedRange& c, std::uint64_t address,
                        std::uint64_t bytes);

}  // namespace lockstep::engine
