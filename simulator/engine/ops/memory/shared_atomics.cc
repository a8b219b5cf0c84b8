// Sums of integers in shared memory, which most atomics there are: four bytes a lane from anywhere
// in one variable.
#include <bit>
#include <cstring>

#include "simulator/engine/monitor/progress.h"
#include "simulator/engine/monitor/races.h"
#include "simulator/engine/ops/memory/atomics.h"
#include "simulator/engine/ops/memory/memory_ops.h"
#include "simulator/engine/ops/memory/shared_words.h"
#include "simulator/engine/state/launch_state.h"
#include "simulator/engine/state/request.h"
#include "simulator/engine/state/turns.h"
#include "simulator/engine/state/worker.h"

namespace lockstep::engine {
namespace {

// The search for races. False: each lane must be looked at, and nothing is recorded.
bool record_sums(Warp& w, const Op& op, const std::uint32_t* at, LaneMask mask) {
  Block& b = *w.block;
  if (b.races.shift() != 2) return false;
  const DoingFor searches(*b.worker, Doing::kRaces);
  std::uint64_t offsets[kWarpSize];
  for (int i = 0; i < kWarpSize; ++i) offsets[i] = at[i];
  check::Side side = side_of(w, op, w.pc - 1, true, true);
  side.updates = true;
  side.observes = reads_value(op);
  return b.races.write_lanes_strongly(offsets, mask, side);
}

}  // namespace

bool add_in_shared_memory(Warp& w, const Op& op, LaneMask mask) {
  Block& b = *w.block;
  const Launch& launch = *b.launch;
  if (b.worker->counting || launch.shared_cells) return false;
  alignas(64) std::uint32_t at[kWarpSize];
  if (shared_words(w, op, mask, at) == 0) return false;
  if (launch.search_shared && !record_sums(w, op, at, mask)) return false;
  ++b.worker->counters.atomics;
  const std::uint32_t* const values = source<std::uint32_t>(w, op.src[1]);
  std::uint32_t any = 0;
  for (int i = 0; i < kWarpSize; ++i) any |= mask >> i & 1 ? values[i] : 0;
  on_write(*b.worker, any != 0);
  std::byte* const bytes = b.shared.bytes.get();
  const auto add = [&](int i) {
    auto* const p = reinterpret_cast<std::uint32_t*>(bytes + at[i]);
    const std::uint32_t old = *p;
    *p = old + values[i];
    return old;
  };
  if (op.dst != kNoSlot) {
    auto* const d = destination<std::uint32_t>(w, op.dst);
    each(mask, [&](int i) { d[i] = add(i); });
  } else if (mask == kAllLanes) {
    for (int i = 0; i < kWarpSize; ++i) add(i);
  } else {
    each(mask, add);
  }
  strong_access(w);
  return true;
}

}  // namespace lockstep::engine
