// Sums of integers in global memory, which most atomics there are: four or eight bytes a lane from
// anywhere in one allocation, where no races are searched for.
#include <bit>

#include "simulator/engine/monitor/progress.h"
#include "simulator/engine/monitor/races.h"
#include "simulator/engine/ops/memory/atomics.h"
#include "simulator/engine/ops/memory/global_range.h"
#include "simulator/engine/state/turns.h"
#include "simulator/engine/state/worker.h"

namespace lockstep::engine {
namespace {

template <class U>
bool add_words(Warp& w, const Op& op, LaneMask mask) {
  Worker& k = *w.block->worker;
  const std::uint64_t first = first_address(w, op, mask) + static_cast<std::uint64_t>(op.immediate);
  const CachedRange& c = range_of<sizeof(U)>(k, w, op, mask);
  if (k.counting || !c.writable) return false;
  if (k.races != nullptr && (c.raced || w.overlapped != 0 || host_sees(w, first))) return false;
  GlobalWords words;
  if (!find_words<sizeof(U)>(w, op, c, mask, words)) return false;
  if (c.shadowed && !words_are_written(k.memory->written_shadow(c.begin & ~7ull), c.begin & 7,
                                       words, sizeof(U), mask))
    return false;
  ++k.counters.atomics;
  const U* const values = source<U>(w, op.src[1]);
  U* const results = op.dst == kNoSlot ? nullptr : destination<U>(w, op.dst);
  U any = 0;
  for (int i = 0; i < kWarpSize; ++i) any |= mask >> i & 1 ? values[i] : U{0};
  on_write(k, any != 0);
  std::byte* const bytes =
      reinterpret_cast<std::byte*>(c.begin + static_cast<std::uint64_t>(c.delta));
  add_lanes<U>(mask, values, results, words.low == words.high,
               [&](int i) { return reinterpret_cast<U*>(bytes + words.at[i]); });
  note_poll(w, w.pc - 1, first);
  strong_access(w);
  return true;
}

}  // namespace

bool add_in_global_memory(Warp& w, const Op& op, LaneMask mask) {
  return op.width == 4 ? add_words<std::uint32_t>(w, op, mask)
                       : add_words<std::uint64_t>(w, op, mask);
}

}  // namespace lockstep::engine
