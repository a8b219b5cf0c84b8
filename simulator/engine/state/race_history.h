// What the search for races keeps from launch to launch, of one device memory.
#pragma once

#include <deque>

#include "simulator/check/global_races.h"
#include "simulator/engine/launch/history.h"
#include "simulator/engine/state/placement.h"
#include "simulator/program/program.h"

namespace lockstep::engine {

// A launch whose accesses may still be met.
struct PastLaunch {
  std::uint32_t first_block = 0;
  const program::Program* program = nullptr;  // nullptr: its module was unloaded
  std::size_t function = 0;                   // of the program's functions
  GridShape shape;
  Dim3 block_size;
  StreamName stream;
};

struct RaceHistory {
  check::GlobalRaces races;
  std::deque<PastLaunch> launches;  // by first block
  bool reported_missed = false;     // that launches were forgotten: once is enough

  // The launch that has the block; nullptr: it has been forgotten.
  const PastLaunch* find(std::uint32_t block) const;
  // The module of the program is unloaded.
  void forget(const program::Program& program);

  // Of the memory; made when first asked for. Several launches may be under way on
  // one memory; one runs at a time.
  static RaceHistory& of(memory::DeviceMemory& memory);
};

}  // namespace lockstep::engine
