// The state of a running block: its warps, its barriers and its memories.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <unordered_map>
#include <vector>

#include "simulator/check/finding.h"
#include "simulator/check/global_races.h"
#include "simulator/check/shared_races.h"
#include "simulator/engine/state/async_state.h"
#include "simulator/engine/state/tensor_memory.h"
#include "simulator/engine/state/warp.h"
#include "simulator/engine/state/warp_state.h"
#include "simulator/engine/state/warpgroup_state.h"
#include "simulator/engine/state/watched.h"
#include "simulator/memory/partly_written.h"

namespace lockstep::engine {

using check::Dim3;

struct Cluster;  // cluster.h
struct Launch;   // launch_state.h
struct Worker;   // worker.h

struct Barrier {
  std::uint32_t expected = 0;  // threads; 0: all warps that have not exited
  std::uint32_t arrived = 0;   // threads, in whole warps
  std::uint32_t warps = 0;     // mask of warps that have arrived, waiting or not
  std::uint32_t waiting = 0;   // mask of warps that wait
  std::uint32_t pc = 0;        // of the operation of the first arrival
  LaneMask red_or = 0;         // bar.red: lanes OR-ed; not 0 if any predicate was true
  bool red_and = true;
  std::uint32_t red_count = 0;
};

// A memory of the block with its written-shadow: one bit for each byte.
struct Arena {
  AlignedBytes bytes, written;
  std::size_t size = 0;
  memory::PartlyWritten partly_written;  // for bytes that count as unwritten; a place is an offset
  void reserve(std::size_t n);
};

struct Block {
  Worker* worker = nullptr;
  Launch* launch = nullptr;
  const Program* program = nullptr;
  std::uint64_t position = 0;  // in the schedule; the same for all blocks of a cluster
  std::uint64_t index = 0;     // linear block index
  std::map<std::uint32_t, std::uint32_t> last_errors;  // by thread: cudaGetLastError in a kernel
  std::uint32_t serial = 0;  // in the schedule; consecutive for the blocks of a cluster
  Dim3 ctaid;
  UniformValues uniform;
  Cluster* cluster = nullptr;  // state/cluster.h; nullptr if Launch::clustered is false
  std::uint32_t cluster_rank = 0;
  std::vector<Warp> warps;
  std::vector<WarpControl> controls;
  AlignedBytes register_files;
  std::size_t file_bytes = 0;
  Arena shared, local;
  check::SharedRaces races;
  std::unique_ptr<WarpgroupState> warpgroups;  // for wgmma; nullptr until the first
  std::unique_ptr<TensorMemory> tensor;        // nullptr until the first allocation
  std::unique_ptr<AsyncState>
      async;  // of asynchronous copies and mbarrier objects; nullptr until the first
  // Origins of uninitialised or derived values in shared and local memory, by host address / 4.
  // `pc`: the operation that read the uninitialised value (monitor/uninitialised.h). `address`: the
  // generic address that it read; 0: unknown.
  struct UnwrittenFrom {
    std::uint32_t pc = 0;
    std::uint64_t address = 0;
    std::uint32_t first_pc = Validity::kNoLoad;  // as in Validity::Load
    bool computed = true;
  };
  std::unordered_map<std::uintptr_t, UnwrittenFrom> unwritten_from;
  std::uint32_t first_record = 0;  // records of global memory below this number are of other blocks
  std::vector<check::GlobalCell> cells;  // of shared memory, if Launch::shared_cells
  // What the arrivals at the open phase of the cluster's barrier release: to other blocks, and to
  // their own block only.
  check::Knowledge cluster_arrivals, block_arrivals;
  std::vector<std::shared_ptr<const check::Knowledge>>
      cluster_released;  // what the arrivals of the last phase released
  Watched<Barrier> barriers[16];
  std::uint32_t arrived_at = 0;    // mask of barriers at which a warp has arrived
  std::uint32_t live_warps = 0;    // warps with a thread that has not exited
  std::uint32_t runnable = 0;      // mask of warps that may run
  std::uint64_t instructions = 0;  // warp instructions so far
  std::uint32_t next_warp = 0;
  bool aborted = false;
  bool some_exited = false;         // some thread has ended
  bool started_dependents = false;  // some thread has executed griddepcontrol.launch_dependents
  bool should_yield = false;        // ends the block's turn: see passed_barrier and strong_access
  bool waits = false;  // it could not run when its turn ended, and has changed nothing since
};

// The state of a block's asynchronous operations. Creates it if necessary.
inline AsyncState& async_of(Block& b) {
  if (!b.async) b.async = std::make_unique<AsyncState>();
  return *b.async;
}

inline TensorMemory& tensor_of(Block& b) {
  if (!b.tensor) b.tensor = std::make_unique<TensorMemory>();
  return *b.tensor;
}

// Whether lanes of the block wait at an mbarrier.
inline bool waits_for_mbarrier(const Block& b) {
  for (const WarpControl& c : b.controls) {
    for (const WarpSplit& f : c.splits) {
      if (f.state == WarpSplit::State::kAtMbarrier) return true;
    }
  }
  return false;
}

}  // namespace lockstep::engine
