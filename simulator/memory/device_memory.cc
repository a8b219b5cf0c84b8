#include "simulator/memory/device_memory.h"

#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <cstring>
#include <iterator>
#include <stdexcept>
#include <thread>
#include <utility>
#include <vector>

namespace lockstep::memory {
namespace {

constexpr std::uint64_t kGiB = std::uint64_t{1} << 30;
constexpr std::uint64_t kPage = 4096;
constexpr std::uint64_t kMinGap =
    64 * 1024;  // also keeps the shadow pages of two allocations apart (32 KiB a page)
constexpr std::uint64_t kMaxGap = 256 << 20;

// Hints only, so that addresses are the same in every run. They are free in an ordinary process and
// under AddressSanitizer. If one is occupied, the system chooses another address.
constexpr Address kUserHint = 0x120000000000;
constexpr Address kAliasHint = 0x200000000000;
constexpr Address kWrittenHint = 0x280000000000;
constexpr Address kRaceHint = 0x300000000000;
constexpr Address kGenericHint = 0x118000000000;
constexpr Address kShiftHint = 0x2c0000000000;

// ThreadSanitizer leaves too few addresses for the largest windows, and terminates a program that
// requests one.
#if defined(__SANITIZE_THREAD__)
constexpr std::uint64_t kMaxSpan = 64 * kGiB;
#else
constexpr std::uint64_t kMaxSpan = DeviceMemory::kLargestWindow;
#endif
constexpr std::uint64_t kLeastSpan = 16 * kGiB;  // of a window whose size the system decides

// The windows of shared and local memory, and what aligns them.
constexpr std::uint64_t kGenericWindow = 4 * kGiB, kGenericSpan = 3 * kGenericWindow;

constexpr Address round_up(Address value, std::uint64_t to) { return (value + to - 1) & ~(to - 1); }
constexpr Address round_down(Address value, std::uint64_t to) { return value & ~(to - 1); }
std::uint64_t gap_for(std::uint64_t size) {
  return std::clamp(round_up(size, kPage), kMinGap, kMaxGap);
}

void* at(Address address) { return reinterpret_cast<void*>(address); }

// Reserves virtual addresses; memory is charged only when touched. nullptr if the system refuses.
void* map_addresses(Address hint, std::uint64_t bytes, int protection) {
  void* p = mmap(at(hint), bytes, protection, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (p == MAP_FAILED) return nullptr;
  madvise(p, bytes,
          MADV_DONTDUMP);  // a core file of a crashing host program must not hold the window
  madvise(p, bytes, MADV_NOHUGEPAGE);  // sparse use must stay sparse
  return p;
}

// A range of whole pages.
struct PageRange {
  Address from = 0, to = 0;

  static PageRange around(const void* first, const void* last) {
    return {round_down(reinterpret_cast<Address>(first), kPage),
            round_up(reinterpret_cast<Address>(last), kPage)};
  }
  // Returns the pages to the system. They read as zeros.
  void drop() const { madvise(at(from), to - from, MADV_DONTNEED); }
  // Whether at least half of the pages are in memory. Always false for very few or very many pages.
  bool is_mostly_resident() const {
    constexpr std::uint64_t kFew = 16, kMany = 1 << 21;  // 64 KiB, 8 GiB
    const std::uint64_t pages = (to - from) / kPage;
    if (pages < kFew || pages > kMany) return false;
    std::vector<unsigned char> resident(pages);
    if (mincore(at(from), to - from, resident.data()) != 0) return false;
    const auto count = std::count_if(resident.begin(), resident.end(),
                                     [](unsigned char page) { return (page & 1) != 0; });
    return static_cast<std::uint64_t>(count) >= pages / 2;
  }
};

// Fills the ranges with zeros, on up to `threads` host threads.
void zero(const std::vector<PageRange>& ranges, unsigned threads) {
  constexpr std::uint64_t kPart = 8 << 20;
  std::vector<PageRange> parts;
  for (const PageRange& r : ranges) {
    for (Address from = r.from; from < r.to; from += kPart)
      parts.push_back({from, std::min(from + kPart, r.to)});
  }
  std::atomic<std::size_t> next{0};
  const auto work = [&] {
    for (std::size_t i; (i = next++) < parts.size();)
      std::memset(at(parts[i].from), 0, parts[i].to - parts[i].from);
  };
  std::vector<std::thread> others;
  for (std::size_t i = 1; i < std::min<std::size_t>(threads, parts.size()); ++i)
    others.emplace_back(work);
  work();
  for (std::thread& t : others) t.join();
}

}  // namespace

DeviceMemory::DeviceMemory(std::uint64_t largest) {
  const std::uint64_t least = std::min(largest, kLeastSpan);
  for (std::uint64_t span = std::min(largest, kMaxSpan); span >= least; span /= 4) {
    if (!reserve(span)) continue;
    void* p = map_addresses(kGenericHint, kGenericSpan, PROT_NONE);
    if (p == nullptr) break;
    generic_ = reinterpret_cast<Address>(p);
    shared_window_ = round_up(generic_, kGenericWindow);
    local_window_ = shared_window_ + kGenericWindow;
    return;
  }
  // The window twice, written and race shadow, and the generic windows.
  const std::uint64_t needed = 4 * least + least / 8 + kGenericSpan;
  throw std::runtime_error(
      "the simulated GPU needs at least " + std::to_string(needed / kGiB) +
      " GiB of virtual addresses (not of memory) and the system refused: " + std::strerror(errno) +
      "; see 'ulimit -v' and /proc/sys/vm/overcommit_memory");
}

DeviceMemory::~DeviceMemory() {
  const std::uint64_t span = end_ - begin_;
  munmap(at(begin_), span);
  const std::uint64_t places = span + BackingBlocks::kSpan;
  munmap(at(begin_ + static_cast<Address>(delta_)), places);
  munmap(written_, places / 8);
  munmap(race_, places * 2);
  munmap(shifts_, shift_bytes(span));
  munmap(at(generic_), kGenericSpan);
  if (host_file_ >= 0) close(host_file_);
}

bool DeviceMemory::reserve(std::uint64_t span) {
  static_assert(kMinGap >= std::uint64_t{1} << kShiftGranule,
                "allocations would share an entry of shifts_");
  struct Part {
    Address hint;
    std::uint64_t bytes;
    int protection;
    void* at = nullptr;
  };
  const std::uint64_t places = span + BackingBlocks::kSpan;
  Part parts[] = {{kUserHint, span, PROT_NONE},
                  {kAliasHint, places, PROT_READ | PROT_WRITE},
                  {kWrittenHint, places / 8, PROT_READ | PROT_WRITE},
                  {kRaceHint, places * 2, PROT_READ | PROT_WRITE},
                  {kShiftHint, shift_bytes(span), PROT_READ | PROT_WRITE}};
  for (Part& part : parts) {
    part.at = map_addresses(part.hint, part.bytes, part.protection);
    if (part.at != nullptr) continue;
    const int reason = errno;
    for (Part& done : parts) {
      if (done.at != nullptr) munmap(done.at, done.bytes);
    }
    errno = reason;
    return false;
  }
  begin_ = reinterpret_cast<Address>(parts[0].at);
  end_ = begin_ + span;
  delta_ = static_cast<std::int64_t>(reinterpret_cast<Address>(parts[1].at) - begin_);
  written_ = static_cast<std::uint8_t*>(parts[2].at);
  race_ = static_cast<std::uint64_t*>(parts[3].at);
  shifts_ = static_cast<std::int32_t*>(parts[4].at);
  next_ = begin_;
  ranges_begin_ = next_range_ = begin_ + span / 4;
  return true;
}

// Finds a free range of `length` bytes in [from, to). Forgets the freed allocations in it.
bool DeviceMemory::find_room(Address from, Address to, std::uint64_t length, Address* room) {
  Address candidate = from;
  auto it = records_.upper_bound(candidate);
  if (it != records_.begin() && std::prev(it)->second->room_end > candidate) --it;
  while (true) {
    if (candidate > to || to - candidate < length) return false;
    if (it == records_.end() || it->second->room_begin >= candidate + length) {
      *room = candidate;
      return true;
    }
    if (it->second->allocation.freed) {
      if (holds_ > 0) forgotten_.push_back(std::move(it->second));
      it = records_.erase(it);
    } else {
      candidate = std::max(candidate, it->second->room_end);
      ++it;
    }
  }
}

std::unique_ptr<DeviceMemory::Record> DeviceMemory::place(std::uint64_t size,
                                                          std::uint64_t alignment, bool whole_pages,
                                                          bool is_range) {
  const std::uint64_t gap = gap_for(size);
  const std::uint64_t aligned = std::max(alignment, kPage);
  if (size > end_ - begin_ || aligned > end_ - begin_) return nullptr;
  const std::uint64_t length = round_up(gap + aligned + size + gap, kPage);
  if (placed_ >= kMaxFreed) {
    next_ = begin_;
    placed_ = 0;
  }
  Address room;
  Address& next = is_range ? next_range_ : next_;
  const Address first = is_range ? ranges_begin_ : begin_, last = is_range ? end_ : ranges_begin_;
  if (!find_room(next, last, length, &room)) {
    if (!is_range) placed_ = 0;
    if (!find_room(first, end_, length, &room) && !find_room(begin_, end_, length, &room))
      return nullptr;
  }
  next = room + length;
  if (!is_range) ++placed_;
  auto record = std::make_unique<Record>();
  record->room_begin = room;
  record->room_end = room + length;
  // An odd multiple of the alignment, so that code that relies on a larger alignment fails.
  record->allocation.base =
      round_up(room + gap, aligned) + (whole_pages || alignment >= kPage ? 0 : alignment);
  return record;
}

bool DeviceMemory::fits(int device, std::uint64_t bytes) const {
  const auto capacity = capacity_.find(device);
  return capacity == capacity_.end() ||
         bytes <= capacity->second - std::min(capacity->second, in_use_[device]);
}

const Allocation* DeviceMemory::allocate(std::uint64_t size, std::uint64_t alignment, Kind kind,
                                         int device, std::string name) {
  const bool host_visible = kind == Kind::kManaged || kind == Kind::kPinned;
  std::lock_guard lock(mutex_);
  if (size == 0 || alignment == 0 || (alignment & (alignment - 1)) != 0 ||
      kind == Kind::kRegistered)
    return nullptr;
  if (kind != Kind::kPinned && !fits(device, size)) return nullptr;
  std::unique_ptr<Record> record = place(size, alignment, host_visible);
  if (record == nullptr) return nullptr;
  Allocation& a = record->allocation;
  a.size = size;
  a.begin = a.base;
  a.end = a.base + size;
  a.kind = kind;
  a.device = device;
  a.name = std::move(name);
  a.alias_delta = delta_;
  if (kind == Kind::kDevice) find_backing(*record);
  partly_written_.forget(a.base, size);
  if (host_visible) {
    if (!map_for_host(a)) return nullptr;
    mark_written(a.base, size);
  }
  a.id = ++ids_;
  if (kind != Kind::kPinned) in_use_[device] += size;
  const Allocation* result = &a;
  records_.emplace(a.base, std::move(record));
  live_.emplace(a.base, result);
  generation_.fetch_add(1, std::memory_order_relaxed);
  return result;
}

const Allocation* DeviceMemory::allocate_at(Address base, std::uint64_t size, int device) {
  std::lock_guard lock(mutex_);
  if (size == 0 || base < begin_ || base >= end_ || size > end_ - base || !fits(device, size))
    return nullptr;
  const Address first = round_down(base, kPage), last = round_up(base + size, kPage);
  Address room;
  if (last > end_ || !find_room(first, last, last - first, &room)) return nullptr;
  auto record = std::make_unique<Record>();
  record->room_begin = first;
  record->room_end = last;
  Allocation& a = record->allocation;
  a.base = a.begin = base;
  a.size = size;
  a.end = base + size;
  a.device = device;
  a.alias_delta = delta_;
  a.id = ++ids_;
  partly_written_.forget(base, size);
  in_use_[device] += size;
  const Allocation* result = &a;
  records_.emplace(base, std::move(record));
  live_.emplace(base, result);
  generation_.fetch_add(1, std::memory_order_relaxed);
  return result;
}

// Opens the sparse file behind the window. It backs every host-visible allocation at both
// addresses. Opened at first use, so that a process that forks earlier does not share it with its
// children.
bool DeviceMemory::open_host_file() {
  if (host_file_ >= 0) return true;
  host_file_ = memfd_create("lockstep-host-visible", MFD_CLOEXEC);
  if (host_file_ < 0) return false;
  if (ftruncate(host_file_, static_cast<off_t>(end_ - begin_)) == 0) return true;
  close(host_file_);
  host_file_ = -1;
  return false;
}

bool DeviceMemory::map_for_host(const Allocation& a) {
  if (!open_host_file()) return false;
  const std::uint64_t bytes = round_up(a.size, kPage);
  for (Address address : {a.base, a.base + static_cast<Address>(delta_)}) {
    void* p =
        mmap(at(address), bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_FIXED | MAP_NORESERVE,
             host_file_, static_cast<off_t>(a.base - begin_));
    if (p != MAP_FAILED) continue;
    unmap_from_host(a);
    return false;
  }
  return true;
}

bool DeviceMemory::separate_host_file() {
  if (host_file_ < 0) return true;
  // The other process's descriptor stays open: its memory is still mapped until the loop remaps it.
  host_file_ = -1;
  if (!open_host_file()) return false;
  for (const auto& [base, record] : records_) {
    const Allocation& a = record->allocation;
    if (a.freed || (a.kind != Kind::kManaged && a.kind != Kind::kPinned)) continue;
    const auto* const bytes = static_cast<const std::byte*>(at(a.base));
    const std::vector<std::byte> contents(bytes, bytes + a.size);
    if (!map_for_host(a)) return false;
    std::memcpy(at(a.base), contents.data(), contents.size());
  }
  return true;
}

void DeviceMemory::clear_race_shadow(unsigned threads) {
  std::lock_guard lock(mutex_);
  std::vector<PageRange> dense;
  for (const auto& [base, record] : records_) {
    const Allocation& a = record->allocation;
    if (a.freed || !a.has_shadow) continue;
    const std::uint64_t* const words = race_shadow(a.base);
    const PageRange shadow = PageRange::around(words, words + (a.base % 4 + a.size + 3) / 4);
    if (shadow.is_mostly_resident()) {
      dense.push_back(shadow);
    } else {
      shadow.drop();
    }
  }
  zero(dense, threads);
  race_records_.made = 1;
}

const Allocation* DeviceMemory::register_host(void* base, std::uint64_t size) {
  const Address begin = reinterpret_cast<Address>(base);
  std::lock_guard lock(mutex_);
  if (size == 0 || begin == 0 || begin + size < begin) return nullptr;
  if (begin < end_ && begin + size > begin_) return nullptr;
  const auto above = records_.lower_bound(begin);
  if (above != records_.end() && above->first < begin + size) return nullptr;
  if (record_at(begin) != nullptr) return nullptr;
  auto record = std::make_unique<Record>();
  Allocation& a = record->allocation;
  a.base = a.begin = record->room_begin = begin;
  a.end = record->room_end = begin + size;
  a.size = size;
  a.kind = Kind::kRegistered;
  a.has_shadow = false;
  a.id = ++ids_;
  const Allocation* result = &a;
  records_.emplace(begin, std::move(record));
  live_.emplace(begin, result);
  generation_.fetch_add(1, std::memory_order_relaxed);
  return result;
}

DeviceMemory::FreeResult DeviceMemory::release(Address base) {
  std::lock_guard lock(mutex_);
  const auto it = records_.find(base);
  if (it == records_.end()) return FreeResult::kNotAnAllocation;
  Allocation& a = it->second->allocation;
  if (a.freed) return FreeResult::kAlreadyFreed;
  generation_.fetch_add(1, std::memory_order_relaxed);
  live_.erase(base);
  known_written_.drop(base);
  if (a.kind == Kind::kRegistered) {
    records_.erase(it);
    return FreeResult::kOk;
  }
  if (a.shared) give_back_shared(*it->second);
  give_back(*it->second);
  a.freed = true;
  if (a.kind != Kind::kPinned && it->second->counted) in_use_[a.device] -= a.size;
  return FreeResult::kOk;
}

void DeviceMemory::set_present(Address base, bool present) {
  std::lock_guard lock(mutex_);
  const auto it = records_.find(base);
  if (it == records_.end() || it->second->allocation.freed) return;
  Allocation& a = it->second->allocation;
  generation_.fetch_add(1, std::memory_order_relaxed);
  a.absent = !present;
  mark_unwritten(a.base, a.size);
}

DeviceMemory::Hold::Hold(DeviceMemory& memory) : memory_(memory) {
  std::lock_guard lock(memory_.mutex_);
  ++memory_.holds_;
}
DeviceMemory::Hold::~Hold() {
  std::lock_guard lock(memory_.mutex_);
  if (--memory_.holds_ != 0) return;
  memory_.forgotten_.clear();
  for (const auto& [block, bytes] : memory_.held_blocks_) memory_.blocks_.put(block, bytes);
  memory_.held_blocks_.clear();
}

const DeviceMemory::Record* DeviceMemory::record_at(Address address) const {
  auto it = records_.upper_bound(address);
  if (it == records_.begin()) return nullptr;
  const Record& record = *(--it)->second;
  return address - record.allocation.base < record.allocation.size ? &record : nullptr;
}

const Allocation* DeviceMemory::find(Address address) const {
  std::lock_guard lock(mutex_);
  // Live allocations are few. Records of freed ones may be tens of thousands, and are seldom meant.
  if (const auto above = live_.upper_bound(address); above != live_.begin()) {
    const Allocation* const a = std::prev(above)->second;
    if (address - a->base < a->size) return a;
  }
  const Record* record = record_at(address);
  return record == nullptr ? nullptr : &record->allocation;
}

DeviceMemory::Neighbours DeviceMemory::neighbours(Address address) const {
  std::lock_guard lock(mutex_);
  Neighbours result;
  const auto above = records_.upper_bound(address);
  if (above != records_.end()) result.above = &above->second->allocation;
  if (above != records_.begin()) result.below = &std::prev(above)->second->allocation;
  return result;
}

bool DeviceMemory::name_buffer(Address begin, std::uint64_t size, std::string name) {
  std::lock_guard lock(mutex_);
  // An empty buffer may lie at the very end of its allocation.
  Record* record = const_cast<Record*>(record_at(begin));
  if (record == nullptr && size == 0 && begin != 0)
    record = const_cast<Record*>(record_at(begin - 1));
  if (record == nullptr) return false;
  Allocation& a = record->allocation;
  if (a.freed || size > a.base + a.size - begin) return false;
  a.begin = begin;
  a.end = begin + size;
  a.name = std::move(name);
  generation_.fetch_add(1, std::memory_order_relaxed);
  return true;
}

std::vector<const Allocation*> DeviceMemory::live() const {
  std::lock_guard lock(mutex_);
  std::vector<const Allocation*> result;
  for (const auto& [base, allocation] : live_) result.push_back(allocation);
  return result;
}

std::uint64_t DeviceMemory::bytes_in_use(int device) const {
  std::lock_guard lock(mutex_);
  const auto it = in_use_.find(device);
  return it == in_use_.end() ? 0 : it->second;
}

void DeviceMemory::set_capacity(int device, std::uint64_t bytes) {
  std::lock_guard lock(mutex_);
  capacity_[device] = bytes;
}

}  // namespace lockstep::memory
