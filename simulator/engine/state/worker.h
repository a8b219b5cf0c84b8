// One host thread's part of a launch.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "simulator/check/finding.h"
#include "simulator/check/global_races.h"
#include "simulator/engine/launch/coverage.h"
#include "simulator/engine/state/launch_state.h"
#include "simulator/engine/state/watched.h"
#include "simulator/memory/device_memory.h"

namespace lockstep::engine {

// Last-hit cache of global allocations, a slot chosen by the instruction.
struct CachedRange {
  std::uint64_t begin = 1, size = 0;  // kernels may touch [begin, begin + size)
  std::int64_t delta = 0;
  bool writable = false;
  bool shadowed = false;
  bool raced = false;  // accesses are recorded for the search for races
};
inline constexpr int kCacheSlots = 16;

// A kind of finding that a host thread has reported for a place, and how often it has met it since.
struct ReportedSite {
  // kOrigin: of the values that come from there. kKnown and kKnownOrigin: information, since it is
  // known in a library (check/library_findings.h).
  enum class As : std::uint8_t { kError, kInformation, kOrigin, kKnown, kKnownOrigin };
  std::uint32_t pc = 0;
  check::Kind kind = check::Kind::kRace;
  As as = As::kError;
  std::uint64_t again = 0;
};

struct Worker {
  Launch* launch = nullptr;
  memory::DeviceMemory* memory = nullptr;
  std::uint64_t generation = ~0ull;
  CachedRange cache[kCacheSlots];
  Counters counters;
  ChangeCount changes;      // of whatever may let a thread that waits go on: monitor/progress.h
  std::uint64_t watch = 0;  // Launch::watch, as far as this thread knows
  bool counting = false;
  Coverage::Part* coverage = nullptr;  // LaunchConfig::coverage: this thread's part
  check::GlobalRaces* races = nullptr;
  check::GlobalRaces::Memo race_memo;
  bool between_blocks = false;         // races are searched for, and there are other blocks
  std::vector<ReportedSite> reported;  // what need not be reported again: monitor/reports.h
};

}  // namespace lockstep::engine
