// Allocations whose pages several processes map (DeviceMemory::share, import).
#include <sys/mman.h>
#include <unistd.h>

#include <cerrno>
#include <mutex>
#include <utility>

#include "simulator/memory/device_memory.h"

namespace lockstep::memory {
namespace {

constexpr std::uint64_t kPageBytes = 4096;

void* pointer_to(Address address) { return reinterpret_cast<void*>(address); }

std::uint64_t pages_of(std::uint64_t offset, std::uint64_t size) {
  return (offset + size + kPageBytes - 1) / kPageBytes * kPageBytes;
}

bool write_all(int file, const std::byte* from, std::uint64_t size) {
  std::uint64_t done = 0;
  while (done < size) {
    const ssize_t n = pwrite(file, from + done, size - done, static_cast<off_t>(done));
    if (n < 0 && errno == EINTR) continue;
    if (n <= 0) return false;
    done += static_cast<std::uint64_t>(n);
  }
  return true;
}

}  // namespace

int DeviceMemory::share(Address base) {
  std::lock_guard lock(mutex_);
  const auto it = records_.find(base);
  errno = EINVAL;
  if (it == records_.end()) return -1;
  Record& record = *it->second;
  Allocation& a = record.allocation;
  if (a.freed || a.kind != Kind::kDevice) return -1;
  if (record.file >= 0) return record.file;
  if (a.shared) return -1;  // imported from another process
  const std::uint64_t offset = a.base % kPageBytes, bytes = pages_of(offset, a.size);
  const Address alias = a.base - offset + static_cast<Address>(a.alias_delta);
  const int file = memfd_create("lockstep-shared", MFD_CLOEXEC);
  if (file < 0) return -1;
  if (ftruncate(file, static_cast<off_t>(bytes)) != 0 ||
      !write_all(file, reinterpret_cast<const std::byte*>(alias), bytes) ||
      mmap(pointer_to(alias), bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_FIXED | MAP_NORESERVE,
           file, 0) == MAP_FAILED) {
    const int reason = errno;
    close(file);
    errno = reason;
    return -1;
  }
  record.file = file;
  a.shared = true;
  mark_written(a.base, a.size);
  return file;
}

const Allocation* DeviceMemory::import(int file, std::uint64_t offset, std::uint64_t size,
                                       int device) {
  std::lock_guard lock(mutex_);
  if (size == 0 || offset >= kPageBytes) return nullptr;
  const std::uint64_t bytes = pages_of(offset, size);
  std::unique_ptr<Record> record = place(bytes, kPageBytes, true);
  if (record == nullptr) return nullptr;
  Allocation& a = record->allocation;
  const Address alias = a.base + static_cast<Address>(delta_);
  if (mmap(pointer_to(alias), bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_FIXED | MAP_NORESERVE,
           file, 0) == MAP_FAILED)
    return nullptr;
  a.base += offset;
  a.size = size;
  a.begin = a.base;
  a.end = a.base + size;
  a.kind = Kind::kDevice;
  a.device = device;
  a.name = "memory of another process";
  a.alias_delta = delta_;
  a.shared = true;
  a.id = ++ids_;
  record->counted = false;
  partly_written_.forget(a.base, size);
  mark_written(a.base, size);
  const Allocation* const result = &a;
  records_.emplace(result->base, std::move(record));
  live_.emplace(result->base, result);
  generation_.fetch_add(1, std::memory_order_relaxed);
  return result;
}

// Other processes keep their mappings.
void DeviceMemory::give_back_shared(Record& record) {
  const Allocation& a = record.allocation;
  const std::uint64_t offset = a.base % kPageBytes;
  mmap(pointer_to(a.base - offset + static_cast<Address>(a.alias_delta)), pages_of(offset, a.size),
       PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED, -1, 0);
  if (record.file >= 0) close(std::exchange(record.file, -1));
}

}  // namespace lockstep::memory
