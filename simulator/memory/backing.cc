// The pages behind allocations of DeviceMemory, and behind their shadows.
#include <fcntl.h>
#include <sys/mman.h>

#include <cstring>
#include <utility>

#include "simulator/memory/device_memory.h"

namespace lockstep::memory {
namespace {

constexpr Address kBlockPage = BackingBlocks::kPage;

Address page_of(Address address) { return address & ~(kBlockPage - 1); }
Address page_after(Address address) { return page_of(address + kBlockPage - 1); }
void* host_pointer(Address address) { return reinterpret_cast<void*>(address); }

// Returns the pages of [first, last) to the system. They read as zeros.
void drop(Address first, Address last) {
  madvise(host_pointer(page_of(first)), page_after(last) - page_of(first), MADV_DONTNEED);
}

// The bytes of the whole pages that back an allocation.
std::uint64_t bytes_behind(const Allocation& a) {
  return page_after(a.base + a.size) - page_of(a.base);
}

}  // namespace

// Backs small memory of a device with a block, if there is one.
void DeviceMemory::find_backing(Record& record) {
  Allocation& a = record.allocation;
  const std::uint64_t bytes = bytes_behind(a);
  const std::optional<BackingBlocks::Block> block = blocks_.take(bytes);
  if (!block) return;
  record.block = block->place;
  const Address behind_window = end_ - begin_ + block->place;
  const auto shift = static_cast<std::int64_t>(behind_window - (page_of(a.base) - begin_));
  a.alias_delta = delta_ + shift;
  set_shift(a, shift);
  if (block->is_new) return;
  // Its latest allocation may have left anything.
  std::memset(host(a, page_of(a.base)), 0, bytes);
  std::memset(written_ + behind_window / 8, 0, bytes / 8);
  std::memset(race_ + behind_window / 4, 0, bytes * 2);
}

// All addresses of the allocation, and none of another one, lie in these granules.
void DeviceMemory::set_shift(const Allocation& a, std::int64_t bytes) {
  const auto pages = static_cast<std::int32_t>(bytes / static_cast<std::int64_t>(kBlockPage));
  for (Address granule = (a.base - begin_) >> kShiftGranule;
       granule <= (a.base + a.size - 1 - begin_) >> kShiftGranule; ++granule)
    __atomic_store_n(&shifts_[granule], pages, __ATOMIC_RELAXED);
}

void DeviceMemory::put_block(Record& record) {
  Allocation& a = record.allocation;
  const std::uint64_t place = *std::exchange(record.block, std::nullopt);
  set_shift(a, 0);
  if (holds_ > 0) {
    held_blocks_.emplace_back(place, bytes_behind(a));
  } else {
    // Where nothing was ever stored.
    a.alias_delta = delta_;
    blocks_.put(place, bytes_behind(a));
  }
}

// Takes memory that the host can access out of the window, and its bytes out of the file.
void DeviceMemory::unmap_from_host(const Allocation& a) {
  const Address begin = page_of(a.base), bytes = bytes_behind(a);
  mmap(host_pointer(begin), bytes, PROT_NONE,
       MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED, -1, 0);
  mmap(host_pointer(begin + static_cast<Address>(delta_)), bytes, PROT_READ | PROT_WRITE,
       MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED, -1, 0);
  fallocate(host_file_, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE,
            static_cast<off_t>(begin - begin_), static_cast<off_t>(bytes));
}

// Frees what backs the allocation and its shadow; both read as zeros afterwards. Neighbouring rooms
// are at least kMinGap apart, so rounding to whole pages affects no other allocation.
void DeviceMemory::give_back(Record& record) {
  const Allocation& a = record.allocation;
  partly_written_.forget(a.base, a.size);
  if (record.block) return put_block(record);
  const Address begin = page_of(a.base), end = page_after(a.base + a.size);
  const Address from = begin - begin_, to = end - begin_;
  if (a.kind == Kind::kManaged || a.kind == Kind::kPinned) {
    unmap_from_host(a);
  } else {
    drop(begin + static_cast<Address>(delta_), end + static_cast<Address>(delta_));
  }
  drop(reinterpret_cast<Address>(written_ + from / 8),
       reinterpret_cast<Address>(written_ + to / 8));
  drop(reinterpret_cast<Address>(race_ + from / 4), reinterpret_cast<Address>(race_ + to / 4));
}

}  // namespace lockstep::memory
