#include "simulator/engine/ops/matrix/whole_warp.h"

#include <bit>
#include <string>
#include <utility>

#include "simulator/engine/monitor/reports.h"
#include "simulator/engine/ops/sync/collectives.h"
#include "simulator/engine/state/launch_state.h"
#include "simulator/engine/state/parked.h"
#include "simulator/engine/state/turns.h"

namespace lockstep::engine {

bool whole_warp(Warp& w, const Op&, LaneMask mask) {
  if (mask == kAllLanes) return true;
  if (mask != living(w)) {
    park(w, mask, WarpSplit::State::kAtSync);
    complete_syncs(w);
    return false;
  }
  const LaneMask missing = ~mask;
  if (!w.block->launch->check_synchronisation ||
      already_reported(w, check::Kind::kInvalidMask, w.pc - 1, std::popcount(mask)))
    return true;
  first_time(w, check::Kind::kInvalidMask, w.pc - 1);
  check::Finding f = finding_at(w, w.pc - 1, mask, check::Kind::kInvalidMask);
  f.where = "executed by " + std::to_string(std::popcount(mask)) + " of 32 lanes; lane " +
            std::to_string(std::countr_zero(missing)) +
            ((w.exists >> std::countr_zero(missing) & 1) != 0
                 ? " has exited"
                 : " does not exist: the block's size is no multiple of 32");
  f.detail =
      "All lanes of a warp hold a matrix together, and all of them must execute what is done with "
      "it.";
  return !report_unless_suppressed(w, std::move(f));
}

}  // namespace lockstep::engine
