#include "simulator/engine/ops/async/stores_under_way.h"

#include <algorithm>
#include <cstring>
#include <string>
#include <utility>

#include "simulator/engine/monitor/reports.h"
#include "simulator/engine/state/block.h"
#include "simulator/engine/state/launch_state.h"
#include "simulator/engine/state/worker.h"
#include "simulator/memory/device_memory.h"

namespace lockstep::engine {

StoresUnderWay::StoresUnderWay(Warp& w, std::uint32_t pc, int lane, bool combines)
    : w_(w), pc_(pc), lane_(lane) {
  const Block& b = *w.block;
  if (!b.launch->check_races || !b.async) return;
  for (const AsyncWarp& issuer : b.async->warps) {
    for (const BulkStore& s : issuer.bulk_stores) {
      if (!combines || !s.combines) others_.push_back(&s);
    }
  }
}

bool StoresUnderWay::check(std::uint64_t address, std::uint32_t size, const std::byte* now,
                           const std::byte* bytes) {
  places_.add(address, size);
  if (others_.empty() || (now != nullptr && std::memcmp(now, bytes, size) == 0)) return true;
  const auto other = std::find_if(others_.begin(), others_.end(),
                                  [&](const BulkStore* s) { return s->to.meets(address, size); });
  if (other == others_.end()) return true;
  const Issue issue = (*other)->issue;
  others_.clear();  // one finding for a copy
  if (already_reported(w_, check::Kind::kRace, pc_)) return true;
  first_time(w_, check::Kind::kRace, pc_);
  const auto written = [&](check::Finding f) {
    f.access.address = address;
    f.access.size = size;
    f.access.is_write = true;
    return f;
  };
  check::Finding f = written(finding_at(w_, pc_, 1u << lane_, check::Kind::kRace));
  f.space = "global";
  const memory::Allocation* a = w_.block->worker->memory->find(address);
  f.where =
      (a == nullptr ? std::string()
                    : std::to_string(address - a->begin) + " bytes into " + describe(*a) + ", ") +
      "where another bulk copy may still be storing";
  f.other = written(finding_at(w_.block->warps[issue.thread / kWarpSize], issue.pc,
                               1u << issue.thread % kWarpSize, check::Kind::kRace))
                .access;
  f.detail =
      "Bulk copies come in any order until they are waited for: cp.async.bulk.wait_group, by the "
      "thread that issued the first, before the second is issued.";
  return !report_unless_suppressed(w_, std::move(f));
}

Spans StoresUnderWay::places() && {
  places_.sort();
  return std::move(places_);
}

}  // namespace lockstep::engine
