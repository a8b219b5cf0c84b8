#include "simulator/engine/ops/control/special_registers.h"

#include <algorithm>
#include <bit>

#include "simulator/engine/monitor/progress.h"
#include "simulator/engine/ops/control/clock_wait.h"
#include "simulator/engine/state/launch_state.h"
#include "simulator/engine/state/worker.h"
#include "simulator/engine/state/written_bits.h"
#include "simulator/program/memory_access.h"

namespace lockstep::engine {
namespace {

// Thread indices x and y of a block whose size along x is a power of two, as nearly all blocks with
// more than one row have.
bool run_thread_number(Warp& w, const Op& op, LaneMask mask, bool along_y) {
  const Dim3& block = w.block->launch->config->block;
  if (!std::has_single_bit(block.x) || block.z != 1) return false;
  const int shift = along_y ? std::countr_zero(block.x) : 0;
  const std::uint32_t first = w.index * kWarpSize, low = along_y ? ~0u : block.x - 1;
  auto* d = destination<std::uint32_t>(w, op.dst);
  for (std::uint32_t i = 0; i < kWarpSize; ++i)
    d[i] = mask >> i & 1 ? (first + i) >> shift & low : d[i];
  return true;
}

// The registers that nearly every kernel reads first, as 32 bits. Returns false for others.
bool run_common(Warp& w, const Op& op, LaneMask mask, isa::SpecialRegister special) {
  using S = isa::SpecialRegister;
  const Block& b = *w.block;
  const Dim3 &block = b.launch->config->block, &grid = b.launch->config->grid;
  std::uint32_t value = 0, step = 0;
  switch (special) {
    case S::kTidX:
      if (block.y != 1 || block.z != 1) return run_thread_number(w, op, mask, /*along_y=*/false);
      value = w.index * kWarpSize;
      step = 1;
      break;
    case S::kTidY: return run_thread_number(w, op, mask, /*along_y=*/true);
    case S::kLaneid: step = 1; break;
    case S::kNtidX: value = block.x; break;
    case S::kNtidY: value = block.y; break;
    case S::kCtaidX: value = b.ctaid.x; break;
    case S::kCtaidY: value = b.ctaid.y; break;
    case S::kNctaidX: value = grid.x; break;
    case S::kNctaidY: value = grid.y; break;
    default: return false;
  }
  auto* d = destination<std::uint32_t>(w, op.dst);
  if (mask == kAllLanes) {
    for (std::uint32_t i = 0; i < kWarpSize; ++i) d[i] = value + i * step;
  } else {
    each(mask, [&](int i) { d[i] = value + static_cast<std::uint32_t>(i) * step; });
  }
  return true;
}

}  // namespace

void run_special(Warp& w, const Op& op, LaneMask mask) {
  using S = isa::SpecialRegister;
  const Block& b = *w.block;
  const LaunchConfig& config = *b.launch->config;
  std::uint64_t v[kWarpSize];
  const auto all = [&](std::uint64_t x) { std::fill(v, v + kWarpSize, x); };
  const std::uint32_t first = w.index * kWarpSize;
  const Dim3 &block = config.block, &grid = config.grid, &cluster = config.cluster;
  const auto special = op.as<program::SpecialRegisterFields>().which();
  if (isa::reads_clock(special)) {
    on_order(*b.worker);  // time passes, and may end a loop
    pass_time(w, w.pc - 1);
  }
  // One operation is one tick. A virtual nanosecond is one warp instruction of the block, plus the
  // time that the warp slept.
  const std::uint64_t cycles = w.control->instructions + w.control->slept;
  const std::uint64_t time = 1000000000ull + b.instructions + w.control->slept;
  if (op.width == 4 && run_common(w, op, mask, special)) return;
  const Dim3 in_cluster{b.ctaid.x % cluster.x, b.ctaid.y % cluster.y, b.ctaid.z % cluster.z};
  switch (special) {
    case S::kTidX:
      if (block.y == 1 && block.z == 1) {
        for (std::uint32_t i = 0; i < kWarpSize; ++i) v[i] = first + i;
      } else {
        for (std::uint32_t i = 0; i < kWarpSize; ++i) v[i] = (first + i) % block.x;
      }
      break;
    case S::kTidY:
      for (std::uint32_t i = 0; i < kWarpSize; ++i) v[i] = (first + i) / block.x % block.y;
      break;
    case S::kTidZ:
      for (std::uint32_t i = 0; i < kWarpSize; ++i) v[i] = (first + i) / block.x / block.y;
      break;
    case S::kNtidX: all(block.x); break;
    case S::kNtidY: all(block.y); break;
    case S::kNtidZ: all(block.z); break;
    case S::kCtaidX: all(b.ctaid.x); break;
    case S::kCtaidY: all(b.ctaid.y); break;
    case S::kCtaidZ: all(b.ctaid.z); break;
    case S::kNctaidX: all(grid.x); break;
    case S::kNctaidY: all(grid.y); break;
    case S::kNctaidZ: all(grid.z); break;
    case S::kLaneid:
      for (int i = 0; i < kWarpSize; ++i) v[i] = static_cast<unsigned>(i);
      break;
    case S::kWarpid: all(w.index); break;
    case S::kNwarpid: all(64); break;
    case S::kSmid: all(b.index % 132); break;
    case S::kNsmid: all(132); break;
    case S::kGridid: all(1); break;
    case S::kLanemaskEq:
      for (int i = 0; i < kWarpSize; ++i) v[i] = 1u << i;
      break;
    case S::kLanemaskLt:
      for (int i = 0; i < kWarpSize; ++i) v[i] = (1u << i) - 1;
      break;
    case S::kLanemaskLe:
      for (int i = 0; i < kWarpSize; ++i) v[i] = (2u << i) - 1;
      break;
    case S::kLanemaskGt:
      for (int i = 0; i < kWarpSize; ++i) v[i] = ~((2u << i) - 1);
      break;
    case S::kLanemaskGe:
      for (int i = 0; i < kWarpSize; ++i) v[i] = ~((1u << i) - 1);
      break;
    case S::kClock: all(static_cast<std::uint32_t>(cycles)); break;
    case S::kClockHi: all(cycles >> 32); break;
    case S::kClock64: all(cycles); break;
    case S::kGlobaltimer: all(time); break;
    case S::kGlobaltimerLo: all(static_cast<std::uint32_t>(time)); break;
    case S::kGlobaltimerHi: all(time >> 32); break;
    case S::kTotalSmemSize:
    case S::kAggrSmemSize:
      all(b.launch->kernel->static_shared_bytes + config.dynamic_shared);
      break;
    case S::kDynamicSmemSize: all(config.dynamic_shared); break;
    case S::kReservedSmemOffset:
    case S::kReservedSmemOffset1:
    case S::kReservedSmemBegin: all(0); break;
    case S::kReservedSmemEnd: all(kReservedShared); break;
    case S::kReservedSmemCap: all(kSharedStart); break;
    case S::kIsExplicitCluster: all(cluster.count() > 1); break;
    case S::kClusteridX: all(b.ctaid.x / cluster.x); break;
    case S::kClusteridY: all(b.ctaid.y / cluster.y); break;
    case S::kClusteridZ: all(b.ctaid.z / cluster.z); break;
    case S::kNclusteridX: all(grid.x / cluster.x); break;
    case S::kNclusteridY: all(grid.y / cluster.y); break;
    case S::kNclusteridZ: all(grid.z / cluster.z); break;
    case S::kClusterCtaidX: all(in_cluster.x); break;
    case S::kClusterCtaidY: all(in_cluster.y); break;
    case S::kClusterCtaidZ: all(in_cluster.z); break;
    case S::kClusterNctaidX: all(cluster.x); break;
    case S::kClusterNctaidY: all(cluster.y); break;
    case S::kClusterNctaidZ: all(cluster.z); break;
    case S::kClusterCtarank:
      all(in_cluster.x + cluster.x * (in_cluster.y + std::uint64_t{cluster.y} * in_cluster.z));
      break;
    case S::kClusterNctarank: all(cluster.count()); break;
    default: {
      // Cooperative groups finds the grid's barrier through two environment registers; all others,
      // and performance counters, are zero.
      const std::uint64_t workspace = b.launch->grid_workspace ? b.launch->grid_workspace->base : 0;
      const int environment = static_cast<int>(op.as<program::SpecialRegisterFields>().which()) -
                              static_cast<int>(S::kEnvreg0);
      all(environment == 1   ? workspace >> 32
          : environment == 2 ? static_cast<std::uint32_t>(workspace)
                             : 0);
    }
  }
  if (op.width == 0) {
    // A predicate; of the special registers only %is_explicit_cluster is one.
    set_predicate(w, op.dst, v[0] != 0 ? kAllLanes : 0, mask);
  } else if (op.width == 8) {
    auto* d = destination<std::uint64_t>(w, op.dst);
    each(mask, [&](int l) { d[l] = v[l]; });
  } else if (op.width == 4) {
    auto* d = destination<std::uint32_t>(w, op.dst);
    each(mask, [&](int l) { d[l] = static_cast<std::uint32_t>(v[l]); });
  } else {
    auto* d = destination<std::uint16_t>(w, op.dst);
    each(mask, [&](int l) { d[l] = static_cast<std::uint16_t>(v[l]); });
  }
}

}  // namespace lockstep::engine
