// Bytes of which only some bits were written.
//
// A bit field is stored by reading a whole word, replacing the field's bits and writing the word
// back. In fresh memory this leaves bytes with both written and unwritten bits. The written-shadow
// has one bit a byte and calls such a byte unwritten; this class stores which bits of it are
// unwritten. A byte without an entry is unwritten as a whole.
//
// An entry for a byte that the shadow calls written has no meaning and may stay.
#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <mutex>
#include <unordered_map>

namespace lockstep::memory {

// The partly written bytes of one memory. A place is the number of a byte. Thread-safe.
class PartlyWritten {
 public:
  // Whether no byte has an entry. This is the usual case, and the call is cheap.
  bool empty() const { return count_.load(std::memory_order_relaxed) == 0; }
  // The unwritten bits of a byte that the shadow calls unwritten; 0xff without an entry.
  std::uint8_t unwritten_bits(std::uint64_t place) const;
  // Sets the unwritten bits. 0 and 0xff remove the entry.
  void set(std::uint64_t place, std::uint8_t unwritten);
  // Removes the entries of [place, place + bytes).
  void forget(std::uint64_t place, std::uint64_t bytes) {
    if (!empty()) drop(place, bytes);
  }
  // Copies the entries of `bytes` bytes. The ranges may overlap.
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
