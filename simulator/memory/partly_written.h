// Bytes with only some bits written.
//
// A bit field is stored as the whole word that holds it: the word is read, the field's bits are
// replaced, and the word is written back. On fresh memory that leaves bytes whose field was written
// and whose other bits were not. The written-shadow has one bit a byte and says that such a byte is
// unwritten; here stands which of its bits are. A byte without an entry is unwritten as a whole.
//
// Entries of bytes that the shadow calls written are without meaning, and may stay.
#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <mutex>
#include <unordered_map>

namespace lockstep::memory {

// Of one memory; a place is the number of a byte in it. Threads may use it at once.
class PartlyWritten {
 public:
  // No byte has an entry: the usual case, and cheap to ask.
  bool empty() const { return count_.load(std::memory_order_relaxed) == 0; }
  // The bits of an unwritten byte that nobody has written: 0xff without an entry.
  std::uint8_t unwritten_bits(std::uint64_t place) const;
  // Sets them; 0 and 0xff need no entry.
  void set(std::uint64_t place, std::uint8_t unwritten);
  // [place, place + bytes) has no entries any more.
  void forget(std::uint64_t place, std::uint64_t bytes) {
    if (!empty()) drop(place, bytes);
  }
  // What a copy of `bytes` bytes does; the ranges may overlap.
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
