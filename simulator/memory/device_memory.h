// The global address space of the simulated GPUs.
//
// All memory that a kernel can reach by a global address lies in one reserved window of virtual
// addresses: cudaMalloc memory, managed and pinned memory, __device__ and __constant__ variables.
// Only registered host memory lies outside of the window. Device-only memory is mapped without
// access at its user-visible address, so host code that dereferences a device pointer faults, as on
// hardware. The engine reaches the bytes at a second address, `alias_delta` bytes away.
//
// Shadow memory lies at a linear distance too. One bit a byte records whether the byte was ever
// written; one 64-bit word a 4-byte granule belongs to the race checker. Shadow pages are zero
// pages until touched, so untouched memory costs nothing.
//
// Small memory of a device lies elsewhere, with its shadow: in blocks behind the window, which back
// one allocation after another (backing_blocks.h). A table lists how far each address is moved. It
// has one entry for 64 KiB, and an allocation shares none with another.
//
// Gaps at least as large as the allocation, up to a limit, separate allocations: an access past the
// end lands in a gap, not in a neighbour. Addresses are reused as late as possible. A freed
// allocation stays recorded, so that a use after free can name it. When the window is full, or
// after kMaxFreed more allocations, the search restarts at the lowest address and forgets freed
// allocations there, oldest first. Reserved ranges use the upper three quarters of the window while
// there is room, apart from small allocations, so that long ranges can be reserved and released.
//
// Thread safety: a mutex guards the set of allocations. Device code on several host threads may
// allocate and free; of the members that other threads read, only `freed` changes then. All others
// change only in name_buffer(), which the runtime calls under its device lock and never while a
// kernel runs. A pointer to an Allocation is valid until the allocation was freed and then
// forgotten, or longer while a Hold exists. Each change of the set changes generation().
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "simulator/memory/backing_blocks.h"
#include "simulator/memory/known_written.h"
#include "simulator/memory/multicast.h"
#include "simulator/memory/partly_written.h"

namespace lockstep::memory {

using Address = std::uint64_t;

enum class Kind : std::uint8_t { kDevice, kManaged, kPinned, kVariable, kConstant, kRegistered };

struct Allocation {
  Address base = 0;
  std::uint64_t size = 0;  // the requested bytes
  // The range that kernels may access: the whole allocation, or less after extension.h's
  // lockstepNameBuffer, which excludes guard bytes.
  Address begin = 0, end = 0;
  Kind kind = Kind::kDevice;
  int device = 0;
  std::uint64_t id = 0;          // "cudaMalloc #id", counted from 1
  std::string name;              // the variable's name, or the name given through extension.h
  std::int64_t alias_delta = 0;  // engine address = address + alias_delta
  bool has_shadow =
      true;  // false for kRegistered, which lies outside the window and counts as written
  std::atomic<bool> freed = false;
  // Graph memory that is currently not allocated: its address is kept, and no access is allowed.
  std::atomic<bool> absent = false;

  // Other processes map this memory too (share(), import()).
  bool shared = false;

  bool usable() const { return !freed && !absent; }
};

class DeviceMemory {
 public:
  // Bytes of a window: the most, and enough for small programs. Many of these run at once.
  static constexpr std::uint64_t kLargestWindow = std::uint64_t{1} << 40;
  static constexpr std::uint64_t kSmallWindow = std::uint64_t{1} << 30;

  // Reserves a window of `largest` bytes, a power of two. If the system refuses, a quarter of it is
  // tried, and so on down to 16 GiB. Throws std::runtime_error with the system's reason if it
  // refuses all of them.
  explicit DeviceMemory(std::uint64_t largest = kLargestWindow);
  ~DeviceMemory();
  DeviceMemory(const DeviceMemory&) = delete;
  DeviceMemory& operator=(const DeviceMemory&) = delete;

  MulticastRanges multicast;  // at addresses that nothing else uses

