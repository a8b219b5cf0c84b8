// clusterlaunchcontrol.try_cancel: takes a cluster of the grid that has not started, so that the
// caller can do its work (PTX ISA 9.0, 9.7.13.17).
//
// It succeeds as long as such a cluster exists. The response is 16 bytes that only query_cancel
// decodes: the index of the cluster's first block, and whether there is one.
#include <bit>
#include <cstring>
#include <string>

#include "simulator/engine/access/access.h"
#include "simulator/engine/monitor/races.h"
#include "simulator/engine/monitor/reports.h"
#include "simulator/engine/ops/async/async_copy.h"
#include "simulator/engine/state/cluster.h"
#include "simulator/engine/state/launch_state.h"
#include "simulator/engine/state/placement.h"
#include "simulator/engine/state/request.h"
#include "simulator/engine/state/shared_place.h"

namespace lockstep::engine {
namespace {

using isa::Space;

constexpr std::uint32_t kAnswer = 16;

bool shared_address(Warp& w, int lane, Space space, std::uint64_t address, std::uint32_t& shared) {
  const std::uint64_t window = space == Space::kGeneric ? w.block->launch->shared_window : 0;
  if (address - window < 1ull << 32) {
    shared = static_cast<std::uint32_t>(address - window);
    return true;
  }
  check::Finding f = finding_at(w, w.pc - 1, 1u << lane, check::Kind::kInvalidInstruction);
  f.where = "the address is none of shared memory";
  report(w, std::move(f));
  return false;
}

std::vector<std::byte> take_cluster(Launch& launch) {
  std::uint32_t answer[4] = {};
  const std::uint64_t position = launch.next.position.fetch_add(1);
  if (position < launch.units) {
    const Dim3 first = place_of_block(launch, position, 0);
    answer[0] = first.x, answer[1] = first.y, answer[2] = first.z, answer[3] = 1;
  }
  std::vector<std::byte> bytes(kAnswer);
  std::memcpy(bytes.data(), answer, kAnswer);
  return bytes;
}

bool try_cancel(Warp& w, const Op& op, int lane) {
  const program::AsyncStore& s = w.block->program->async_stores[op.as<SideDataFields>().index()];
  const std::uint32_t pc = w.pc - 1;
  std::uint32_t to = 0, barrier = 0;
  if (!shared_address(w, lane, s.space, address_of(w, s.to, lane), to) ||
      !shared_address(w, lane, s.space, address_of(w, s.mbarrier, lane), barrier))
    return false;
  if (to % kAnswer != 0) {
    report_misaligned_copy(w, pc, 1u << lane, to, kAnswer);
    return false;
  }
  Delivery d;
  d.issue = {pc, w.block->cluster_rank, w.index * kWarpSize + static_cast<std::uint32_t>(lane)};
  d.bytes = take_cluster(*w.block->launch);
  const Op target = side(op, Space::kSharedCluster);
  const std::uint32_t blocks = s.to_all && w.block->cluster != nullptr
                                   ? static_cast<std::uint32_t>(w.block->cluster->blocks.size())
                                   : 0;
  for (std::uint32_t rank = 0; rank < std::max(blocks, 1u); ++rank) {
    const auto at = [&](std::uint32_t a) { return blocks == 0 ? a : named(rank, a); };
    Request r;
    r.op = &target;
    r.pc = pc;
    r.size = kAnswer;
    r.writes = true;
    std::fill(r.address, r.address + kWarpSize, at(to));
    SharedPlace place;
    if (!resolve(w, r, Space::kSharedCluster, 1u << lane) ||
        !shared_place(w, Space::kSharedCluster, at(to), place))
      return false;
    Delivery copy = d;
    send_delivery(w, target, lane, place, at(barrier), copy, kAnswer);
    if (w.event == Event::kAbort) return false;
  }
  return true;
}

}  // namespace

void run_try_cancel(Warp& w, const Op& op, LaneMask mask) {
  for (LaneMask todo = mask; todo != 0 && w.event != Event::kAbort; todo &= todo - 1) {
    if (!try_cancel(w, op, std::countr_zero(todo))) return;
  }
}

}  // namespace lockstep::engine
