#include "simulator/engine/run/deadlock.h"

#include <bit>

#include "simulator/engine/monitor/async_order.h"
#include "simulator/engine/monitor/lane_groups.h"
#include "simulator/engine/monitor/reports.h"
#include "simulator/engine/state/parked.h"

namespace lockstep::engine {

void report_deadlock(Block& b) {
  bool at_barrier = false, at_sync = false, at_mbarrier = false;
  std::uint32_t barriers = 0;  // barriers with a count at which warps wait, one bit each
  Warp* first_warp = nullptr;
  const WarpSplit* first = nullptr;
  for (Warp& w : b.warps) {
    const std::int32_t id = w.control->barrier;
    if (id >= 0 && b.barriers[id]->expected != 0) barriers |= 1u << id;
    for (const WarpSplit& f : w.control->splits) {
      const bool sync = f.state == WarpSplit::State::kAtSync,
                 mbarrier = f.state == WarpSplit::State::kAtMbarrier;
      // The cause is a *.sync that its own lanes leave incomplete or, without one, an mbarrier.
      // Barriers are where the other warps wait as a consequence.
      if (first == nullptr || (sync && !at_sync) || (mbarrier && !at_sync && !at_mbarrier))
        first = &f, first_warp = &w;
      (sync ? at_sync : mbarrier ? at_mbarrier : at_barrier) = true;
    }
  }
  if (first == nullptr) {
    b.aborted = true;
    return;
  }
  const bool crossed = (barriers & (barriers - 1)) != 0;
  check::Finding f =
      finding_at(*first_warp, first->pc, first->mask,
                 at_sync                                  ? check::Kind::kInvalidMask
                 : at_barrier && !at_mbarrier && !crossed ? check::Kind::kBarrierDivergence
                                                          : check::Kind::kDeadlock);
  if (at_sync) {
    const LaneMask members = parked_operand<LaneMask>(
        *first_warp, *first, b.program->ops[first->pc].src[3])[std::countr_zero(first->mask)];
    f.where = "the mask " + hexadecimal(members) + " names lanes that never come; " +
              hexadecimal(first->mask) + " wait";
  } else if (at_mbarrier) {
    f.where = describe_mbarrier_wait(b, *first_warp, *first);
  } else {
    f.where = crossed ? "threads of the block wait for one another at different barriers"
                      : "some threads of the block never come to this barrier: they wait elsewhere";
  }
  LaneGroups groups;
  groups.add(b);
  f.detail = "Nothing in the block can go on. Of its threads" + groups.text();
  report(b, std::move(f));
}

}  // namespace lockstep::engine
