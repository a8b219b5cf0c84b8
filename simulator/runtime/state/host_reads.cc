#include "simulator/runtime/state/host_reads.h"

#include <algorithm>
#include <iterator>
#include <utility>

#include "simulator/runtime/state/describe.h"

namespace lockstep::runtime {

void HostReads::remember(std::vector<engine::UnwrittenStore> stores,
                         const memory::DeviceMemory& memory) {
  for (engine::UnwrittenStore& s : stores) {
    const memory::Allocation* a = memory.find(s.begin);
    if (a == nullptr || a->freed) continue;
    if (stores_.size() >= kMax) stores_.erase(stores_.begin());
    stores_.insert_or_assign(s.begin, Store{std::move(s), a->id});
  }
}

// Of stores that overlap, a byte is that one's whose first byte is the nearest before it.
void HostReads::add_stored(memory::Address begin, memory::Address end, std::uint64_t allocation,
                           Stored& stored) const {
  auto it = stores_.upper_bound(begin);
  if (it != stores_.begin()) --it;
  for (; it != stores_.end() && it->first < end; ++it) {
    const Store& s = it->second;
    if (s.allocation != allocation) continue;
    const auto next = std::next(it);
    const memory::Address until = next == stores_.end() ? end : std::min(end, next->first);
    const memory::Address from = std::max(begin, it->first),
                          to = std::min(until, it->first + s.store.bytes);
    if (from >= to) continue;
    if (stored.bytes == 0) {
      stored.store = &s;
      stored.first = from;
    }
    stored.bytes += to - from;
  }
}

std::optional<check::Finding> HostReads::check(const memory::DeviceMemory& memory,
                                               const char* function, memory::Address begin,
                                               std::uint64_t width, std::uint64_t rows,
                                               std::uint64_t pitch) {
  std::uint64_t missing = 0;
  memory::Address first_missing = 0;
  Stored stored;
  const memory::Allocation* allocation = nullptr;
  for (std::uint64_t row = 0; row < rows; ++row) {
    const memory::Address end = begin + row * pitch + width;
    for (memory::Address at = begin + row * pitch;
         (at = memory.first_unwritten(at, end - at)) < end;) {
      if (allocation == nullptr) allocation = memory.find(at);
      if (allocation == nullptr || (stores_.empty() && informed_.count(allocation->id) != 0))
        return std::nullopt;
      if (missing == 0) first_missing = at;
      const memory::Address until = memory.first_written(at, end - at);
      missing += until - at;
      add_stored(at, until, allocation->id, stored);
      at = until;
    }
  }
  if (missing == 0) return std::nullopt;
  check::Finding f;
  const auto counted = [&](std::uint64_t n, memory::Address first) {
    return std::string(function) + " copies " + bytes(n) +
           " to the host that nobody has written, the first " + bytes(first - allocation->begin) +
           " into " + describe(*allocation);
  };
  if (stored.store != nullptr) {
    f = stored.store->store.by;
    f.where = counted(stored.bytes, stored.first);
    f.access.address = stored.first;
    return f;
  }
  if (!informed_.insert(allocation->id).second) return std::nullopt;
  f.severity = check::Severity::kInformation;
  f.kind = check::Kind::kUninitialised;
  f.space = "global";
  f.access.address = first_missing;
  f.where = counted(missing, first_missing);
  f.detail = "It matters if the program uses them.";
  return f;
}

}  // namespace lockstep::runtime
