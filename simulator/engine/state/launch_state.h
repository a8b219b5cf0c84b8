// The state that all host threads of a launch share.
#pragma once

#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <tuple>
#include <utility>
#include <vector>

#include "simulator/check/finding.h"
#include "simulator/check/global_races.h"
#include "simulator/check/unique_findings.h"
#include "simulator/engine/launch/launch.h"
#include "simulator/engine/state/concurrent_memory.h"
#include "simulator/engine/state/deferred_stores.h"
#include "simulator/engine/state/device_order.h"
#include "simulator/engine/state/quiescence.h"
#include "simulator/engine/state/warp_state.h"
#include "simulator/memory/device_memory.h"

namespace lockstep::proof {
struct Certificate;  // simulator/proof/prove.h
}
namespace lockstep::translate {
class Translation;  // simulator/translate/translation.h
}

namespace lockstep::engine {

struct RaceHistory;  // race_history.h

// What warps poll while nothing in the launch changes (livelock.h).
struct Looks {
  struct Look {
    std::tuple<std::uint64_t, std::uint32_t, std::uint32_t, std::uint32_t>
        order;               // position, rank, warp, pc
    check::Finding finding;  // the finding to report
  };
  std::uint64_t watch = 0;     // the value of Launch::watch when they were recorded
  bool at_host = false;        // some warps poll memory that the host sees
  bool at_registered = false;  // some of it is registered memory, which other processes may share
  bool strongly_elsewhere =
      false;  // a strong read of other memory, or a lock among the threads of the grid
  std::optional<Look> strong,
      weak;  // polls of memory that the host sees: the first of each kind in the schedule
};

// The state of programmatic dependent launch (sync/dependent_grids.h).
struct DependentGrids {
  struct Wait {
    check::AccessRecord record;  // the waiting block and warp, and the time
    LaneMask lanes = 0;
  };
  std::atomic<bool> started{false}, waited{false},
      waited_before_start{false};  // Outcome describes these three
  std::mutex mutex;
  std::vector<Wait> waits;  // griddepcontrol.wait, if there is a grid to wait for
};

// Everything the launch shares between workers.
struct Launch {
  const Program* program = nullptr;
  const Function* kernel = nullptr;
  const LaunchConfig* config = nullptr;
  memory::DeviceMemory* memory = nullptr;
  const memory::Allocation* parameter_memory = nullptr;
  const memory::Allocation* grid_workspace =
      nullptr;                        // of a cooperative launch: holds the grid's barrier
  std::vector<std::byte> parameters;  // padded
  std::uint32_t threads = 0, warps = 0;
  std::uint32_t shared_extent = 0;  // end of the last shared variable
  std::vector<Range> shared;        // static and dynamic, by offset
  std::uint32_t local_stride = 0;   // bytes a thread
  std::uint64_t blocks = 0, clusters = 0;
  std::uint64_t units = 0;              // blocks or clusters that run: all, or a sample
  check::GlobalRaces* races = nullptr;  // nullptr without the check for races
  RaceHistory* history = nullptr;       // nullptr without the check for races
  std::uint32_t first_block = 0;        // the first block number in the search for races
  bool between_blocks = false;          // accesses of other blocks may conflict
  ConcurrentMemory concurrent_memory;
  bool shared_cells =
      false;               // races in shared memory are searched for across the blocks of a cluster
  bool clustered = false;  // clusters are scheduled, even if they have one block
  std::uint64_t shared_window = 0, local_window = 0;
  bool check_bounds = true, check_initialisation = true, check_races = true,
       check_synchronisation = true;
  bool search_shared =
      true;  // search for races in shared memory; false if there are proved to be none
  // Of a launch with which nothing is unordered: the allocations, by base, where its threads may
  // race. They race nowhere else in memory of the device. nullopt: they may anywhere.
  std::optional<std::vector<std::uint64_t>> contested;
  bool search_global = true;  // search for races in all global memory; false: only in `contested`
                              // and in memory that others see
  std::unique_ptr<DeferredStores> deferred;               // of contested allocations; nullptr: none
  std::shared_ptr<const proof::Certificate> certificate;  // nullptr: nothing is proved
  bool strict_barriers = false, strict_libraries = false, strict_writes = false;
  bool strict_proxies = false;
  std::mutex mutex;  // findings, output, launches
  check::UniqueFindings findings;
  std::vector<HeapAllocation> heap;
  std::vector<DeviceLaunch> launches;         // as they were made
  DeviceOrder device_order;                   // the order of `launches`
  std::atomic<bool> informed_host{false};     // see Outcome
  std::atomic<bool> informed_by_host{false};  // a flag may have informed it of the host's accesses
  std::atomic<bool> polls{false};             // a warp has made many strong reads or atomics
  std::atomic<bool> reads_host_flags{false};  // since then it has read memory that the host sees
  std::shared_ptr<check::Hearing> hearing;    // nullptr: the host has waited for nothing
  std::vector<UnwrittenStore> unwritten_stores;
  std::map<std::uint32_t, std::uint32_t>
      unwritten_sites;                     // by pc: the number of its entries in `unwritten_stores`
  std::atomic<std::uint64_t> stop{~0ull};  // position of the first failing block
  std::atomic<bool> abandoned{
      false};  // a cooperative grid has failed: its blocks would wait for each other forever
  // The next block or cluster to start. It has a cache line of its own, because host threads change
  // it often and only read the members around it.
  struct alignas(64) Next {
    std::atomic<std::uint64_t> position{0};
  };
  Next next;
  // Set when host threads must return after their present round (run/worker.h), and why.
  enum class Pause : std::uint8_t { kNone, kSliced, kStill };
  std::atomic<Pause> pause{Pause::kNone};
  QuiescenceBoard<std::atomic> quiescence{0};  // of the host threads: livelock.h
  std::atomic<std::uint64_t> watch{0};  // not 0: nothing changes any more, and global accesses are
                                        // recorded in `looks`; a new number each time
  Looks looks;                          // protected by `mutex`
  DependentGrids dependent_grids;
  const std::chrono::steady_clock::time_point begun = std::chrono::steady_clock::now();
  std::atomic<std::int64_t> next_notice{kFirstNotice};
  // Machine code of the kernel; nullptr: everything is interpreted. It is set once, and warps that
  // run already continue in it.
  std::atomic<const translate::Translation*> translation{nullptr};
  // A host thread calls `translate` when it has executed so many warp instructions in this launch,
  // with their number. `translate` may set `translation` (run/translated.h).
  std::atomic<std::uint64_t> translate_after{~0ull};
  std::function<void(std::uint64_t instructions)> translate;
  static constexpr std::int64_t kFirstNotice =
      60;  // seconds until LaunchConfig::notice is first called; then the interval doubles
};

}  // namespace lockstep::engine
