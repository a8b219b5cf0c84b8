// st.async and red.async: a few bytes of registers that are written asynchronously to the shared
// memory of the cluster (PTX ISA 9.0, 9.7.9.12 and 9.7.13.9).
//
// They use the generic proxy. As with a bulk copy, the bytes arrive with the phase of an mbarrier
// in the destination block.
#include <algorithm>
#include <bit>
#include <cstring>

#include "simulator/engine/access/access.h"
#include "simulator/engine/monitor/reports.h"
#include "simulator/engine/ops/async/async_copy.h"
#include "simulator/engine/ops/async/bulk_reduction.h"
#include "simulator/engine/state/launch_state.h"
#include "simulator/engine/state/request.h"
#include "simulator/engine/state/shared_place.h"

namespace lockstep::engine {
namespace {

using isa::Space;

// An address in the shared memory of the cluster. Returns false after a finding.
bool shared_address(Warp& w, std::uint32_t pc, int lane, Space space, std::uint64_t address,
                    std::uint32_t* shared) {
  const std::uint64_t window = space == Space::kGeneric ? w.block->launch->shared_window : 0;
  if (address - window >= 1ull << 32) {
    check::Finding f = finding_at(w, pc, 1u << lane, check::Kind::kInvalidInstruction);
    f.where = "the address is none of shared memory";
    report(w, std::move(f));
    return false;
  }
  *shared = static_cast<std::uint32_t>(address - window);
  return true;
}

void store(Warp& w, const Op& op, int lane) {
  const program::AsyncStore& s = w.block->program->async_stores[op.as<SideDataFields>().index()];
  const std::uint32_t pc = w.pc - 1;
  std::uint32_t to = 0, barrier = 0;
  if (!shared_address(w, pc, lane, s.space, address_of(w, s.to, lane), &to)) return;
  if (!shared_address(w, pc, lane, s.space, address_of(w, s.mbarrier, lane), &barrier)) return;
  Delivery d;
  d.issue = {pc, w.block->cluster_rank, w.index * kWarpSize + static_cast<std::uint32_t>(lane)};
  for (std::uint32_t e = 0; e < s.elements; ++e) {
    std::byte bytes[8];
    if (s.width == 8) {
      std::memcpy(bytes, &source<std::uint64_t>(w, s.data[e])[lane], 8);
    } else {
      std::memcpy(bytes, &source<std::uint32_t>(w, s.data[e])[lane], 4);
    }
    d.bytes.insert(d.bytes.end(), bytes, bytes + s.width);
  }
  const auto size = static_cast<std::uint32_t>(d.bytes.size());
  Op target = side(op, Space::kSharedCluster);
  if (s.reduction != isa::AtomOp::kNone) {
    target.as<MemoryFields>().add(kStrong);
    std::uint16_t unwritten = 0;
    if (to % size != 0) {
      report_misaligned_copy(w, pc, 1u << lane, to, size);
      return;
    }
    if (!check_reduced(w, target, pc, lane, to, unwritten, size, /*by_async_proxy=*/false)) return;
    if (unwritten != 0) d.unwritten.assign(size, true);
    d.reduction = s.reduction;
    d.type = s.type;
  } else {
    Request r;
    r.op = &target;
    r.pc = pc;
    r.size = size;
    std::fill(r.address, r.address + kWarpSize, to);
    r.writes = true;
    if (!resolve(w, r, Space::kSharedCluster, 1u << lane)) return;
  }
  SharedPlace place;
  if (!shared_place(w, Space::kSharedCluster, to, place)) return;
  send_delivery(w, target, lane, place, barrier, d, size);
}

}  // namespace

void run_async_store(Warp& w, const Op& op, LaneMask mask) {
  for (LaneMask todo = mask; todo != 0 && w.event != Event::kAbort; todo &= todo - 1)
    store(w, op, std::countr_zero(todo));
}

}  // namespace lockstep::engine
