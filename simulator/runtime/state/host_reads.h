// Reports copies of uninitialised device memory to the host.
//
// A copy to the host of never-written bytes is information, once for each allocation: programs copy
// whole buffers of which they use a part, and structures with padding. A kernel that stores an
// uninitialised value means it as a result. If the host copies such bytes, it is an error at the
// place of the store. A store counts only if all bytes of one thread's access are uninitialised,
// and if the access is wider than one byte: compilers copy padding byte by byte, and a structure
// may be copied with its padding.
//
// Reads without a copy (managed and pinned memory) cannot be detected.
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
  // Stores the unwritten stores of a launch.
  void remember(std::vector<engine::UnwrittenStore> stores, const memory::DeviceMemory& memory);

  // Checks a copy to the host of `rows` rows of `width` bytes, `pitch` apart, of one live
  // allocation.
  std::optional<check::Finding> check(const memory::DeviceMemory& memory, const char* function,
                                      memory::Address begin, std::uint64_t width,
                                      std::uint64_t rows, std::uint64_t pitch);

 private:
  // If there are more, the stores at the lowest addresses are forgotten. A mistake is then reported
  // as information.
  static constexpr std::size_t kMax = 65536;
  struct Store {
    engine::UnwrittenStore store;
    std::uint64_t allocation = 0;  // id; addresses may be reused
  };
  // Of never-written bytes: those that a kernel stored as such.
  struct Stored {
    const Store* store = nullptr;  // for the first of them
    memory::Address first = 0;
    std::uint64_t bytes = 0;
  };
  void add_stored(memory::Address begin, memory::Address end, std::uint64_t allocation,
                  Stored& stored) const;

  std::map<memory::Address, Store> stores_;  // by their first byte
  std::set<std::uint64_t> informed_;         // allocations by id
};

}  // namespace lockstep::runtime
