// The global address space of the simulated GPUs.
//
// One window of virtual addresses is reserved for everything that a kernel can access by a global
// address: cudaMalloc memory, managed and pinned memory, __device__ and __constant__ variables.
// Device-only memory is mapped without access at its user-visible address, so host code that
// dereferences a device pointer faults as on hardware. The engine accesses the bytes at a second
// address, a constant `alias_delta` away.
//
// Shadow memory lies at a linear distance, too. One bit for each byte says whether it was ever
// written. One 64-bit word for each 4-byte granule belongs to the search for races. Both consist of
// zero pages until used, so they cost only what is used.
//
// Addresses are not reused as long as the window lasts. Gaps between allocations are at least as
// large as the allocations (up to a limit): an access outside its allocation hits a gap, not a
// neighbour. Freed allocations stay recorded, so that a use after free can name them. When the
// window is exhausted, or after kMaxFreed more allocations, the search restarts at the window's
// lowest address and forgets the freed allocations that it meets, oldest first. Reserved ranges use
// the upper three quarters of the window as long as there is room. So no small allocation lies
// between long ranges.
//
// Thread safety: a mutex guards the set of allocations. Device code on several host threads
// allocates and frees, which changes only `freed` among the fields that other threads read. All
// other fields change in name_buffer() only; the runtime calls it under its device lock, never
// while a kernel runs. A pointer to an Allocation is valid until the allocation has been freed and
// then forgotten (with a Hold, longer). Each of these events changes generation().
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "simulator/memory/multicast.h"
#include "simulator/memory/partly_written.h"

namespace lockstep::memory {

using Address = std::uint64_t;

enum class Kind : std::uint8_t { kDevice, kManaged, kPinned, kVariable, kConstant, kRegistered };

struct Allocation {
  Address base = 0;
  std::uint64_t size = 0;  // bytes as requested
  // The range that kernels may access: all of it, unless lockstepNameBuffer (extension.h) narrows
  // it to exclude guard bytes.
  Address begin = 0, end = 0;
  Kind kind = Kind::kDevice;
  int device = 0;
  std::uint64_t id = 0;          // "cudaMalloc #id", counted from 1
  std::string name;              // variable name, or as given through extension.h
  std::int64_t alias_delta = 0;  // engine address = address + alias_delta
  bool has_shadow =
      true;  // false for kRegistered: it lies outside the window and counts as written
  std::atomic<bool> freed = false;
  // Graph memory that is not allocated now: its address is reserved, and nothing may use it.
  std::atomic<bool> absent = false;

  // Other processes map it, too (share(), import()).
  bool shared = false;

  bool usable() const { return !freed && !absent; }
};

class DeviceMemory {
 public:
  // Reserves the window. Throws std::runtime_error with the system's reason if no window of at
  // least 16 GiB is available.
  DeviceMemory();
  ~DeviceMemory();
  DeviceMemory(const DeviceMemory&) = delete;
  DeviceMemory& operator=(const DeviceMemory&) = delete;

  MulticastRanges multicast;  // no other memory uses their addresses

  // Allocates `size` > 0 bytes of zeros that count as never written. They are aligned to
  // `alignment` (a power of two, at least 256 for cudaMalloc) and to no more, so that code which
  // relies on more fails. Returns nullptr if the capacity of `device` or the window is exhausted.
  // kManaged and kPinned memory is host-accessible at the same address and page-aligned. It counts
  // as written, since the host's stores are not observed. kPinned does not count against the
  // capacity.
  const Allocation* allocate(std::uint64_t size, std::uint64_t alignment, Kind kind, int device,
                             std::string name = {});

  // Allocates kDevice memory at the address at which another process had it. Returns nullptr if the
  // address is not free.
  const Allocation* allocate_at(Address base, std::uint64_t size, int device);
  // The address at which the search for the next allocation starts. set_next(): an address in the
  // window.
  Address next() const { return next_; }
  void set_next(Address address) { next_ = address; }

  // Registers host memory at `base` (cudaHostRegister). Returns nullptr if it overlaps known
  // memory.
  const Allocation* register_host(void* base, std::uint64_t size);

  enum class FreeResult { kOk, kNotAnAllocation, kAlreadyFreed };
  // Frees an allocation by its base address: returns the pages and keeps the record. Memory of
  // kRegistered remains, but its record is removed.
  FreeResult release(Address base);

