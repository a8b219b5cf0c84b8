#include "simulator/engine/run/block.h"

#include <bit>
#include <cstring>

#include "simulator/engine/ops/control/control.h"
#include "simulator/engine/state/launch_state.h"
#include "simulator/engine/state/placement.h"
#include "simulator/engine/state/worker.h"

namespace lockstep::engine {

void start_block(Block& b, Worker& worker, std::uint64_t position, std::uint32_t rank) {
  Launch& launch = *worker.launch;
  const LaunchConfig& config = *launch.config;
  b.worker = &worker;
  b.launch = &launch;
  b.program = launch.program;
  b.position = position;
  b.cluster_rank = rank;
  b.ctaid = place_of_block(launch, position, rank);
  b.index = b.ctaid.x +
            std::uint64_t{config.grid.x} * (b.ctaid.y + std::uint64_t{config.grid.y} * b.ctaid.z);
  const Dim3 &c = b.ctaid, &n = config.block, &g = config.grid;
  b.uniform = {launch.parameters.data(),
               {c.x, c.y, c.z},
               {n.x, n.y, n.z},
               {g.x, g.y, g.z},
               &worker.counters.shuffles,
               &worker.counters.votes,
               worker.cache,
               &worker.generation,
               &worker.memory->changes(),
               &worker.memory->changes_of_written()};
  b.last_errors.clear();
  b.serial = launch.first_block +
             static_cast<std::uint32_t>(launch.clustered ? position * config.cluster.count() + rank
                                                         : position);
  if (b.warps.size() != launch.warps) {
    b.warps.resize(launch.warps);
    b.controls.resize(launch.warps);
  }
  const std::size_t file = (launch.kernel->file_bytes + 63) & ~std::size_t{63};
  if (b.file_bytes < file * launch.warps) {
    b.register_files = allocate_aligned(file * launch.warps);
    // Zeroed, because vector code also computes on lanes that do not exist.
    std::memset(b.register_files.get(), 0, file * launch.warps);
    b.file_bytes = file * launch.warps;
  }
  b.shared.reserve(launch.shared_extent + 16);
  if (launch.check_initialisation && !launch.shared.empty()) {
    std::memset(b.shared.written.get(), 0, launch.shared_extent / 8 + 1);
  }
  if (launch.kernel->reserved_shared) {
    // Libraries expect zeros here: cooperative groups initialises none of its barriers.
    std::memset(b.shared.bytes.get(), 0, kReservedShared);
    std::memset(b.shared.written.get(), 0xff, kReservedShared / 8);
  }
  if (launch.local_stride != 0)
    b.local.reserve(std::size_t{launch.local_stride} * launch.warps * kWarpSize);
  if (launch.check_races) {
    const bool words = !launch.shared.empty() && !launch.shared_cells;
    b.races.start(words ? launch.shared_extent + 64 : 0, launch.kernel->byte_granular ? 0 : 2,
                  b.serial,
                  launch.clustered ? static_cast<std::uint32_t>(config.cluster.count()) : 1,
                  launch.between_blocks ? &launch.races->grid() : nullptr);
    if (launch.clustered) {
      b.cluster_arrivals = b.block_arrivals = {};
      b.cluster_released.clear();
    }
    b.first_record = launch.races == nullptr
                         ? 0
                         : launch.races->records().least_to_come(b.worker->race_memo.records);
    if (launch.shared_cells) b.cells.assign(launch.shared_extent / 4 + 32, check::GlobalCell());
  }
  for (; b.arrived_at != 0; b.arrived_at &= b.arrived_at - 1)
    b.barriers[std::countr_zero(b.arrived_at)].reset();
  b.shared.partly_written.clear();
  b.local.partly_written.clear();
  b.unwritten_from.clear();
  b.async.reset();
  b.warpgroups.reset();
  b.tensor.reset();
  b.live_warps = launch.warps;
  b.runnable = launch.warps == 32 ? ~0u : (1u << launch.warps) - 1;
  b.instructions = 0;
  b.aborted = b.some_exited = false;
  b.should_yield = b.waits = b.started_dependents = false;
  for (std::uint32_t i = 0; i < launch.warps; ++i) {
    Warp& w = b.warps[i];
    const std::uint32_t left = launch.threads - i * kWarpSize;
    w.file[0] = b.register_files.get() + i * file;
    w.file[1] = launch.program->constants.get();
    w.exists = left >= kWarpSize ? kAllLanes : (1u << left) - 1;
    w.overlapped =
        launch.check_races && !(config.running_grids.empty() && config.concurrent.empty())
            ? w.exists
            : 0;
    w.waited = 0;
    w.index = i;
    w.block = &b;
    w.control = &b.controls[i];
    w.uniform = &b.uniform;
    w.control->should_yield = false;
    w.control->looks = 0;
    start_warp(w);
  }
}

}  // namespace lockstep::engine
