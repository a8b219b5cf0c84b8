// Reserved address ranges of device memory, and the memory that backs parts of them.
#include <algorithm>
#include <iterator>
#include <utility>

#include "simulator/memory/device_memory.h"

namespace lockstep::memory {

bool DeviceMemory::claim(int device, std::uint64_t bytes) {
  std::lock_guard lock(mutex_);
  if (!fits(device, bytes)) return false;
  in_use_[device] += bytes;
  return true;
}

void DeviceMemory::unclaim(int device, std::uint64_t bytes) {
  std::lock_guard lock(mutex_);
  in_use_[device] -= bytes;
}

Address DeviceMemory::reserve_range(std::uint64_t size, std::uint64_t alignment) {
  std::lock_guard lock(mutex_);
  if (size == 0 || alignment == 0 || (alignment & (alignment - 1)) != 0) return 0;
  std::unique_ptr<Record> record = place(size, alignment, /*whole_pages=*/true, true);
  if (record == nullptr) return 0;
  const Range range{record->allocation.base, record->allocation.base + size};
  // The record has no bytes of its own, so find() never returns it.
  Allocation& a = record->allocation;
  a.base = a.begin = a.end = record->room_begin;
  a.alias_delta = delta_;
  a.name = "reserved addresses";
  a.id = ++ids_;
  record->counted = false;
  ranges_.emplace(a.base, range);
  records_.emplace(a.base, std::move(record));
  generation_.fetch_add(1, std::memory_order_relaxed);
  return range.begin;
}

const DeviceMemory::Range* DeviceMemory::range_of(Address address, std::uint64_t size) const {
  for (const auto& [base, range] : ranges_) {
    if (address >= range.begin && address < range.end && size <= range.end - address) return &range;
  }
  return nullptr;
}

void DeviceMemory::forget(Records::iterator record) {
  live_.erase(record->first);
  known_written_.drop(record->first);
  if (holds_ > 0) forgotten_.push_back(std::move(record->second));
  records_.erase(record);
}

bool DeviceMemory::release_range(Address base) {
  std::lock_guard lock(mutex_);
  const auto it = std::find_if(ranges_.begin(), ranges_.end(),
                               [&](const auto& entry) { return entry.second.begin == base; });
  if (it == ranges_.end()) return false;
  const auto first = records_.lower_bound(it->second.begin),
             last = records_.lower_bound(it->second.end);
  if (std::any_of(first, last, [](const auto& entry) { return !entry.second->allocation.freed; }))
    return false;
  for (auto record = first; record != last;) forget(record++);
  forget(records_.find(it->first));
  ranges_.erase(it);
  generation_.fetch_add(1, std::memory_order_relaxed);
  return true;
}

void DeviceMemory::put_backed(Address begin, Address end, int device, bool freed) {
  auto record = std::make_unique<Record>();
  record->room_begin = begin;
  record->room_end = end;
  record->counted = false;
  Allocation& a = record->allocation;
  a.base = a.begin = begin;
  a.end = end;
  a.size = end - begin;
  a.device = device;
  a.id = ++ids_;
  a.alias_delta = delta_;
  a.freed = freed;
  if (!freed) live_[begin] = &a;
  records_[begin] = std::move(record);
}

bool DeviceMemory::back(Address address, std::uint64_t size, int device) {
  std::lock_guard lock(mutex_);
  const Range* const range = range_of(address, size);
  if (size == 0 || range == nullptr) return false;
  Address begin = address, end = address + size;
  // Forgets freed allocations in the part. A live allocation is an error, unless it only touches
  // the part at either end.
  std::vector<Address> joined;
  for (auto it = records_.lower_bound(range->begin);
       it != records_.end() && it->first < range->end;) {
    const Allocation& a = it->second->allocation;
    const auto next = std::next(it);
    const bool overlaps = a.base < address + size && a.base + a.size > address;
    if (a.freed) {
      if (overlaps) forget(it);
    } else if (overlaps) {
      return false;
    } else if (a.device == device && (a.base + a.size == address || a.base == address + size)) {
      joined.push_back(a.base);
    }
    it = next;
  }
  for (const Address other : joined) {
    const auto it = records_.find(other);
    begin = std::min(begin, it->second->allocation.base);
    end = std::max(end, it->second->allocation.base + it->second->allocation.size);
    forget(it);
  }
  put_backed(begin, end, device, false);
  generation_.fetch_add(1, std::memory_order_relaxed);
  return true;
}

bool DeviceMemory::unback(Address address, std::uint64_t size) {
  std::lock_guard lock(mutex_);
  const Record* const record = record_at(address);
  if (size == 0 || record == nullptr || range_of(address, size) == nullptr) return false;
  const Allocation& a = record->allocation;
  const Address begin = a.base, end = a.base + a.size;
  const int device = a.device;
  if (a.freed || size > end - address) return false;
  forget(records_.find(begin));
  put_backed(address, address + size, device, true);
  give_back(*records_.find(address)->second);
  if (begin < address) put_backed(begin, address, device, false);
  if (address + size < end) put_backed(address + size, end, device, false);
  generation_.fetch_add(1, std::memory_order_relaxed);
  return true;
}

}  // namespace lockstep::memory