  // Allocates (`present`) or frees graph memory, whose address is fixed. When allocated it counts
  // as unwritten. `base`: of a live allocation.
  void set_present(Address base, bool present);

  // Reserved address ranges that a program maps piece by piece (cuMemAddressReserve, cuMemMap). A
  // reserved range is no allocation. Its mapped part is one, and adjacent pieces of one device form
  // one allocation: an access may cross from one piece to the next.
  //
  // reserve_range() returns the first address, aligned to `alignment`; 0 if there is no room.
  Address reserve_range(std::uint64_t size, std::uint64_t alignment);
  // Returns false if `base` is not the start of a reserved range, or if a part of the range is
  // mapped.
  bool release_range(Address base);
  // Maps a part of a reserved range to zeros that count as unwritten. No byte of the part may be
  // mapped yet. Sizes and addresses are whole pages.
  bool back(Address address, std::uint64_t size, int device);
  // Unmaps the part. All of it must be mapped.
  bool unback(Address address, std::uint64_t size);
  // Counts memory against a device's capacity before it is mapped. Returns false if the capacity is
  // exhausted.
  bool claim(int device, std::uint64_t bytes);
  void unclaim(int device, std::uint64_t bytes);

  // Moves the pages of a live kDevice allocation into a file that other processes can map, without
  // changing addresses. Returns the file's descriptor, which is closed with the allocation, or -1
  // with errno set. Writes by other processes have no shadow here, so all bytes count as written.
  // No kernel may be running in another thread.
  int share(Address base);
  // Creates an allocation from `size` bytes of such a file, from `offset`, which is below a page's
  // size. The caller keeps the file's descriptor. The bytes count as written, and not against the
  // capacity. Returns nullptr if there is no room, or if the system refuses.
  const Allocation* import(int file, std::uint64_t offset, std::uint64_t size, int device);

  // Call after a fork: gives this process its own host-accessible memory with the present contents.
  // Returns false if the system refuses.
  bool separate_host_file();

  // While a Hold exists, as during a kernel, forgotten records are kept: another host thread may
  // have their address.
  class Hold {
   public:
    explicit Hold(DeviceMemory& memory);
    ~Hold();
    Hold(const Hold&) = delete;
    Hold& operator=(const Hold&) = delete;

   private:
    DeviceMemory& memory_;
  };

  // The allocation, live or freed, whose [base, base + size) contains `address`; nullptr in a gap
  // or outside the window.
  const Allocation* find(Address address) const;
  // For messages: the nearest allocations below and above an address for which find() returns
  // nullptr. Either may be nullptr.
  struct Neighbours {
    const Allocation* below = nullptr;
    const Allocation* above = nullptr;
  };
  Neighbours neighbours(Address address) const;

  // Restricts kernels to [begin, begin + size) of the live allocation that contains it, and names
  // that range.
  bool name_buffer(Address begin, std::uint64_t size, std::string name);

  // The host address of a byte. The caller must have checked the range with find().
  std::byte* host(const Allocation& a, Address address) const {
    return reinterpret_cast<std::byte*>(address + static_cast<Address>(a.alias_delta));
  }

  // The written-shadow: bit i of byte k stands for address window_begin() + 8 k + i. Bytes outside
  // the window (registered host memory) have no shadow and count as written. Bits that share a byte
  // with others are changed atomically, so kernels may mark in parallel.
  std::uint8_t* written_shadow(Address address) const {
    return written_ + ((address - begin_) >> 3);
  }
  void mark_written(Address address, std::uint64_t size);
  void mark_unwritten(Address address, std::uint64_t size);
  // The effect of a copy of `size` bytes on the shadow: `to` becomes written exactly as `from` is.
  // The ranges may overlap.
  void copy_written(Address to, Address from, std::uint64_t size);
  bool is_written(Address address, std::uint64_t size) const;
  // The bits that are written in bytes that the shadow marks as unwritten. A place is an address.
  PartlyWritten& partly_written() { return partly_written_; }
  // The first never-written byte in the range, or address + size.
  Address first_unwritten(Address address, std::uint64_t size) const;
  // The first written byte in the range, or address + size.
  Address first_written(Address address, std::uint64_t size) const;

  // The race checker's word for the 4-byte granule that holds `address`.
  std::uint64_t* race_shadow(Address address) const { return race_ + ((address - begin_) >> 2); }

