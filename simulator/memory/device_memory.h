// The global address space of the simulated GPUs.
//
// One window of virtual addresses is reserved for everything a kernel can reach by a global address: cudaMalloc memory, managed
// and pinned memory, __device__ and __constant__ variables. Memory of the device only is mapped at its user-visible address with
// no access, so that host code that dereferences a device pointer faults as it does on hardware; the engine reaches the
// bytes at a second address, a constant `alias_delta` away.
//
// Shadow memory lies at a linear distance too: one bit a byte says whether it was ever written, and one 64-bit word a 4-byte
// granule is the race checker's. Both are zero pages until touched, so they cost what is used.
//
// Addresses are never used twice while the window lasts, and allocations are separated by gaps at least as large as
// themselves (up to a limit): an access that leaves its allocation lands in a gap, not in a neighbour.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

namespace lockstep::memory {

using Address = std::uint64_t;

enum class Kind : std::uint8_t { kDevice, kManaged, kPinned, kVariable, kConstant, kRegistered };

struct Allocation {
  Address base = 0;
  std::uint64_t size = 0;               // bytes as asked for
  // What kernels may touch; narrowed by extension.h's lockstepNameBuffer (guard bytes are outside), else all of it.
  Address begin = 0, end = 0;
  Kind kind = Kind::kDevice;
  int device = 0;
  std::uint64_t id = 0;                 // "cudaMalloc #id", counted from 1
  std::string name;                     // variable name, or as given through extension.h
  std::int64_t alias_delta = 0;         // engine address = address + alias_delta
  bool has_shadow = true;               // false for kRegistered: lies outside the window, counts as written
  bool freed = false;
};

class DeviceMemory {
 public:
  // Reserves the window. Throws std::runtime_error with the system's reason when no window of at least 16 GiB can be had.
  DeviceMemory();
  ~DeviceMemory();
  DeviceMemory(const DeviceMemory&) = delete;
  DeviceMemory& operator=(const DeviceMemory&) = delete;

  // Allocates `size` > 0 bytes, uninitialised (shadow says so), aligned to `alignment` (a power of two, at least 256 for
  // cudaMalloc). nullptr when the capacity of `device` is exhausted. kManaged and kPinned memory is host-accessible at the same address.
  const Allocation* allocate(std::uint64_t size, std::uint64_t alignment, Kind kind, int device, std::string name = {});

  // Makes host memory at `base` known (cudaHostRegister). nullptr if it overlaps something known.
  const Allocation* register_host(void* base, std::uint64_t size);

  enum class FreeResult { kOk, kNotAnAllocation, kAlreadyFreed };
  FreeResult release(Address base);

  // The allocation, live or freed, whose [base, base + size) holds `address`; nullptr in a gap or outside the window.
  const Allocation* find(Address address) const;
  // The nearest allocation below and above an address that find() does not know, for messages; either may be nullptr.
  struct Neighbours { const Allocation* below = nullptr; const Allocation* above = nullptr; };
  Neighbours neighbours(Address address) const;

  // Narrows what kernels may touch to [begin, begin + size) of the live allocation that holds it, and names it.
  bool name_buffer(Address begin, std::uint64_t size, std::string name);

  // Host-side access to the bytes, after the caller has checked the range with find().
  std::byte* host(const Allocation& a, Address address) const {
    return reinterpret_cast<std::byte*>(address + static_cast<Address>(a.alias_delta));
  }

  // The written-shadow: bit i of byte k stands for address window_begin() + 8 k + i.
  std::uint8_t* written_shadow(Address address) const { return written_ + ((address - begin_) >> 3); }
  void mark_written(Address address, std::uint64_t size);
  void mark_unwritten(Address address, std::uint64_t size);
  bool is_written(Address address, std::uint64_t size) const;
  // First byte in the range never written, or address + size.
  Address first_unwritten(Address address, std::uint64_t size) const;

  // The race checker's word for the 4-byte granule that holds `address`.
  std::uint64_t* race_shadow(Address address) const { return race_ + ((address - begin_) >> 2); }

  Address window_begin() const { return begin_; }
  Address window_end() const { return end_; }
  std::int64_t window_delta() const { return delta_; }
  bool in_window(Address a) const { return a - begin_ < end_ - begin_; }

  // Generic addresses of the shared and local windows: 4 GiB each, reserved, nothing mapped.
  Address shared_window() const { return shared_window_; }
  Address local_window() const { return local_window_; }

  // Counts every change of the set of allocations; the engine's last-hit caches are valid while it stays the same.
  std::uint64_t generation() const { return generation_.load(std::memory_order_relaxed); }

  // Every live allocation, in address order: for leak reports and for a device reset.
  std::vector<const Allocation*> live() const;
  std::uint64_t bytes_in_use(int device) const;
  void set_capacity(int device, std::uint64_t bytes);

 private:
  Address begin_ = 0, end_ = 0;
  std::int64_t delta_ = 0;
  std::uint8_t* written_ = nullptr;
  std::uint64_t* race_ = nullptr;
  Address shared_window_ = 0, local_window_ = 0;
  Address next_ = 0;
  std::uint64_t ids_ = 0;
  std::atomic<std::uint64_t> generation_{0};
  mutable std::mutex mutex_;
  std::map<Address, std::unique_ptr<Allocation>> allocations_;  // by base, freed ones included
  std::map<int, std::uint64_t> capacity_, in_use_;
};

}  // namespace lockstep::memory
