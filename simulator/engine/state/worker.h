// The state of one host thread of a launch.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "simulator/check/finding.h"
#include "simulator/check/global_races.h"
#include "simulator/engine/launch/coverage.h"
#include "simulator/engine/launch/time_profile.h"
#include "simulator/engine/state/launch_state.h"
#include "simulator/engine/state/watched.h"
#include "simulator/memory/device_memory.h"

namespace lockstep::engine {

// A cache of the last global allocation used; the instruction selects the slot.
struct CachedRange {
  std::uint64_t begin = 1, size = 0;  // kernels may touch [begin, begin + size)
  std::int64_t delta = 0;
  bool writable = false;
  bool shadowed = false;     // the written-shadow is looked at, and marked
  bool all_written = false;  // it would be, but every byte is written
  bool deferred = false;     // `raced`, of an allocation in Launch::deferred
  bool raced = false;        // accesses are recorded for the search for races
  // Of weak loads: if they end before so many bytes from `begin`, nothing is left to check, record
  // or count but alignment. At most 2^31; 0 if `begin` is not a multiple of 16.
  std::uint32_t silent = 0;
};
inline constexpr int kCacheSlots = 32;
inline constexpr std::uint64_t kRowSearch = 4;  // Worker::search_work

// A kind of finding that a host thread has reported for a place, and the number of its repetitions.
struct ReportedSite {
  // kOrigin: the finding is about values that come from the place. kKnown and kKnownOrigin:
  // information, because a library is known for it (check/library_findings.h).
  enum class As : std::uint8_t { kError, kInformation, kOrigin, kKnown, kKnownOrigin };
  std::uint32_t pc = 0;
  check::Kind kind = check::Kind::kRace;
  As as = As::kError;
  std::uint64_t again = 0;
};

// The present activity of a host thread, for LaunchConfig::time_profile. Another thread reads it.
struct Activity {
  std::atomic<std::uint32_t> pc = 0;
  std::atomic<Doing> what = Doing::kNothing;

  Activity() = default;
  Activity(Activity&& other) noexcept : pc(other.pc.load()), what(other.what.load()) {}
  void begin(Doing doing) { what.store(doing, std::memory_order_relaxed); }
};

// Aligned, so that no two host threads write to one cache line.
struct alignas(64) Worker {
  Launch* launch = nullptr;
  memory::DeviceMemory* memory = nullptr;
  std::uint64_t generation = ~0ull;
  CachedRange cache[kCacheSlots];
  Counters counters;
  ChangeCount
      changes;  // counts all changes that may let a waiting thread continue: monitor/progress.h
  std::uint64_t watch = 0;  // the last value of Launch::watch that this thread has seen
  bool counting = false;
  Activity activity;
  Coverage::Part* coverage = nullptr;  // LaunchConfig::coverage: this thread's part
  check::GlobalRaces* races = nullptr;
  check::GlobalRaces::Memo race_memo;
  DeferredStores::List* deferred = nullptr;  // this thread's, if Launch::deferred is not nullptr
  bool between_blocks = false;               // races are searched for, and there are other blocks
  // The slice that Running::advance() runs: the number of warp instructions at which it may end,
  // and the changes when it began.
  struct Slice {
    std::uint64_t end = ~std::uint64_t{0}, changes = 0;
  };
  Slice slice;
  // What the search for races in global memory has done, in instructions of a warp that would take
  // as long: kRowSearch for lanes that it looks at together, one for a lane by itself.
  std::uint64_t search_work = 0;
  std::vector<ReportedSite>
      reported;  // findings that need not be reported again: monitor/reports.h
};

// Whether the slice ends here. While nothing changes it does not: the threads may repeat themselves
// for ever, which run/livelock.h notices in time.
inline bool is_slice_over(const Worker& w) {
  return w.counters.warp_instructions >= w.slice.end && w.changes.value() != w.slice.changes;
}

// Sets the host thread's activity for the lifetime of the object, then restores it.
class DoingFor {
 public:
  DoingFor(Worker& worker, Doing doing)
      : activity_(worker.activity), before_(activity_.what.load(std::memory_order_relaxed)) {
    activity_.begin(doing);
  }
  ~DoingFor() { activity_.begin(before_); }
  DoingFor(const DoingFor&) = delete;
  DoingFor& operator=(const DoingFor&) = delete;

 private:
  Activity& activity_;
  const Doing before_;
};

}  // namespace lockstep::engine