  // Allocates `size` > 0 bytes of zeros that count as unwritten. Their address is a multiple of
  // `alignment` and of no larger power of two, so that code that relies on more fails. `alignment`
  // is a power of two, at least 256 for cudaMalloc. Returns nullptr if the capacity of `device` or
  // the window is exhausted. kManaged and kPinned memory is host-accessible at the same address and
  // page-aligned; it counts as written, because the host's stores are not observed. kPinned does
  // not count against the capacity.
  const Allocation* allocate(std::uint64_t size, std::uint64_t alignment, Kind kind, int device,
                             std::string name = {});

  // Allocates kDevice memory at the given address, which it had in another process. nullptr if the
  // address is not free.
  const Allocation* allocate_at(Address base, std::uint64_t size, int device);
  // The address from which the next allocation's place is searched. set_next() requires an address
  // in the window.
  Address next() const { return next_; }
  void set_next(Address address) { next_ = address; }

  // Registers host memory at `base` (cudaHostRegister). nullptr if it overlaps a known allocation.
  const Allocation* register_host(void* base, std::uint64_t size);

  enum class FreeResult { kOk, kNotAnAllocation, kAlreadyFreed };
  // Frees by base address and keeps the record. Returns the pages to the system, or leaves its
  // block to a later allocation. A kRegistered allocation is forgotten instead; its host memory is
  // not touched.
  FreeResult release(Address base);

  // Allocates (`present`) or frees the memory of a graph, when its allocation and free nodes run.
  // The address is fixed. Newly present memory counts as unwritten. `base` is the base of a live
  // allocation.
  void set_present(Address base, bool present);

  // Address ranges that a program reserves and backs with memory in parts (cuMemAddressReserve,
  // cuMemMap). A reserved range is no allocation; its backed parts are. Adjacent backed parts on
  // one device form one allocation, so an access may cross from one part into the next.
  //
  // Returns the range's first address, a multiple of `alignment`; 0 if there is no room.
  Address reserve_range(std::uint64_t size, std::uint64_t alignment);
  // False if no reserved range begins at `base`, or if a part of the range is backed.
  bool release_range(Address base);
  // Backs a part of a reserved range with zeros that count as unwritten. No byte of the part may be
  // backed already. Sizes and addresses are whole pages.
  bool back(Address address, std::uint64_t size, int device);
  // Removes the memory behind the part. The whole part must be backed.
  bool unback(Address address, std::uint64_t size);
  // Counts `bytes` against a device's capacity before the memory has an address. False if the
  // capacity is exhausted.
  bool claim(int device, std::uint64_t bytes);
  void unclaim(int device, std::uint64_t bytes);

  // Moves the pages of a live kDevice allocation into a file that other processes can map.
  // Addresses do not change. Returns the file's descriptor, which is closed with the allocation; -1
  // with errno set if the system refuses. All bytes then count as written, because other processes'
  // writes have no shadow here. No kernel may be running in another thread.
  int share(Address base);
  // Makes an allocation of `size` bytes of such a file, from `offset`, which is less than a page.
  // The caller still owns the descriptor. The bytes count as written and do not count against the
  // capacity. nullptr if there is no room or the system refuses.
  const Allocation* import(int file, std::uint64_t offset, std::uint64_t size, int device);

  // After a fork: gives this process its own copy of host-accessible memory. False if the system
  // refuses.
  bool separate_host_file();

  // Keeps forgotten records alive while it exists, as during a kernel: another host thread may hold
  // a pointer to one. Also keeps freed blocks from other allocations: that thread may still access
  // one.
  class Hold {
   public:
    explicit Hold(DeviceMemory& memory);
    ~Hold();
    Hold(const Hold&) = delete;
    Hold& operator=(const Hold&) = delete;

   private:
    DeviceMemory& memory_;
  };

  // The live or freed allocation whose [base, base + size) contains `address`; nullptr in a gap or
  // outside the window.
  const Allocation* find(Address address) const;
  // The nearest allocations below and above an address for which find() returns nullptr, for
  // messages. Either may be nullptr.
  struct Neighbours {
    const Allocation* below = nullptr;
    const Allocation* above = nullptr;
  };
  Neighbours neighbours(Address address) const;

