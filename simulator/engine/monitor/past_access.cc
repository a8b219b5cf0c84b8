#include "simulator/engine/monitor/past_access.h"

#include <algorithm>

#include "simulator/engine/monitor/reports.h"
#include "simulator/engine/state/placement.h"

namespace lockstep::engine {

using check::GlobalRaces;

PastAccess past_access(const PastLaunch& launch, const check::LaneAccess& of) {
  const check::AccessRecord& record = of.record;
  PastAccess past;
  past.stream = launch.stream;
  check::Access& a = past.access;
  a.block = place_of_block(launch.shape, record.block - launch.first_block);
  a.thread = thread_in_block(launch.block_size, record.warp * kWarpSize + of.lane);
  a.is_write = record.write;
  a.is_atomic = record.strong && record.write;
  past.strong = record.strong;
  past.kernel = "a kernel of a module that was unloaded";
  if (launch.program != nullptr && record.pc < launch.program->ops.size()) {
    past.kernel = launch.program->functions[launch.function].demangled;
    a.site = site_of(*launch.program, record.pc);
  }
  a.operation = past.kernel + " in " + launch.stream.to_string();
  return past;
}

std::optional<PastAccess> find_unordered_access(memory::DeviceMemory& memory,
                                                const OperationPlace& place, const memory::Box& box,
                                                bool writes) {
  if (memory.race_state() == nullptr || box.empty()) return std::nullopt;
  RaceHistory& history = RaceHistory::of(memory);
  GlobalRaces& races = history.races;
  if (!races.any_unordered(place.before)) return std::nullopt;
  for (std::uint64_t z = 0; z < box.depth; ++z) {
    for (std::uint64_t y = 0; y < box.height; ++y) {
      const memory::Address first = box.begin + z * box.slice + y * box.pitch;
      if (!memory.in_window(first) || !memory.in_window(first + box.width - 1)) continue;
      // The cells of one allocation are contiguous.
      const memory::Allocation* const a = memory.find(first);
      if (a == nullptr) continue;
      const memory::Address last = std::min(first + box.width, a->base + a->size) - 1;
      const auto met =
          races.find_unordered(check::cell_of(memory, first), first, last, writes, place.before);
      if (!met) continue;
      const PastLaunch* const launch = history.find(met->access.record.block);
      if (launch == nullptr) continue;
      PastAccess past = past_access(*launch, met->access);
      past.access.address = met->address;
      past.access.size = 1;
      return past;
    }
  }
  return std::nullopt;
}

std::string StreamName::to_string() const {
  const std::string stream = kind == Kind::kLegacy      ? "the legacy default stream"
                             : kind == Kind::kPerThread ? "the per-thread default stream"
                                                        : "stream " + std::to_string(id);
  return graph ? "a graph launched in " + stream : stream;
}

}  // namespace lockstep::engine
