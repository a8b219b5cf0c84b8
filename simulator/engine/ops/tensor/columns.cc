// Columns of tensor memory: tcgen05.alloc, dealloc and relinquish_alloc_permit (PTX ISA 9.7.16.7).
#include <algorithm>
#include <bit>
#include <cstring>
#include <string>

#include "simulator/engine/access/access.h"
#include "simulator/engine/monitor/progress.h"
#include "simulator/engine/monitor/reports.h"
#include "simulator/engine/monitor/tensor_order.h"
#include "simulator/engine/ops/async/async_copy.h"
#include "simulator/engine/ops/matrix/whole_warp.h"
#include "simulator/engine/ops/tensor/queue.h"
#include "simulator/engine/ops/tensor/tensor.h"
#include "simulator/engine/state/cluster.h"
#include "simulator/engine/state/launch_state.h"
#include "simulator/engine/state/turns.h"

namespace lockstep::engine {
namespace {

using check::Kind;
using program::TensorOperation;

constexpr std::uint32_t kFewest = 32;  // columns of an allocation

bool is_number_of_columns(std::uint32_t n) {
  return n >= kFewest && n <= kTensorColumns && std::has_single_bit(n);
}

bool refuse_number(Warp& w, std::uint32_t columns) {
  return refuse_tensor(w, 0, Kind::kInvalidInstruction,
                       std::to_string(columns) + " columns of tensor memory are asked for",
                       "Powers of two from 32 to 512 can be.");
}

bool is_free(const TensorMemory& t, std::uint32_t first, std::uint32_t columns) {
  const auto begin = t.owner->begin() + first;
  return std::all_of(begin, begin + columns, [](auto o) { return o == 0; });
}

// The first column of a free range in both memories. An allocation starts at a multiple of its
// size.
std::uint32_t find_room(const TensorMemory& t, const TensorMemory& other, std::uint32_t columns) {
  for (std::uint32_t first = 0; first + columns <= kTensorColumns; first += columns) {
    if (is_free(t, first, columns) && is_free(other, first, columns)) return first;
  }
  return kTensorColumns;
}

void take(Worker& k, TensorMemory& t, std::uint32_t first, std::uint32_t columns, std::uint32_t pc,
          std::uint32_t warp) {
  t.allocations.push_back({first, columns, pc, warp, false});
  auto& owner = on_order(k, t.owner);
  for (std::uint32_t c = first; c < first + columns; ++c) {
    owner[c] = static_cast<std::uint16_t>(t.allocations.size());
    for (std::uint32_t l = 0; l < kTensorLanes; ++l) t.written[TensorMemory::word(l, c)] = false;
    for (std::uint32_t g = 0; g < kTensorGroups; ++g) t.cells[c * kTensorGroups + g] = {};
  }
}

std::string holders(const Warp& w) {
  std::string text;
  for (const TensorAllocation& a : w.block->tensor->allocations) {
    if (a.freed) continue;
    text += (text.empty() ? "" : ", ") + std::to_string(a.columns) + " from " +
            std::to_string(a.first) + " on, allocated at " +
            site_of(*w.block->program, a.pc).to_string();
  }
  return text;
}

// If other warps may still free columns, the warp waits for them.
void wait_for_room(Warp& w, std::uint32_t columns) {
  const Block& b = *w.block;
  if ((b.live_warps > 1) && (b.runnable & ~(1u << w.index)) != 0) {
    --w.pc;
    w.control->should_yield = true;
    w.event = Event::kReschedule;
    return;
  }
  check::Finding f = finding_at(w, w.pc - 1, 1, Kind::kDeadlock);
  f.space = "tensor";
  f.where = std::to_string(columns) +
            " columns of tensor memory are never free side by side: the block has " + holders(w);
  f.detail = "tcgen05.alloc waits until tcgen05.dealloc has made room.";
  report(w, std::move(f));
}

// Makes the block's warps that wait for its pair execute tcgen05.alloc again.
void wake_pair(Block& b) {
  for (WarpControl& c : b.controls) {
    for (WarpSplit& f : c.splits) {
      if (f.state != WarpSplit::State::kAtPair) continue;
      f.state = WarpSplit::State::kRunnable;
      b.runnable |= 1u << (&c - b.controls.data());
    }
  }
}

// If both blocks of a pair request columns that are free in both, they get them.
void grant_pair(Block& b, Block& partner) {
  TensorMemory &mine = tensor_of(b), &other = tensor_of(partner);
  if (!mine.request || !other.request || mine.request->granted || other.request->granted) return;
  const std::uint32_t columns = mine.request->columns;
  const std::uint32_t first = find_room(mine, other, columns);
  if (first == kTensorColumns) return;
  for (TensorMemory* t : {&mine, &other}) {
    take(*b.worker, *t, first, columns, t->request->pc, t->request->warp);
    t->request->granted = true;
    t->request->first = first;
  }
  wake_pair(partner);
}

// The columns of a pair's allocation. kTensorColumns: the warp waits, or a finding ends the launch.
std::uint32_t allocate_pair(Warp& w, Block& partner, std::uint32_t columns) {
  TensorMemory& mine = tensor_of(*w.block);
  if (mine.request && mine.request->warp == w.index && mine.request->granted) {
    const std::uint32_t first = mine.request->first;
    mine.request.reset();
    return first;
  }
  if (!mine.request) mine.request = TensorRequest{columns, w.pc - 1, w.index};
  const std::optional<TensorRequest>& other = tensor_of(partner).request;
  if (other && other->columns != mine.request->columns) {
    refuse_tensor(w, 0, Kind::kInvalidInstruction,
                  std::to_string(columns) + " columns of tensor memory are asked for, and " +
                      std::to_string(other->columns) + " by the other block of the pair",
                  "Both ask for the same number. The other stands at " +
                      site_of(*w.block->program, other->pc).to_string() + ".");
    w.event = Event::kAbort;
    return kTensorColumns;
  }
  grant_pair(*w.block, partner);
  if (mine.request->granted && mine.request->warp == w.index)
    return allocate_pair(w, partner, columns);
  park(w, w.active, WarpSplit::State::kAtPair);
  return kTensorColumns;
}

}  // namespace

void run_tensor_allocate(Warp& w, const Op& op, LaneMask mask) {
  if (!whole_warp(w, op, mask)) return;
  const TensorOperation& o = operation_of(w, op);
  TensorMemory& t = tensor_of(*w.block);
  const std::uint32_t columns = source<std::uint32_t>(w, o.columns)[0];
  if (!is_number_of_columns(columns)) {
    refuse_number(w, columns);
    w.event = Event::kAbort;
    return;
  }
  if (t.relinquished &&
      !refuse_tensor(w, 0, Kind::kInvalidInstruction,
                     "the block has given up the right to allocate tensor memory",
                     "tcgen05.relinquish_alloc_permit stands at " +
                         site_of(*w.block->program, *t.relinquished).to_string() + "."))
    return;
  Block* partner = nullptr;
  // After both blocks have got the columns, one of them may free them, and end, before the other
  // continues.
  const bool granted = t.request && t.request->granted && t.request->warp == w.index;
  if (!find_partner(w, 0, o.paired, !granted, partner)) return;
  const std::uint32_t first =
      partner != nullptr ? allocate_pair(w, *partner, columns) : find_room(t, t, columns);
  if (first == kTensorColumns) {
    if (partner == nullptr) wait_for_room(w, columns);
    return;
  }
  // The address is stored as one thread's store would be.
  Op target = side(op, o.space);
  target.width = 4;
  Request r;
  r.op = &target;
  r.pc = w.pc - 1;
  r.size = 4;
  r.writes = true;
  r.address[0] = address_of(w, o.address, 0);
  if (!resolve(w, r, o.space, 1)) return;
  std::memcpy(r.host[0], &first, sizeof first);
  on_write(*w.block->worker);
  if (partner == nullptr) take(*w.block->worker, t, first, columns, w.pc - 1, w.index);
}

void run_tensor_free(Warp& w, const Op& op, LaneMask mask) {
  if (!whole_warp(w, op, mask)) return;
  const TensorOperation& o = operation_of(w, op);
  TensorMemory& t = tensor_of(*w.block);
  const std::uint32_t address = source<std::uint32_t>(w, o.address.slot)[0],
                      columns = source<std::uint32_t>(w, o.columns)[0],
                      first = tensor_column(address);
  Block* partner = nullptr;
  if (!find_partner(w, 0, o.paired, false, partner)) return;
  const std::uint16_t owner = first < kTensorColumns ? (*t.owner)[first] : 0;
  if (owner == 0 || t.allocations[owner - 1u].first != first ||
      t.allocations[owner - 1u].columns != columns || tensor_lane(address) != 0) {
    const std::string held = holders(w);
    refuse_tensor(w, 0, Kind::kInvalidInstruction,
                  "no allocation of the block is " + std::to_string(columns) + " columns from " +
                      std::to_string(first) + " on",
                  held.empty() ? "It has no columns." : "It has " + held + ".");
    return;
  }
  // All accesses to the columns must be complete, as before a write.
  const std::uint32_t number = begin_tensor_access(w, 0, TensorAccess::What::kStore);
  if (!access_tensor(w, 0, number, {0, kTensorLanes, first, columns}, true)) return;
  t.accesses[number].waited = t.accesses[number].fenced = t.accesses[number].issued;
  t.allocations[owner - 1u].freed = true;
  const auto begin = on_order(*w.block->worker, t.owner).begin() + first;
  std::fill(begin, begin + columns, std::uint16_t{0});
  if (partner == nullptr) return;
  grant_pair(*w.block, *partner);
  wake_pair(*w.block);
}

void run_tensor_relinquish(Warp& w, const Op& op, LaneMask mask) {
  if (!whole_warp(w, op, mask)) return;
  Block* partner = nullptr;
  if (!find_partner(w, 0, operation_of(w, op).paired, false, partner)) return;
  TensorMemory& t = tensor_of(*w.block);
  if (!t.relinquished) t.relinquished = w.pc - 1;
}

namespace {

// Checks a block that ends while the other of its pair has work for both, or waits for it. Returns
// false if a finding ends the launch.
bool check_pair_at_exit(Warp& w) {
  Block* const partner = partner_of(*w.block);
  if (partner == nullptr || !partner->tensor || partner->live_warps == 0) return true;
  const TensorMemory& t = *partner->tensor;
  const auto report_at = [&](std::uint32_t warp, std::uint32_t lane, std::uint32_t pc,
                             std::string where) {
    if (already_reported(w, Kind::kInvalidInstruction, pc)) return true;
    first_time(w, Kind::kInvalidInstruction, pc);
    check::Finding f = finding_at(partner->warps[warp], pc, 1u << lane, Kind::kInvalidInstruction);
    f.space = "tensor";
    f.where = std::move(where);
    f.detail =
        "Both blocks of a pair must stay until what they do together is complete: "
        "barrier.cluster at the end keeps them.";
    return !report_unless_suppressed(w, std::move(f));
  };
  if (!w.block->launch->check_bounds) return true;
  for (const TensorQueued& q : t.queue) {
    if (q.work && q.work->of->paired)
      return report_at(q.work->warp, q.work->lane, q.work->pc,
                       "the other block of the pair ends while this is under way");
  }
  if (t.request && !t.request->granted)
    return report_at(t.request->warp, 0, t.request->pc,
                     "the other block of the pair ends, and this waits for it");
  return true;
}

}  // namespace

void check_tensor_memory_at_exit(Warp& w) {
  Block& b = *w.block;
  if (b.live_warps != 1) return;
  if (!check_pair_at_exit(w)) {
    w.event = Event::kAbort;
    return;
  }
  if (!b.tensor) return;
  while (finish_tensor_operations(b)) {
  }
  if (b.aborted) {
    w.event = Event::kAbort;
    return;
  }
  for (const TensorAllocation& a : b.tensor->allocations) {
    if (a.freed || !b.launch->check_bounds || already_reported(w, Kind::kInvalidInstruction, a.pc))
      continue;
    first_time(w, Kind::kInvalidInstruction, a.pc);
    check::Finding f = finding_at(b.warps[a.warp], a.pc, 1, Kind::kInvalidInstruction);
    f.space = "tensor";
    f.where = "the " + std::to_string(a.columns) + " columns of tensor memory from " +
              std::to_string(a.first) + " on are still allocated when the block ends";
    f.detail = "tcgen05.dealloc must free them, or later blocks wait for ever.";
    if (report_unless_suppressed(w, std::move(f))) return;
  }
}

}  // namespace lockstep::engine