  // Names [begin, begin + size) of a live allocation and restricts kernels to this range of it.
  bool name_buffer(Address begin, std::uint64_t size, std::string name);

  // The host address of the bytes. The caller must have checked the range with find().
  std::byte* host(const Allocation& a, Address address) const {
    return reinterpret_cast<std::byte*>(address + static_cast<Address>(a.alias_delta));
  }

  // The byte of the written-shadow that contains the bit of `address`. From there on, the shadow of
  // the same allocation is contiguous: bit i of byte k stands for the multiple of eight below
  // `address` + 8 k + i. Bytes outside the window (registered host memory) have no shadow and count
  // as written. Bits in partly covered bytes are changed atomically, so kernels may mark in
  // parallel.
  std::uint8_t* written_shadow(Address address) const {
    return written_ + (place_of(address) >> 3);
  }
  void mark_written(Address address, std::uint64_t size);
  void mark_unwritten(Address address, std::uint64_t size);
  // Copies the written state of `size` bytes. The ranges may overlap.
  void copy_written(Address to, Address from, std::uint64_t size);
  bool is_written(Address address, std::uint64_t size) const;
  // Bytes with some bits written, among those that the shadow calls unwritten. A place is an
  // address.
  PartlyWritten& partly_written() { return partly_written_; }
  const KnownWritten& known_written() const { return known_written_; }
  // Whether every byte of a live allocation is written. What is found is remembered, so that each
  // byte is looked at about once. When this is no longer so, cache_generation() changes.
  bool is_all_written(const Allocation& a) const;
  // Call after bytes have become unwritten otherwise than by a member function: after their bits in
  // the shadow were cleared.
  void became_unwritten(Address address, std::uint64_t size) const {
    known_written_.forget(address, size);
  }
  // The first unwritten byte in the range, or address + size.
  Address first_unwritten(Address address, std::uint64_t size) const;
  // The first written byte in the range, or address + size.
  Address first_written(Address address, std::uint64_t size) const;

  // The race checker's word for the 4-byte granule that contains `address`. Those of the same
  // allocation are contiguous.
  std::uint64_t* race_shadow(Address address) const { return race_ + (place_of(address) >> 2); }

  // Erases all records of the race checker, on up to `threads` host threads. No kernel may be
  // running, unless the caller keeps all of them from recording. A shadow that is at least half in
  // memory keeps its pages; any other returns them to the system.
  void clear_race_shadow(unsigned threads = 1);
  // The number of the race checker's next record; numbers restart when the shadow is cleared. 0 is
  // no record.
  std::atomic<std::uint32_t>& race_records() { return race_records_.made; }
  // The race checker's own data for this memory. No other code creates or reads it.
  std::shared_ptr<void>& race_state() { return race_state_; }

  Address window_begin() const { return begin_; }
  Address window_end() const { return end_; }
  bool in_window(Address a) const { return a - begin_ < end_ - begin_; }

  // The generic addresses of the shared and local windows. Each window is 4 GiB, aligned to 4 GiB
  // and reserved without a mapping.
  Address shared_window() const { return shared_window_; }
  Address local_window() const { return local_window_; }

  // Counts the changes of the set of allocations. The engine's last-hit caches are valid while the
  // count is the same.
  std::uint64_t generation() const { return generation_.load(std::memory_order_relaxed); }

  // As generation(), but also counts changes of what is_all_written() has returned.
  std::uint64_t cache_generation() const { return generation() + known_written_.generation(); }

  // The counts that make up cache_generation(), for machine code.
  const std::atomic<std::uint64_t>& changes() const { return generation_; }
  const std::atomic<std::uint64_t>& changes_of_written() const { return known_written_.changes(); }

  // Whether host-accessible memory was ever allocated in the window.
  bool has_host_memory() const { return host_file_ >= 0; }
  // Every live allocation in address order, for leak reports and device resets.
  std::vector<const Allocation*> live() const;
  std::uint64_t bytes_in_use(int device) const;
  void set_capacity(int device, std::uint64_t bytes);  // if never set, only the window is the limit

