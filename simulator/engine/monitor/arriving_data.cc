#include "simulator/engine/monitor/arriving_data.h"

#include <algorithm>
#include <bit>
#include <string>

#include "simulator/engine/monitor/reports.h"
#include "simulator/engine/state/launch_state.h"
#include "simulator/engine/state/request.h"
#include "simulator/engine/state/worker.h"
#include "simulator/memory/describe.h"

namespace lockstep::engine {

bool check_arriving_data(Warp& w, const Request& r, LaneMask lanes) {
  const std::span<const ArrivingData> arriving = w.block->launch->config->arriving;
  if (arriving.empty()) return true;
  for (; lanes != 0; lanes &= lanes - 1) {
    const int lane = std::countr_zero(lanes);
    const memory::Address address = r.address[lane];
    const auto met = std::find_if(arriving.begin(), arriving.end(), [&](const ArrivingData& d) {
      return address < d.end && d.begin < address + r.size;
    });
    if (met == arriving.end()) continue;
    if (already_reported(w, check::Kind::kRace, r.pc)) return true;
    first_time(w, check::Kind::kRace, r.pc);
    check::Finding f = access_finding(w, r, isa::Space::kGlobal, 1u << lane, check::Kind::kRace);
    const memory::Allocation* a = w.block->worker->memory->find(address);
    f.where = (a == nullptr ? std::string()
                            : std::to_string(address - a->begin) + " bytes into " +
                                  memory::describe(*a) + ", ") +
              "which " + met->by +
              " may still be writing: it has returned before it is done, and nothing orders its "
              "stream before the kernel's";
    f.detail =
        "cudaStreamSynchronize of its stream before the launch would, or an event that the "
        "kernel's stream waits for, or one stream for both.";
    return !report_unless_suppressed(w, std::move(f));
  }
  return true;
}

}  // namespace lockstep::engine
