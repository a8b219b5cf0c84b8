// The state of a running block: its warps, their fragments, its barriers and its memories.
//
// A warp is a set of fragments. A fragment is a set of lanes at one program counter in one call frame. The one with the lowest
// program counter in the deepest frame runs; fragments that meet at the same place in the same frame merge; a branch that
// divides its lanes makes two of one.
#pragma once

#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <tuple>
#include <vector>

#include "simulator/check/finding.h"
#include "simulator/check/global_races.h"
#include "simulator/check/shared_races.h"
#include "simulator/engine/async_state.h"
#include "simulator/engine/instruction.h"
#include "simulator/engine/launch.h"
#include "simulator/engine/program.h"
#include "simulator/engine/quiescence.h"
#include "simulator/engine/warp.h"
#include "simulator/memory/device_memory.h"

namespace lockstep::engine {

struct Cluster;
struct Worker;

// Validity of the registers of a frame, by slot: one word of lanes each. Made only when an invalid value appears.
struct Validity {
  struct Word {
    LaneMask invalid = 0;   // lanes whose value was never written
    LaneMask derived = 0;   // of these, lanes whose value was computed from one that was never written
    std::uint32_t pc = 0;   // where it came from
    check::Kind kind = check::Kind::kUninitialised;
    std::uint8_t bytes[kWarpSize];  // of an invalid lane, which bytes of its value are meant, a bit each
  };
  std::vector<Word> words;  // index: slot / 4
};

struct Frame {
  std::byte* bank = nullptr;
  std::uint32_t function = 0;
  std::int32_t caller = -1;       // frame index
  std::uint32_t return_pc = 0;
  std::uint32_t call = 0;         // index into Program::calls
  LaneMask live = 0;              // lanes that have not returned or exited; 0: free for reuse
  std::uint32_t depth = 0;
  std::uint32_t local_base = 0;   // offset of the frame in local memory
  AlignedBytes storage;           // the bank of a frame below the kernel's
  std::size_t storage_bytes = 0;
  std::unique_ptr<Validity> validity;
};

struct Fragment {
  enum class State : std::uint8_t { kRunnable, kAtSync, kAtBarrier, kAtCluster, kAtMbarrier };
  std::uint32_t pc = 0;        // parked: of the operation it waits at
  LaneMask mask = 0;
  std::int32_t frame = 0;
  State state = State::kRunnable;
  bool had_turn = false;       // since the last quota: the others first
};

struct WarpControl {
  std::vector<Fragment> fragments;  // all but the running one
  std::vector<Frame> frames;        // [0] is the kernel's
  std::int32_t first_free = 1;      // all frames before it are in use
  std::int32_t frame = 0;           // of the running fragment
  LaneMask exited = 0;
  bool tracking = false;            // some register may hold an invalid value
  bool budgeted = false;            // the running fragment has only a short turn
  bool gives_way = false;           // the block's other warps first: see strong_access
  std::int32_t barrier = -1;        // the whole warp has arrived here and waits
  LaneMask arrived[16] = {};        // lanes that executed barrier.arrive, until the whole warp has
  LaneMask cluster_arrived = 0;     // lanes that have arrived at the open phase of the cluster's barrier
  LaneMask cluster_passed = 0;      // lanes whose phase is complete but that have not waited for it yet
  LaneMask timed_out = 0;           // lanes for which mbarrier.try_wait shall answer false instead of waiting on
  std::uint32_t stack_pointer[kWarpSize] = {};  // alloca
  std::uint64_t instructions = 0;   // of this warp: its clock
  // What a turn's end was like before, while nothing has changed (standstill.h).
  struct Turns {
    std::uint64_t changes = 0, epoch = 0;     // the worker's changes, and the epoch of Launch::quiescence, until now
    std::uint64_t count = 0;                  // turns since the last change
    std::uint64_t state = 0;                  // a digest of registers and places after one of them
    LaneMask ran = 0;                         // lanes that have run since
    bool repeats = false;                     // it has been met again
    bool idles = false;                       // it was met again although other host threads told of changes: nothing proved, but probably it waits
  };
  Turns turns;
  std::uint64_t slept = 0;          // nanoseconds asked of nanosleep
};

struct Barrier {
  std::uint32_t expected = 0;       // threads; 0: all warps that have not exited
  std::uint32_t arrived = 0;        // threads, in whole warps
  std::uint32_t warps = 0;          // mask of warps that have arrived, waiting or not
  std::uint32_t waiting = 0;        // mask of warps that wait
  std::uint32_t pc = 0;             // of the first arrival
  LaneMask red_or = 0;              // bar.red: lanes OR-ed; not 0 if any predicate was true
  bool red_and = true;
  std::uint32_t red_count = 0;
};

// A memory of the block with its written-shadow: one bit a byte.
struct Arena {
  AlignedBytes bytes, written;
  std::size_t size = 0;
  void reserve(std::size_t n);
};

// Where warps look while all stand still (standstill.h): what they wait for.
struct Looks {
  struct Look {
    std::tuple<std::uint64_t, std::uint32_t, std::uint32_t, std::uint32_t> order;  // position, rank, warp, pc
    check::Finding finding;  // the finding to be
  };
  std::uint64_t watch = 0;           // of which watch: Launch::watch
  bool at_host = false;              // some look at memory that the host sees
  bool at_registered = false;        // registered memory is among it, which other processes may share
  bool strongly_elsewhere = false;   // a strong read of other memory, or a lock among the threads of the grid
  std::optional<Look> strong, weak;  // at memory that the host sees, the first of each in the schedule
};

// Everything the launch shares between workers.
struct Launch {
  const Program* program = nullptr;
  const Function* kernel = nullptr;
  const LaunchConfig* config = nullptr;
  memory::DeviceMemory* memory = nullptr;
  const memory::Allocation* parameter_memory = nullptr;
  const memory::Allocation* grid_workspace = nullptr;   // of a cooperative launch: the grid's barrier counts here
  std::vector<std::byte> parameters;   // padded
  std::uint32_t threads = 0, warps = 0;
  std::uint32_t shared_extent = 0;     // end of the last shared variable
  std::vector<Range> shared;           // static and dynamic, by offset
  std::uint32_t local_stride = 0;      // bytes a thread
  std::uint64_t blocks = 0, clusters = 0;
  check::GlobalRaces* races = nullptr; // of the launch; none without this check
  bool shared_cells = false;           // races in shared memory are searched for across the blocks of a cluster
  bool clustered = false;              // a cluster is what is scheduled, be it of one block
  std::uint64_t shared_window = 0, local_window = 0;
  bool check_bounds = true, check_initialisation = true, check_races = true, check_synchronisation = true;
  std::mutex mutex;                    // findings, output
  std::vector<std::pair<std::uint64_t, check::Finding>> findings;  // with the position of the block in the schedule
  std::vector<HeapAllocation> heap;
  std::vector<UnwrittenStore> unwritten_stores;
  std::map<std::uint32_t, std::uint32_t> unwritten_sites;  // by pc: how many of these are its
  std::atomic<std::uint64_t> stop{~0ull};   // position of the first failing block
  std::atomic<bool> abandoned{false};       // a cooperative grid has failed: its blocks would wait for one another for ever
  std::atomic<std::uint64_t> next{0};
  QuiescenceBoard<std::atomic> quiescence{0};  // of the host threads: standstill.h
  std::atomic<std::uint64_t> watch{0};         // not 0: all stand still, and global accesses are noted in `looks`; another number every time
  Looks looks;                                 // under `mutex`
  const std::chrono::steady_clock::time_point begun = std::chrono::steady_clock::now();
  std::atomic<std::int64_t> next_notice{kFirstNotice};
  static constexpr std::int64_t kFirstNotice = 60;  // seconds after which LaunchConfig::notice is told that the kernel runs; then twice as long ...
};

struct Block {
  Worker* worker = nullptr;
  Launch* launch = nullptr;
  const Program* program = nullptr;
  std::uint64_t position = 0;      // in the schedule; the same for all blocks of a cluster
  std::uint64_t index = 0;         // linear block index
  std::uint32_t serial = 0;        // in the schedule, blocks of a cluster one after another
  Dim3 ctaid;
  Cluster* cluster = nullptr;      // cluster.h; none when Launch::clustered is false
  std::uint32_t cluster_rank = 0;
  bool cluster_release = false;    // some thread has arrived at the open phase of the cluster's barrier with release semantics
  std::vector<Warp> warps;
  std::vector<WarpControl> controls;
  AlignedBytes banks;
  std::size_t bank_bytes = 0;
  Arena shared, local;
  check::SharedRaces races;
  std::unique_ptr<AsyncState> async;   // of asynchronous copies and mbarrier objects; none until the first
  check::BlockKnowledge knowledge; // of other blocks
  std::vector<check::RaceCell> cells;  // of shared memory, when Launch::shared_cells
  Barrier barriers[16];
  std::uint32_t live_warps = 0;    // warps with a thread that has not exited
  std::uint32_t runnable = 0;      // mask of warps that may run
  std::uint64_t instructions = 0;  // warp instructions so far
  std::uint32_t next_warp = 0;
  bool aborted = false;
  bool gives_way = false;          // the others first: see passed_barrier and strong_access
  bool waits = false;              // it stood still when its turn ended, and has changed nothing since
};

// Last-hit cache of global allocations, a slot chosen by the instruction.
struct CachedRange {
  std::uint64_t begin = 1, size = 0;  // kernels may touch [begin, begin + size)
  std::int64_t delta = 0;
  bool writable = false;
  bool shadowed = false;
  bool raced = false;                 // accesses are recorded for the search for races
};
inline constexpr int kCacheSlots = 16;

// A kind of finding that a host thread has told of a place, and how often it has met it since.
struct ToldSite {
  enum class As : std::uint8_t { kError, kInformation, kOrigin };  // kOrigin: of the values that come from there
  std::uint32_t pc = 0;
  check::Kind kind = check::Kind::kRace;
  As as = As::kError;
  std::uint64_t again = 0;
};

// One host thread's part of a launch.
struct Worker {
  Launch* launch = nullptr;
  memory::DeviceMemory* memory = nullptr;
  std::uint64_t generation = ~0ull;
  CachedRange cache[kCacheSlots];
  Counters counters;
  std::uint64_t changes = 0;             // counts whatever may let a thread that waits go on: see standstill.h
  std::uint64_t watch = 0;               // Launch::watch, as far as this thread knows
  bool counting = false;
  check::GlobalRaces* races = nullptr;
  check::GlobalRaces::Memo race_memo;
  bool between_blocks = false;           // races are searched for, and there are other blocks
  std::vector<ToldSite> told;            // what need not be told again: see report.h
};

// scheduler.cc
// `rank`: of the block in its cluster; position counts clusters where there are any.
void start_block(Block& block, Worker& worker, std::uint64_t position, std::uint32_t rank = 0);
enum class Progress : std::uint8_t {
  kDone,
  kYielded,
  kGaveWay,  // it could go on, and others come first
  kWaiting,  // at the cluster's barrier, for other blocks
};
Progress run_block(Block& block);
// A thread has done something by which others may learn of it, or it of others, and the seed may let others come next. To be called last by the operation.
void let_others_come(Warp& w);
inline void strong_access(Warp& w) {
  if (__builtin_expect(w.block->launch->config->schedule_seed != 0, 0)) let_others_come(w);
}
// Splits the running fragment: `lanes` go to `pc`, the others stay.
void split(Warp& w, std::uint32_t pc, LaneMask lanes);
// Parks `lanes` of the running fragment at the operation before w.pc.
void park(Warp& w, LaneMask lanes, Fragment::State state);
void exit_lanes(Warp& w, LaneMask lanes);

// Where the block of `rank` in the unit at `position` of the schedule lies in the grid.
Dim3 place_of_block(const Launch& launch, std::uint64_t position, std::uint32_t rank);

AlignedBytes allocate_aligned(std::size_t bytes);

}  // namespace lockstep::engine
