#include "simulator/engine/monitor/deferred.h"

#include <bit>

#include "simulator/check/region_lock.h"
#include "simulator/engine/monitor/races.h"
#include "simulator/engine/state/launch_state.h"
#include "simulator/engine/state/written_bits.h"

namespace lockstep::engine {

bool is_deferred_load(Warp& w, std::uint32_t pc) {
  const DeferredStores& deferred = *w.block->launch->deferred;
  if (deferred.is_proved(pc) && !deferred.are_recorded()) return true;
  end_deferral(*w.block->worker);
  return false;
}

bool is_deferred_store(Warp& w, const Op& op, std::uint64_t first, LaneMask lanes,
                       std::uint32_t size) {
  Worker& k = *w.block->worker;
  DeferredStores& deferred = *w.block->launch->deferred;
  const std::uint32_t pc = w.pc - 1;
  if (deferred.is_proved(pc) &&
      deferred.add(*k.deferred, {check::AccessRecord::of(side_of(w, op, pc, true, false)), first,
                                 lanes, static_cast<std::uint16_t>(size)}))
    return true;
  end_deferral(k);
  return false;
}

bool is_deferred(Warp& w, const Request& r, LaneMask lanes) {
  const bool is_weak = !is_strong(r) && r.issuer < 0;
  if (is_weak && !r.writes) return is_deferred_load(w, r.pc);
  const auto lane = static_cast<unsigned>(std::countr_zero(lanes)) % kWarpSize;
  const std::uint64_t first = r.address[lane] - std::uint64_t{lane} * r.size;
  bool is_row = is_weak && r.size % 4 == 0;
  each(lanes, [&](int i) { is_row &= r.address[i] == first + static_cast<unsigned>(i) * r.size; });
  if (is_row && r.pc == w.pc - 1) return is_deferred_store(w, *r.op, first, lanes, r.size);
  end_deferral(*w.block->worker);
  return false;
}

void end_deferral(Worker& worker) {
  DeferredStores& deferred = *worker.launch->deferred;
  if (deferred.are_recorded()) return;
  check::GlobalRaces& races = *worker.races;
  deferred.record_all([&](const DeferredStores::Row& row) {
    const auto lane = static_cast<unsigned>(std::countr_zero(row.lanes)),
               end = static_cast<unsigned>(32 - std::countl_zero(row.lanes));
    const std::uint64_t first = row.first + lane * row.size;
    const check::RegionLock lock(races.parallel(), first, row.first + end * row.size - 1);
    races.record_stores(check::cell_of(*worker.memory, first), row.size / 4, row.lanes, row.by,
                        worker.race_memo);
  });
}

}  // namespace lockstep::engine
