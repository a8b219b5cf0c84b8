// Which allocations are known to be written from their first byte on, and how far: an allocation
// that is written as a whole needs no look at its written-shadow.
//
// Bytes may become unwritten while somebody looks, so a look has two parts. begin() returns where
// to look on, and end() takes what was found, unless anything has become unwritten in between.
// Thread-safe.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <map>
#include <mutex>

namespace lockstep::memory {

class KnownWritten {
 public:
  // An allocation. `id` differs from those of earlier allocations at this address.
  struct Whole {
    std::uint64_t base = 0, size = 0, id = 0;
  };
  struct Look {
    std::uint64_t from = 0;  // all bytes before are written
    std::uint64_t forgotten = 0;
  };
  Look begin(const Whole& a);
  // `unwritten`: the first unwritten byte from Look::from on, or the allocation's end. Returns
  // whether all bytes of the allocation are written.
  bool end(const Whole& a, const Look& look, std::uint64_t unwritten);
  // Call after bytes of [address, address + size) have become unwritten.
  void forget(std::uint64_t address, std::uint64_t size);
  // Call after the allocation at `base` was freed.
  void drop(std::uint64_t base);
  // The number of allocations with an entry.
  std::size_t size() const;
  // Changes when an allocation that end() has returned true for is no longer written as a whole.
  std::uint64_t generation() const { return generation_.load(std::memory_order_relaxed); }
  const std::atomic<std::uint64_t>& changes() const { return generation_; }

 private:
  struct Known {
    std::uint64_t size = 0, id = 0;
    std::uint64_t written_to = 0;  // all bytes before this address are written
  };
  mutable std::mutex mutex_;
  std::map<std::uint64_t, Known> known_;  // by base
  std::uint64_t forgotten_ = 0;           // calls of forget()
  std::atomic<std::uint64_t> generation_{0};
};

}  // namespace lockstep::memory
