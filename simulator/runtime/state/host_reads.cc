#include "simulator/runtime/state/host_reads.h"

#include <algorithm>
#include <utility>

#include "simulator/runtime/state/describe.h"

namespace lockstep::runtime {

void HostReads::remember(std::vector<engine::UnwrittenStore> stores, const memory::DeviceMemory& memory) {
  for (engine::UnwrittenStore& s : stores) {
    const memory::Allocation* a = memory.find(s.begin);
    if (a == nullptr || a->freed) continue;
    if (stores_.size() >= kMax) stores_.erase(stores_.begin());
    stores_.insert_or_assign(s.begin, Store{std::move(s), a->id});
  }
}

const HostReads::Store* HostReads::store_of(memory::Address address, std::uint64_t allocation) const {
  auto it = stores_.upper_bound(address);
  if (it == stores_.begin()) return nullptr;
  const Store& s = (--it)->second;
  return s.allocation == allocation && address - s.store.begin < s.store.bytes ? &s : nullptr;
}

std::optional<check::Finding> HostReads::check(const memory::DeviceMemory& memory, const char* function, memory::Address begin, std::uint64_t width,
                                               std::uint64_t rows, std::uint64_t pitch) {
  std::uint64_t missing = 0, stored = 0;
  memory::Address first_missing = 0, first_stored = 0;
  const Store* store = nullptr;
  const memory::Allocation* allocation = nullptr;
  for (std::uint64_t row = 0; row < rows; ++row) {
    const memory::Address end = begin + row * pitch + width;
    for (memory::Address at = begin + row * pitch; (at = memory.first_unwritten(at, end - at)) < end;) {
      if (allocation == nullptr) allocation = memory.find(at);
      if (allocation == nullptr || (stores_.empty() && informed_.count(allocation->id) != 0)) return std::nullopt;
      if (missing++ == 0) first_missing = at;
      if (!stores_.empty()) {
        if (const Store* s = store_of(at, allocation->id)) {
          if (stored++ == 0) {
            store = s;
            first_stored = at;
          }
        }
      }
      ++at;
    }
  }
  if (missing == 0) return std::nullopt;
  check::Finding f;
  const auto counted = [&](std::uint64_t n, memory::Address first) {
    return std::string(function) + " copies " + bytes(n) + " to the host that nobody has written, the first " + bytes(first - allocation->begin) + " into " +
           describe(*allocation);
  };
  if (store != nullptr) {
    f = store->store.by;
    f.where = counted(stored, first_stored);
    f.access.address = first_stored;
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
