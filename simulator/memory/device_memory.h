// The global address space of the simulated GPUs.
//
// One window of virtual addresses is reserved for everything a kernel can reach by a global
// address: cudaMalloc memory, managed and pinned memory, __device__ and __constant__ variables.
// Memory of the device only is mapped at its user-visible address with no access, so that host code
// that dereferences a device pointer faults as it does on hardware; the engine reaches the bytes at
// a second address, a constant `alias_delta` away.
//
// Shadow memory lies at a linear distance too: one bit a byte says whether it was ever written, and
// one 64-bit word a 4-byte granule is the race checker's. Both are zero pages until touched, so
// they cost what is used.
//
// Addresses are not used again while the window lasts, and allocations are separated by gaps at
// least as large as themselves (up to a limit): an access that leaves its allocation lands in a
// gap, not in a neighbour. Freed allocations stay recorded, so that a use after free can be named;
// when the window is exhausted, or after kMaxFreed more allocations, the search starts at its
// lowest address again and forgets the freed ones it comes upon, the oldest first. Reserved ranges
// have the upper three quarters of the window as long as there is room: so long ranges come and go,
// and no small allocation lies between them.
//
// Thread safety: the set of allocations is guarded by a mutex of its own. Device code on several
// host threads allocates and frees, which changes `freed` and nothing else that another looks at;
// all other fields change in name_buffer() only, which the runtime calls under its device lock,
// never while a kernel runs. A pointer to an Allocation stays valid until the allocation has been
// freed and then forgotten (while a Hold lives, longer); each of these changes generation().
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
  std::uint64_t size = 0;  // bytes as asked for
  // What kernels may touch; narrowed by extension.h's lockstepNameBuffer (guard bytes are outside),
  // else all of it.
  Address begin = 0, end = 0;
  Kind kind = Kind::kDevice;
  int device = 0;
  std::uint64_t id = 0;          // "cudaMalloc #id", counted from 1
  std::string name;              // variable name, or as given through extension.h
  std::int64_t alias_delta = 0;  // engine address = address + alias_delta
  bool has_shadow = true;  // false for kRegistered: lies outside the window, counts as written
  std::atomic<bool> freed = false;
  // Memory of a graph that is not allocated now: the address is kept, and nothing may use it.
  std::atomic<bool> absent = false;

  // Other processes have it, too (share(), import()).
  bool shared = false;

  bool usable() const { return !freed && !absent; }
};

class DeviceMemory {
 public:
  // Reserves the window. Throws std::runtime_error with the system's reason when no window of at
  // least 16 GiB can be had.
  DeviceMemory();
  ~DeviceMemory();
  DeviceMemory(const DeviceMemory&) = delete;
  DeviceMemory& operator=(const DeviceMemory&) = delete;

  MulticastRanges multicast;  // nothing else is at their addresses

  // Allocates `size` > 0 bytes of zeros that count as never written. They are aligned to
  // `alignment` (a power of two, at least 256 for cudaMalloc) and to no more, so that code which
  // relies on more fails. nullptr when the capacity of `device` or the window is exhausted.
  // kManaged and kPinned memory is host-accessible at the same address and page-aligned. It counts
  // as written, since the host's stores are not observed. kPinned does not count against the
  // capacity.
  const Allocation* allocate(std::uint64_t size, std::uint64_t alignment, Kind kind, int device,
                             std::string name = {});

  // The same of kDevice at a given address, at which another process had it. nullptr where that is
  // not free.
  const Allocation* allocate_at(Address base, std::uint64_t size, int device);
  // Where the search for the place of the next allocation begins. set_next: an address in the
  // window.
  Address next() const { return next_; }
  void set_next(Address address) { next_ = address; }

  // Makes host memory at `base` known (cudaHostRegister). nullptr if it overlaps something known.
  const Allocation* register_host(void* base, std::uint64_t size);

  enum class FreeResult { kOk, kNotAnAllocation, kAlreadyFreed };
  // Frees by base address: gives the pages back and keeps the record (except for kRegistered, whose
  // host memory lives on and is forgotten).
  FreeResult release(Address base);

  // Memory of a graph: its address is fixed, and its contents come and go with allocation and free
  // nodes. `present`: it is allocated, and nobody has written it. The base of a live allocation.
  void set_present(Address base, bool present);

  // Addresses that a program reserves and puts memory behind piece by piece (cuMemAddressReserve,
  // cuMemMap). A reserved range holds no allocation; what is backed is one, and pieces of one
  // device that lie side by side are one together: an access may reach from one into the next.
  //
  // The first address, aligned to `alignment`; 0 when there is no room.
  Address reserve_range(std::uint64_t size, std::uint64_t alignment);
  // False when `base` begins no reserved range, or something of it is backed.
  bool release_range(Address base);
  // Backs a part of a reserved range with zeros that nobody wrote. Nothing of the part may be
  // backed yet. Sizes and addresses are whole pages.
  bool back(Address address, std::uint64_t size, int device);
  // Takes away what backs the part. All of the part must be backed.
  bool unback(Address address, std::uint64_t size);
  // Memory that is counted as a device's before it lies anywhere. False when the capacity is
  // exhausted.
  bool claim(int device, std::uint64_t bytes);
  void unclaim(int device, std::uint64_t bytes);

