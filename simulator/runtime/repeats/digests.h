// Digests of the memory that kernels can access. Two states of memory with the same digest count as
// equal: the digests have 128 bits (XXH3, a well-distributed hash that is not cryptographic).
//
// A digest covers each live allocation: its place, kind and size, its contents, and which of its
// bytes count as written. An allocation is read again only if something may have written to it
// since. Memory that the host can write to is read again each time.
#pragma once

#include <compare>
#include <cstddef>
#include <cstdint>
#include <span>
#include <unordered_map>
#include <vector>

#include "simulator/memory/box.h"
#include "simulator/memory/device_memory.h"

namespace lockstep::runtime {

struct Digest {
  std::uint64_t low = 0, high = 0;
  auto operator<=>(const Digest&) const = default;
};
Digest digest_of(std::span<const std::byte> bytes);

// The state of one allocation.
struct Piece {
  const memory::Allocation* allocation =
      nullptr;         // valid while the memory's generation is the same
  Digest place;        // its number, address, size, kind and limits
  Digest contents;     // its bytes, and which of them count as written
  bool fresh = false;  // no byte counts as written
};
using MemoryState = std::vector<Piece>;  // by address

class MemoryDigests {
 public:
  // Call after these bytes may have changed, or any bytes.
  void wrote(const memory::Box& box);
  void wrote();
  // Call after these allocations have got contents with these digests.
  void became(std::span<const Piece> pieces);
  // The number of bytes that the next call of now() reads.
  std::uint64_t unread_bytes(const memory::DeviceMemory& memory);
  // The present state. Returns nullptr if a digest cannot cover it: other processes share the
  // memory, or bytes are partly written (memory/partly_written.h). The host's threads must not
  // write meanwhile. The state is valid until the next call of a member.
  const MemoryState* now(memory::DeviceMemory& memory);

 private:
  void follow(const memory::DeviceMemory& memory);
  std::unordered_map<std::uint64_t, Piece> known_;  // by the allocation's number
  std::vector<const memory::Allocation*> live_;     // by address
  std::uint64_t generation_ = ~std::uint64_t{0};
  bool shared_ = false;  // with other processes
  MemoryState state_;
};

}  // namespace lockstep::runtime
