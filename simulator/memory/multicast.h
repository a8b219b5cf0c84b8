// Addresses of multicast objects and the device memory behind them.
//
// Thread safety: the runtime changes them under its device lock, never while a kernel runs.
#pragma once

#include <cstdint>
#include <map>
#include <vector>

namespace lockstep::memory {

struct MulticastPart {
  int device = 0;
  std::uint64_t offset = 0, bytes = 0;  // in the multicast object
  std::uint64_t base = 0;               // address of the bound memory; 0 if it is not mapped
};

struct MulticastRange {
  std::uint64_t bytes = 0;
  std::vector<int> devices;  // the devices added to the object
  std::vector<MulticastPart> parts;

  // The address of `size` bytes at `offset` on a device. 0 if nothing is bound there or the bound
  // memory is not mapped.
  std::uint64_t place(int device, std::uint64_t offset, std::uint64_t size) const {
    for (const MulticastPart& p : parts) {
      if (p.device == device && offset >= p.offset && offset + size <= p.offset + p.bytes)
        return p.base == 0 ? 0 : p.base + (offset - p.offset);
    }
    return 0;
  }
};

// The mapped multicast objects by address.
class MulticastRanges {
 public:
  void assign(std::map<std::uint64_t, MulticastRange> ranges) { ranges_ = std::move(ranges); }
  // The range that contains `size` bytes at an address, and their offset in it. nullptr if there is
  // none.
  const MulticastRange* find(std::uint64_t address, std::uint64_t size,
                             std::uint64_t* offset) const {
    const auto after = ranges_.upper_bound(address);
    if (after == ranges_.begin()) return nullptr;
    const auto& [base, range] = *std::prev(after);
    if (address - base > range.bytes || size > range.bytes - (address - base)) return nullptr;
    *offset = address - base;
    return &range;
  }

 private:
  std::map<std::uint64_t, MulticastRange> ranges_;
};

}  // namespace lockstep::memory
