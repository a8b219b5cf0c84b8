// Which split of a warp runs: their order, and how machine code goes from one to the next.
#pragma once

#include <bit>
#include <cstdint>

#include "simulator/engine/state/block.h"
#include "simulator/engine/state/worker.h"
#include "simulator/translate/translation.h"

namespace lockstep::engine {

inline constexpr std::uint32_t kNoLimit = ~0u;

// Puts the running split back into the list. It joins another that may run at its place, unless a
// seed draws among them.
void requeue(Warp& w, bool yielded = false);

// Takes the next split to run; false when none is runnable.
bool select(Warp& w);

// For translated code (translate::Splits).
translate::Splits split_calls();

// Counts `n` instructions for the lanes that executed them. Passed by value, so that the caller's
// count stays in a register.
inline void count_instructions(Warp& w, std::uint64_t n, LaneMask mask) {
  w.control->instructions += n;
  Block& b = *w.block;
  b.instructions += n;
  b.worker->counters.warp_instructions += n;
  b.worker->counters.thread_instructions += n * static_cast<unsigned>(std::popcount(mask));
}

}  // namespace lockstep::engine
