// The state of the search for races that is kept from launch to launch, for one device memory.
#pragma once

#include <deque>

#include "simulator/check/global_races.h"
#include "simulator/engine/launch/history.h"
#include "simulator/engine/state/placement.h"
#include "simulator/program/program.h"

namespace lockstep::engine {

// An earlier launch whose accesses may still conflict with later ones.
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
  bool reported_missed = false;     // that launches were forgotten; reported once only

  // The launch of the block; nullptr if it has been forgotten.
  const PastLaunch* find(std::uint32_t block) const;
  // Call when the program's module is unloaded.
  void forget(const program::Program& program);

  // The history of the memory, created at the first call. Several launches may be under way on one
  // memory, but only one runs at a time.
  static RaceHistory& of(memory::DeviceMemory& memory);
};

}  // namespace lockstep::engine
