#include "simulator/engine/monitor/concurrent_access.h"

#include <algorithm>
#include <bit>
#include <string>

#include "simulator/engine/monitor/past_access.h"
#include "simulator/engine/monitor/races.h"
#include "simulator/engine/monitor/reports.h"
#include "simulator/engine/state/launch_state.h"
#include "simulator/engine/state/request.h"
#include "simulator/engine/state/worker.h"
#include "simulator/memory/describe.h"

namespace lockstep::engine {
namespace {

// A strong access, or a write after a fence, to a place that the host accesses as a flag. It does
// not race. If it reads what the host has written, the kernel may know from here on what the host
// has done.
bool is_flag(Warp& w, const Request& r, const ConcurrentAccess& c) {
  const bool strong = is_strong(r) || (r.writes && w.block->races.has_fenced_in(w.index));
  if (!c.flag || !strong) return false;
  if (r.reads && c.writes) w.block->launch->informed_by_host.store(true, std::memory_order_relaxed);
  return true;
}

}  // namespace

bool check_concurrent_access(Warp& w, const Request& r, LaneMask lanes) {
  const std::span<const ConcurrentAccess> concurrent = w.block->launch->config->concurrent;
  // Once a flag may have informed the kernel, the host's accesses are no longer compared.
  const auto informed = [&] {
    return w.block->launch->informed_by_host.load(std::memory_order_relaxed);
  };
  if (informed() &&
      std::all_of(concurrent.begin(), concurrent.end(), [](const auto& c) { return c.host; }))
    return true;
  for (; lanes != 0; lanes &= lanes - 1) {
    const int lane = std::countr_zero(lanes);
    const memory::Address address = r.address[lane];
    if (!w.block->launch->concurrent_memory.holds_any(address, r.size)) continue;
    const auto met = std::find_if(concurrent.begin(), concurrent.end(), [&](const auto& c) {
      if (!(c.writes || r.writes) || !c.box.holds_any(address, r.size)) return false;
      const std::uint32_t thread = w.index * kWarpSize + static_cast<std::uint32_t>(lane);
      const check::Hearing* const hearing = w.block->launch->hearing.get();
      if (!c.host && c.sequence != 0 && hearing != nullptr && hearing->covers(c.lane, c.sequence))
        return false;
      if (c.sequence != 0 && w.block->races.ordered_after_operation(thread, c.lane, c.sequence))
        return false;
      return !c.host || !(informed() || is_flag(w, r, c));
    });
    if (met == concurrent.end()) continue;
    if (already_reported(w, check::Kind::kRace, r.pc)) return true;
    first_time(w, check::Kind::kRace, r.pc);
    check::Finding f = access_finding(w, r, isa::Space::kGlobal, 1u << lane, check::Kind::kRace);
    const memory::Allocation* a = w.block->worker->memory->find(address);
    f.where = (a == nullptr ? std::string()
                            : std::to_string(address - a->begin) + " bytes into " +
                                  memory::describe(*a) + ", ") +
              "which " + met->by + " " + met->verb + ": nothing orders the two";
    f.access.operation = f.kernel + w.block->launch->config->place.stream.in();
    f.other.emplace();
    f.other->operation = met->by;
    f.other->address = reinterpret_cast<std::uintptr_t>(met->caller);
    f.other->is_write = met->writes;
    f.detail = met->note + std::string(met->host ? kOrderBeforeHost : kOrderBetweenStreams);
    return !report_unless_suppressed(w, std::move(f));
  }
  return true;
}

}  // namespace lockstep::engine
