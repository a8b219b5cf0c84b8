#include "simulator/engine/monitor/running_grids.h"

#include <algorithm>
#include <bit>

#include "simulator/check/region_lock.h"
#include "simulator/engine/monitor/races.h"
#include "simulator/engine/monitor/reports.h"
#include "simulator/engine/state/launch_state.h"
#include "simulator/engine/state/worker.h"
#include "simulator/memory/describe.h"

namespace lockstep::engine {
namespace {

// Whether a lane's access is ordered after a griddepcontrol.wait of another thread of the grid.
bool after_a_wait(Warp& w, const Request& r, std::uint32_t lane) {
  const check::Side side = side_of(w, *r.op, r.pc, r.writes, false);
  DependentGrids& grids = w.block->launch->dependent_grids;
  std::lock_guard lock(grids.mutex);
  for (const DependentGrids::Wait& wait : grids.waits) {
    for (LaneMask lanes = wait.lanes; lanes != 0; lanes &= lanes - 1) {
      if (w.block->worker->races->records().relate(
              wait.record, static_cast<std::uint32_t>(std::countr_zero(lanes)), lane, side) !=
          check::Relation::kUnordered)
        return true;
    }
  }
  return false;
}

// The first grid that may still run and whose accesses to some of these bytes would race with an
// access now; nullptr if there is none.
const RunningGrid* conflicting_grid(Warp& w, const Request& r, std::uint64_t address, bool waited) {
  memory::DeviceMemory& memory = *w.block->worker->memory;
  if (!memory.in_window(address)) return nullptr;
  const std::uint64_t last = address + r.size - 1;
  const check::RegionLock lock(w.block->worker->races->parallel(), address, last);
  const check::GlobalCell* cell = check::cell_of(memory, address);
  for (std::uint64_t granule = address & ~3ull; granule <= last; granule += 4, ++cell) {
    const std::uint64_t from = std::max(granule, address) - granule,
                        to = std::min(granule + 3, last) - granule;
    const auto bytes = static_cast<std::uint32_t>(((2u << to) - 1) & ~((1u << from) - 1));
    for (const RunningGrid& grid : w.block->launch->config->running_grids) {
      if (!(waited && grid.until_wait) &&
          w.block->worker->races->is_recorded_in(*cell, bytes, r.writes, grid.first_record,
                                                 grid.end_of_records))
        return &grid;
    }
  }
  return nullptr;
}

}  // namespace

bool check_running_grids(Warp& w, const Request& r, LaneMask lanes) {
  // Atomics of two grids do not race, and the strength of the other grid's accesses is no longer
  // known.
  if (r.op->as<MemoryFields>().has(kStrong) || (r.reads && r.writes)) return true;
  lanes &= w.overlapped;
  for (; lanes != 0; lanes &= lanes - 1) {
    const auto lane = static_cast<std::uint32_t>(std::countr_zero(lanes));
    const bool waited = (w.waited >> lane & 1) != 0;
    const RunningGrid* grid = conflicting_grid(w, r, r.address[lane], waited);
    if (grid == nullptr) continue;
    if (!waited && after_a_wait(w, r, lane)) {
      w.waited |= 1u << lane;
      grid = conflicting_grid(w, r, r.address[lane], true);
      if (grid == nullptr) continue;
    }
    if (already_reported(w, check::Kind::kRace, r.pc)) return true;
    first_time(w, check::Kind::kRace, r.pc);
    check::Finding f = access_finding(w, r, isa::Space::kGlobal, 1u << lane, check::Kind::kRace);
    const memory::Allocation* a = w.block->worker->memory->find(r.address[lane]);
    f.where = (a == nullptr ? std::string()
                            : std::to_string(r.address[lane] - a->begin) + " bytes into " +
                                  memory::describe(*a) + ", ") +
              (r.writes ? "accessed by " : "written by ") + grid->kernel +
              ", which may still run: it has let its dependents start";
    f.detail = grid->until_wait ? "griddepcontrol.wait, cudaGridDependencySynchronize(), before "
                                  "the access would order the two kernels."
                                : "griddepcontrol.wait waits for the kernel before this one alone, "
                                  "and that one has ended without waiting for its own.";
    return !report_unless_suppressed(w, std::move(f));
  }
  return true;
}

}  // namespace lockstep::engine