  // The most freed allocations to remember. Bounds the page tables and records of a program that
  // allocates and frees for ever.
  static constexpr std::size_t kMaxFreed = 65536;

 private:
  // The record of an allocation: the allocation and the addresses reserved for it, with the gaps on
  // both sides.
  struct Record {
    Allocation allocation;
    Address room_begin = 0, room_end = 0;
    bool counted = true;                 // its size counts as bytes in use
    int file = -1;                       // the file of its pages after share()
    std::optional<std::uint64_t> block;  // the place of the block behind it, if it has one
  };
  using Records = std::map<Address, std::unique_ptr<Record>>;

  // An entry of shifts_ covers 2^kShiftGranule bytes.
  static constexpr unsigned kShiftGranule = 16;
  // The bytes of shifts_ for a window of `span` bytes.
  static constexpr std::uint64_t shift_bytes(std::uint64_t span) {
    return (span >> kShiftGranule) * sizeof(std::int32_t);
  }
  // Where the bytes at an address lie, from the start of the window's alias, and their shadows.
  Address place_of(Address address) const {
    const Address offset = address - begin_;
    if (offset >= end_ - begin_) return offset;
    const std::int32_t pages = __atomic_load_n(&shifts_[offset >> kShiftGranule], __ATOMIC_RELAXED);
    return offset + static_cast<Address>(std::int64_t{pages} *
                                         static_cast<std::int64_t>(BackingBlocks::kPage));
  }

  bool reserve(std::uint64_t span);
  std::unique_ptr<Record> place(std::uint64_t size, std::uint64_t alignment, bool whole_pages,
                                bool is_range = false);
  bool find_room(Address from, Address to, std::uint64_t length, Address* room);
  bool open_host_file();
  bool map_for_host(const Allocation& a);
  void unmap_from_host(const Allocation& a);
  void give_back(Record& record);
  void give_back_shared(Record& record);
  void find_backing(Record& record);
  void put_block(Record& record);
  void set_shift(const Allocation& a, std::int64_t bytes);
  const Record* record_at(Address address) const;
  void clear_shadow(Address address, std::uint64_t size);
  void copy_shadow(Address to, Address from, std::uint64_t size);
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
  std::int32_t* shifts_ = nullptr;  // pages by which addresses are moved
  // On its own cache line: host threads read the surrounding members at every access.
  struct alignas(64) RaceRecords {
    std::atomic<std::uint32_t> made{1};
  };
  RaceRecords race_records_;
  std::shared_ptr<void> race_state_;
  PartlyWritten partly_written_;
  mutable KnownWritten known_written_;
  Address generic_ = 0;  // start of the mapping that contains the next two
  Address shared_window_ = 0, local_window_ = 0;
  Address next_ = 0, ranges_begin_ = 0, next_range_ = 0;
  int host_file_ = -1;  // memfd behind kManaged and kPinned; offset = address - begin_
  std::uint64_t ids_ = 0;
  std::size_t placed_ = 0;  // allocations since the search last restarted at begin_
  std::atomic<std::uint64_t> generation_{0};
  mutable std::mutex mutex_;
  // By base, with freed allocations. A reserved range has a record without bytes at the start of
  // its room.
  Records records_;
  std::map<Address, Range> ranges_;            // reserved ranges, by the record's base
  std::map<Address, const Allocation*> live_;  // the records that hold bytes
  int holds_ = 0;
  std::vector<std::unique_ptr<Record>> forgotten_;  // forgotten while a Hold exists
  BackingBlocks blocks_;
  // Of allocations that were freed while a Hold exists: the places and the bytes.
  std::vector<std::pair<std::uint64_t, std::uint64_t>> held_blocks_;
  std::map<int, std::uint64_t> capacity_;
  mutable std::map<int, std::uint64_t> in_use_;
};

}  // namespace lockstep::memory
