#include "simulator/engine/monitor/looks.h"

#include <mutex>
#include <optional>
#include <tuple>

#include "simulator/engine/monitor/lane_groups.h"
#include "simulator/engine/monitor/reports.h"
#include "simulator/engine/state/launch_state.h"
#include "simulator/engine/state/worker.h"

namespace lockstep::engine {

void note_look(Warp& w, const Request& r, const memory::Allocation& a, std::uint64_t address) {
  if (!r.reads) return;
  const Block& b = *w.block;
  Launch& launch = *b.launch;
  const bool seen_by_host = a.kind == memory::Kind::kManaged || a.kind == memory::Kind::kPinned ||
                            a.kind == memory::Kind::kRegistered || a.shared;
  const bool strong = r.writes || r.op->as<MemoryFields>().has(kStrong);
  // An atomic that tries to change memory, with a scope within the GPU, tries to take a lock from
  // one of the GPU's threads.
  const auto what =
      r.op->action == Action::kAtomic ? r.op->as<AtomicFields>().what() : isa::AtomOp::kNone;
  const bool lock = (what == isa::AtomOp::kCas || what == isa::AtomOp::kExch) &&
                    b.program->origin(r.pc).text.find(".sys") == std::string::npos;
  const std::lock_guard guard(launch.mutex);
  Looks& looks = launch.looks;
  if (looks.watch != b.worker->watch) return;
  looks.at_host |= seen_by_host;
  // Other processes may write to this memory.
  looks.at_registered |= a.kind == memory::Kind::kRegistered || a.shared;
  looks.strongly_elsewhere |= strong && (!seen_by_host || lock);
  if (!seen_by_host || lock) return;
  std::optional<Looks::Look>& first = strong ? looks.strong : looks.weak;
  const auto order = std::make_tuple(b.position, b.cluster_rank, w.index, r.pc);
  if (first && first->order <= order) return;
  LaneMask lanes = 0;
  for (int i = 0; i < kWarpSize; ++i) lanes |= LaneMask{r.address[i] == address} << i;
  check::Finding f = finding_at(w, r.pc, lanes & w.active, check::Kind::kUnsupported);
  f.access.address = address;
  f.access.size = r.size;
  f.access.is_atomic = r.writes;
  f.space = "global";
  f.where = "the kernel waits for host memory to change: " + std::to_string(address - a.begin) +
            " bytes into " + describe(a);
  LaneGroups groups;
  groups.add(b);
  f.detail =
      "A launch on the simulated GPU returns only when its kernel has ended: the host cannot write "
      "there after it. When it is not the host that shall write\n"
      "  there, the threads wait for one another, and it is a deadlock. Everything that still runs "
      "repeats itself. Of this block's threads" +
      groups.text();
  first = Looks::Look{order, std::move(f)};
}

}  // namespace lockstep::engine
