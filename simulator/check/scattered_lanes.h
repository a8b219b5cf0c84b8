// The search for races in global memory, for the lanes of a warp that access words anywhere: what
// most of them find in a cell needs no question about the order of threads.
#pragma once

#include <bit>
#include <cstdint>

#include "simulator/check/global_races.h"
#include "simulator/memory/device_memory.h"

namespace lockstep::check {

// Where lanes go: lane i to `size` bytes (4 or 8, aligned) at address[i] + offset.
struct ScatteredLanes {
  const std::uint64_t* address = nullptr;
  std::uint64_t offset = 0;
  std::uint32_t size = 0;
  std::uint32_t lanes = 0;
  // Records below this number are of other blocks of the launch, but for copies of records that
  // other host threads have made (AccessRecords::with_second). No link leads to a copy.
  std::uint32_t first_of_block = 0;
};

// What a cell holds or has held: without its lock, while other host threads may write it. By
// assembly, since for C++ that would be a data race; the value may serve as a hint alone.
inline GlobalCell glimpse(const GlobalCell& cell) {
  static_assert(sizeof cell == sizeof(std::uint64_t));
  std::uint64_t bits = 0;
#if defined(__x86_64__)
  asm("movq %1, %0" : "=r"(bits) : "m"(cell));
#endif
  return std::bit_cast<GlobalCell>(bits);
}

// Records weak reads, or atomics (Side::updates) that hand on no message, as GlobalRaces::access
// would, lane after lane. Returns the lanes that race with nobody and are recorded now. What the
// others do is for access() to judge; a part of it may have been recorded already.
std::uint32_t record_scattered(GlobalRaces& races, memory::DeviceMemory& memory,
                               const ScatteredLanes& where, GlobalRaces::Access& me);

}  // namespace lockstep::check
