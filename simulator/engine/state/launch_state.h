// What all host threads of a launch share.
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

// Where warps look while all stand still (livelock.h): what they wait for.
struct Looks {
  struct Look {
    std::tuple<std::uint64_t, std::uint32_t, std::uint32_t, std::uint32_t>
        order;               // position, rank, warp, pc
    check::Finding finding;  // the finding to be
  };
  std::uint64_t watch = 0;     // the watch that it belongs to: Launch::watch
  bool at_host = false;        // some look at memory that the host sees
  bool at_registered = false;  // registered memory is among it, which other processes may share
  bool strongly_elsewhere =
      false;  // a strong read of other memory, or a lock among the threads of the grid
  std::optional<Look> strong,
      weak;  // at memory that the host sees, the first of each in the schedule
};

// What becomes of programmatic dependent launches (sync/dependent_grids.h).
struct DependentGrids {
  struct Wait {
    check::AccessRecord record;  // who: block, warp and when
    LaneMask lanes = 0;
  };
  std::atomic<bool> started{false}, waited{false},
      waited_before_start{false};  // Outcome says what they mean
  std::mutex mutex;
  std::vector<Wait> waits;  // griddepcontrol.wait, when there is a grid to wait for
};

// Everything the launch shares between workers.
struct Launch {
  const Program* program = nullptr;
  const Function* kernel = nullptr;
  const LaunchConfig* config = nullptr;
  memory::DeviceMemory* memory = nullptr;
  const memory::Allocation* parameter_memory = nullptr;
  const memory::Allocation* grid_workspace =
      nullptr;                        // of a cooperative launch: the grid's barrier counts here
  std::vector<std::byte> parameters;  // padded
  std::uint32_t threads = 0, warps = 0;
  std::uint32_t shared_extent = 0;  // end of the last shared variable
  std::vector<Range> shared;        // static and dynamic, by offset
  std::uint32_t local_stride = 0;   // bytes a thread
  std::uint64_t blocks = 0, clusters = 0;
  std::uint64_t units = 0;              // blocks or clusters that run: all, or a sample of them
  check::GlobalRaces* races = nullptr;  // none without this check
  RaceHistory* history = nullptr;       // the same
  std::uint32_t first_block = 0;        // numbers of blocks in the search begin here
  bool between_blocks = false;          // other blocks' accesses may be met
  ConcurrentMemory concurrent_memory;
  bool shared_cells =
      false;               // races in shared memory are searched for across the blocks of a cluster
  bool clustered = false;  // a cluster is what is scheduled, be it of one block
  std::uint64_t shared_window = 0, local_window = 0;
  bool check_bounds = true, check_initialisation = true, check_races = true,
       check_synchronisation = true;
  bool search_shared = true;  // for races in shared memory: not where there are proved to be none
  std::shared_ptr<const proof::Certificate> certificate;  // none: nothing is proved
  bool strict_barriers = false, strict_libraries = false, strict_writes = false;
  bool strict_proxies = false;
  std::mutex mutex;  // findings, output, launches
  check::UniqueFindings findings;
  std::vector<HeapAllocation> heap;
  std::vector<DeviceLaunch> launches;       // as they were made
  DeviceOrder device_order;                 // of these
  std::atomic<bool> informed_host{false};   // Outcome says what it means
  std::atomic<bool> knows_host{false};      // a flag may have informed it of the host's accesses
  std::shared_ptr<check::Hearing> hearing;  // nullptr: the host has waited for nothing
  std::vector<UnwrittenStore> unwritten_stores;
  std::map<std::uint32_t, std::uint32_t> unwritten_sites;  // by pc: how many of these are its
  std::atomic<std::uint64_t> stop{~0ull};                  // position of the first failing block
  std::atomic<bool> abandoned{
      false};  // a cooperative grid has failed: its blocks would wait for one another for ever
  // The block or cluster to begin next. Host threads change it all the time: on a cache line of its
  // own, apart from what they only read.
  struct alignas(64) Next {
    std::atomic<std::uint64_t> position{0};
  };
  Next next;
  // Host threads return after the round that they are in (run/worker.h), and why.
  enum class Pause : std::uint8_t { kNone, kSliced, kStill };
  std::atomic<Pause> pause{Pause::kNone};
  QuiescenceBoard<std::atomic> quiescence{0};  // of the host threads: livelock.h
  std::atomic<std::uint64_t> watch{0};  // not 0: all stand still, and global accesses are noted in
                                        // `looks`; another number every time
  Looks looks;                          // under `mutex`
  DependentGrids dependent_grids;
  const std::chrono::steady_clock::time_point begun = std::chrono::steady_clock::now();
  std::atomic<std::int64_t> next_notice{kFirstNotice};
  // Machine code of the kernel; none: all is interpreted. Warps that are under way go on in it.
  std::atomic<const translate::Translation*> translation{nullptr};
  // A host thread that has executed so many instructions of warps in this launch calls `translate`
  // with their number, which may set it (run/translated.h).
  std::atomic<std::uint64_t> translate_after{~0ull};
  std::function<void(std::uint64_t instructions)> translate;
  static constexpr std::int64_t kFirstNotice = 60;  // seconds after which LaunchConfig::notice is
                                                    // called; then after twice as long ...
};

}  // namespace lockstep::engine
