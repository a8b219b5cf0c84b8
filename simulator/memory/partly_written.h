// Bytes with only some bits written.
//
// A bit field is stored as the whole word that contains it: the word is read, the field's bits are
// replaced, and the word is written back. On fresh memory some bits of a byte are then written and
// others are not. The written-shadow has one bit for each byte and marks such a byte as unwritten.
// This class stores which of its bits are unwritten. A byte without an entry is unwritten
// completely.
//
// Entries of bytes that the shadow marks as written have no meaning, and may remain.
#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <mutex>
#include <unordered_map>

namespace lockstep::memory {

// The entries of one memory; a place is the index of a byte in it. Thread-safe.
class PartlyWritten {
 public:
  // Whether no byte has an entry: the usual case, and a cheap test.
  bool empty() const { return count_.load(std::memory_order_relaxed) == 0; }
  // The unwritten bits of an unwritten byte: 0xff without an entry.
  std::uint8_t unwritten_bits(std::uint64_t place) const;
  // Sets the unwritten bits. 0 and 0xff need no entry.
  void set(std::uint64_t place, std::uint8_t unwritten);
  // Removes the entries of [place, place + bytes).
  void forget(std::uint64_t place, std::uint64_t bytes) {
    if (!empty()) drop(place, bytes);
  }
  // The effect of a copy of `bytes` bytes. The ranges may overlap.
  void copy(std::uint64_t to, std::uint64_t from, std::uint64_t bytes);
  void clear() {
    if (!empty()) drop_all();
  }

 private:
  static constexpr std::uint64_t kChunk = 64;
  using Chunk = std::array<std::uint8_t, kChunk>;  // 0: no entry

  void put(std::uint64_t place, std::uint8_t entry);
  void drop(std::uint64_t place, std::uint64_t bytes);
  void drop_all();
  template <class Visit>
  void visit(std::uint64_t place, std::uint64_t bytes, Visit visit);

  mutable std::mutex mutex_;
  std::atomic<std::size_t> count_{0};                // chunks
  std::unordered_map<std::uint64_t, Chunk> chunks_;  // by place / kChunk
};

}  // namespace lockstep::memory