  // Forgets all records of the search for races, using up to `threads` host threads. No kernel may
  // be recording accesses. A shadow that is at least half resident keeps its pages; otherwise they
  // are returned to the system.
  void clear_race_shadow(unsigned threads = 1);
  // The next number for records of the search for races, counted since the shadow was last cleared.
  // 0 is no number.
  std::atomic<std::uint32_t>& race_records() { return race_records_.made; }
  // The state of the search for races for this memory. Only the search uses it.
  std::shared_ptr<void>& race_state() { return race_state_; }

  Address window_begin() const { return begin_; }
  Address window_end() const { return end_; }
  std::int64_t window_delta() const { return delta_; }
  bool in_window(Address a) const { return a - begin_ < end_ - begin_; }

  // Generic addresses of the shared and local windows: 4 GiB each, aligned to 4 GiB, reserved and
  // unmapped.
  Address shared_window() const { return shared_window_; }
  Address local_window() const { return local_window_; }

  // Counts the changes of the set of allocations. The engine's caches are valid while it is
  // unchanged.
  std::uint64_t generation() const { return generation_.load(std::memory_order_relaxed); }

  // Whether host-visible memory was ever allocated in the window.
  bool has_host_memory() const { return host_file_ >= 0; }
  // All live allocations, in address order: for leak reports and device resets.
  std::vector<const Allocation*> live() const;
  std::uint64_t bytes_in_use(int device) const;
  void set_capacity(int device, std::uint64_t bytes);  // if not set: limited by the window only

  // The most freed allocations that are remembered. Bounds the page tables and records of a program
  // that allocates and frees forever.
  static constexpr std::size_t kMaxFreed = 65536;

 private:
  // The record of an allocation: the allocation and the addresses reserved for it, with the gaps on
  // both sides.
  struct Record {
    Allocation allocation;
    Address room_begin = 0, room_end = 0;
    bool counted = true;  // its size counts as in use
    int file = -1;        // the file of share() behind its pages
  };
  using Records = std::map<Address, std::unique_ptr<Record>>;

  bool reserve(std::uint64_t span);
  std::unique_ptr<Record> place(std::uint64_t size, std::uint64_t alignment, bool whole_pages,
                                bool is_range = false);
  bool find_room(Address from, Address to, std::uint64_t length, Address* room);
  bool open_host_file();
  bool map_for_host(const Allocation& a);
  void give_back(const Allocation& a);
  void give_back_shared(Record& record);
  const Record* record_at(Address address) const;
  void clear_shadow(Address address, std::uint64_t size);
  Address first_with(bool written, Address address, std::uint64_t size) const;
  bool fits(int device, std::uint64_t bytes) const;
  struct Range {
    Address begin = 0, end = 0;
  };
  const Range* range_of(Address address, std::uint64_t size) const;
  void put_backed(Address begin, Address end, int device, bool freed);
  void forget(Records::iterator record);

  Address begin_ = 0, end_ = 0;
  std::int64_t delta_ = 0;
  std::uint8_t* written_ = nullptr;
  std::uint64_t* race_ = nullptr;
  // On a cache line of its own: host threads read the members around it at every access.
  struct alignas(64) RaceRecords {
    std::atomic<std::uint32_t> made{1};
  };
  RaceRecords race_records_;
  std::shared_ptr<void> race_state_;
  PartlyWritten partly_written_;
  Address generic_ = 0;  // the mapping that contains the next two
  Address shared_window_ = 0, local_window_ = 0;
  Address next_ = 0, ranges_begin_ = 0, next_range_ = 0;
  int host_file_ = -1;  // memfd behind kManaged and kPinned; offset = address - begin_
  std::uint64_t ids_ = 0;
  std::size_t placed_ = 0;  // allocations since the search last restarted at begin_
  std::atomic<std::uint64_t> generation_{0};
  mutable std::mutex mutex_;
  // By base, freed ones included. A reserved range has a record without bytes at the start of its
  // room.
  Records records_;
  std::map<Address, Range> ranges_;            // reserved ranges, by the record's base
  std::map<Address, const Allocation*> live_;  // the records that hold bytes
  int holds_ = 0;
  std::vector<std::unique_ptr<Record>> forgotten_;  // kept while there are holds
  std::map<int, std::uint64_t> capacity_;
  mutable std::map<int, std::uint64_t> in_use_;
};

}  // namespace lockstep::memory
