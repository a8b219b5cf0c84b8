#include "simulator/engine/monitor/lane_groups.h"

#include "simulator/engine/monitor/async_order.h"
#include "simulator/engine/monitor/reports.h"
#include "simulator/engine/state/parked.h"

namespace lockstep::engine {
namespace {

const char* place(WarpSplit::State state) {
  switch (state) {
    case WarpSplit::State::kRunnable: return " run at ";
    case WarpSplit::State::kAtSync: return " wait for lanes of their warp at ";
    case WarpSplit::State::kAtBarrier: return " wait at the barrier ";
    case WarpSplit::State::kAtCluster: return " wait at the cluster's barrier, ";
    case WarpSplit::State::kAtPair: return " wait for the pair's tensor memory, ";
    case WarpSplit::State::kAtMbarrier: return " wait at ";
  }
  return " at ";
}

}  // namespace

void LaneGroups::add(const Block& b, const std::string& who) {
  for (const Warp& w : b.warps) {
    const auto add = [&](std::uint32_t pc, LaneMask lanes, const std::string& at) {
      if (lanes == 0 || ++count_ > kMax) return;
      text_ += "\n    " + who + "warp " + std::to_string(w.index) + " lanes " + hexadecimal(lanes) +
               at + site_of(*b.program, pc).to_string();
    };
    add(w.pc, w.active, place(WarpSplit::State::kRunnable));
    for (const WarpSplit& f : w.control->splits) {
      std::string at = place(f.state);
      if (f.state == WarpSplit::State::kAtMbarrier) at += awaited_mbarrier(b, w, f, "") + ", ";
      add(f.pc, f.mask, at);
    }
  }
}

std::string LaneGroups::text() const {
  return count_ <= kMax ? text_
                        : text_ + "\n    and " + std::to_string(count_ - kMax) + " more groups";
}

}  // namespace lockstep::engine