  // Moves the pages of a live allocation of kDevice into a file that other processes can map: the
  // addresses stay. The file's descriptor, which ends with the allocation; -1, errno set, when the
  // system refuses. What other processes write has no shadow here: all of it counts as written. No
  // kernel may be running in another thread.
  int share(Address base);
  // Makes an allocation of `size` bytes of such a file, from an offset below a page's size. The
  // caller keeps the file's descriptor. The bytes count as written, and not against the capacity.
  // nullptr when there is no room, or the system refuses.
  const Allocation* import(int file, std::uint64_t offset, std::uint64_t size, int device);

  // After a fork: gives this process host-accessible memory of its own, with what it holds. False
  // when the system refuses.
  bool separate_host_file();

  // While one lives, as during a kernel, what is forgotten is kept: another host thread may have
  // its address.
  class Hold {
   public:
    explicit Hold(DeviceMemory& memory);
    ~Hold();
    Hold(const Hold&) = delete;
    Hold& operator=(const Hold&) = delete;

   private:
    DeviceMemory& memory_;
  };

  // The allocation, live or freed, whose [base, base + size) holds `address`; nullptr in a gap or
  // outside the window.
  const Allocation* find(Address address) const;
  // The nearest allocation below and above an address that find() does not know, for messages;
  // either may be nullptr.
  struct Neighbours {
    const Allocation* below = nullptr;
    const Allocation* above = nullptr;
  };
  Neighbours neighbours(Address address) const;

  // Narrows what kernels may touch to [begin, begin + size) of the live allocation that holds it,
  // and names it.
  bool name_buffer(Address begin, std::uint64_t size, std::string name);

  // Host-side access to the bytes, after the caller has checked the range with find().
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
  // What a copy of `size` bytes does to the shadow: `to` is as written as `from` is. The ranges may
  // overlap.
  void copy_written(Address to, Address from, std::uint64_t size);
  bool is_written(Address address, std::uint64_t size) const;
  // Of bytes that the shadow calls unwritten, those with some bits written; a place is an address.
  PartlyWritten& partly_written() { return partly_written_; }
  // First byte in the range never written, or address + size.
  Address first_unwritten(Address address, std::uint64_t size) const;
  // First byte in the range that was written, or address + size.
  Address first_written(Address address, std::uint64_t size) const;

  // The race checker's word for the 4-byte granule that holds `address`.
  std::uint64_t* race_shadow(Address address) const { return race_ + ((address - begin_) >> 2); }

  // Forgets all that the race checker has recorded, on up to `threads` host threads. No kernel may
  // be running, or the caller keeps them all from recording. A shadow that is at least half
  // in memory keeps its pages. Any other returns them to the system.
  void clear_race_shadow(unsigned threads = 1);
  // Numbers that the race checker gives its records, in order, since the shadow was last cleared: 0
  // is none.
  std::atomic<std::uint32_t>& race_records() { return race_records_.made; }
  // What the race checker keeps for this memory; nobody else makes or reads it.
  std::shared_ptr<void>& race_state() { return race_state_; }

  Address window_begin() const { return begin_; }
  Address window_end() const { return end_; }
  std::int64_t window_delta() const { return delta_; }
  bool in_window(Address a) const { return a - begin_ < end_ - begin_; }

  // Generic addresses of the shared and local windows: 4 GiB each, aligned to 4 GiB, reserved,
  // nothing mapped.
  Address shared_window() const { return shared_window_; }
  Address local_window() const { return local_window_; }

  // Counts every change of the set of allocations; the engine's last-hit caches are valid while it
  // stays the same.
  std::uint64_t generation() const { return generation_.load(std::memory_order_relaxed); }

  // Whether memory that the host sees at the same address was ever allocated in the window.
  bool has_host_memory() const { return host_file_ >= 0; }
  // Every live allocation, in address order: for leak reports and for a device reset.
  std::vector<const Allocation*> live() const;
  std::uint64_t bytes_in_use(int device) const;
  void set_capacity(int device, std::uint64_t bytes);  // none set: no limit but the window's

  // Freed allocations remembered: bounds the page tables and records of a program that allocates
  // and frees for ever.
  static constexpr std::size_t kMaxFreed = 65536;

 private:
  // What is kept of an allocation: it and the addresses that are its alone, gaps on both sides
  // included.
  struct Record {
    Allocation allocation;
    Address room_begin = 0, room_end = 0;
    bool counted = true;  // its size is among the bytes in use
    int file = -1;        // behind its pages, of share()
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
  // On a cache line of its own: host threads read what surrounds it at every access.
  struct alignas(64) RaceRecords {
    std::atomic<std::uint32_t> made{1};
  };
  RaceRecords race_records_;
  std::shared_ptr<void> race_state_;
  PartlyWritten partly_written_;
  Address generic_ = 0;  // what was mapped for the next two
  Address shared_window_ = 0, local_window_ = 0;
  Address next_ = 0, ranges_begin_ = 0, next_range_ = 0;
  int host_file_ = -1;  // memfd behind kManaged and kPinned; offset = address - begin_
  std::uint64_t ids_ = 0;
  std::size_t placed_ = 0;  // allocations since the search last started at begin_
  std::atomic<std::uint64_t> generation_{0};
  mutable std::mutex mutex_;
  // By base, freed ones included; of a reserved range, one without bytes where its room begins.
  Records records_;
  std::map<Address, Range> ranges_;            // reserved, by the record's base
  std::map<Address, const Allocation*> live_;  // those of records_ that hold bytes
  int holds_ = 0;
  std::vector<std::unique_ptr<Record>> forgotten_;  // while there are holds
  std::map<int, std::uint64_t> capacity_;
  mutable std::map<int, std::uint64_t> in_use_;
};

}  // namespace lockstep::memory
