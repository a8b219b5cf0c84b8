// What the host reads of device memory that nobody has written.
//
// A copy to the host of bytes that nobody ever wrote is information, once an allocation: programs
// copy whole buffers and use a part of them, and structures with their padding. A kernel that
// stores a value nobody wrote means it as a result: when the host copies such bytes, that is an
// error, and the store is its place. A store counts only when all bytes of one thread's access were
// never written and it is no access of single bytes, which is how compilers move padding: a
// structure may be copied, padding and all.
//
// Reads that are not copies (managed and pinned memory) cannot be seen.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "simulator/engine/launch/launch.h"
#include "simulator/memory/device_memory.h"

namespace lockstep::runtime {

class HostReads {
 public:
  // What a launch left behind.
  void remember(std::vector<engine::UnwrittenStore> stores, const memory::DeviceMemory& memory);

  // A copy to the host of `rows` rows of `width` bytes, `pitch` apart, of one live allocation.
  std::optional<check::Finding> check(const memory::DeviceMemory& memory, const char* function,
                                      memory::Address begin, std::uint64_t width,
                                      std::uint64_t rows, std::uint64_t pitch);

 private:
  // Beyond this, the stores at the lowest addresses are forgotten. A mistake is then reported as
  // information.
  static constexpr std::size_t kMax = 65536;
  struct Store {
    engine::UnwrittenStore store;
    std::uint64_t allocation = 0;  // id: addresses may be used again
  };
  // Of bytes that nobody has written, those that a kernel stored so.
  struct Stored {
    const Store* store = nullptr;  // of the first of them
    memory::Address first = 0;
    std::uint64_t bytes = 0;
  };
  void add_stored(memory::Address begin, memory::Address end, std::uint64_t allocation,
                  Stored& stored) const;

  std::map<memory::Address, Store> stores_;  // by their first byte
  std::set<std::uint64_t> informed_;         // allocations by id
};

}  // namespace lockstep::runtime
