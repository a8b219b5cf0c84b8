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
#include "simulator/engine/state/launch_state.h"

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

// Where the columns would begin: an allocation begins at a multiple of its size.
std::uint32_t find_room(const TensorMemory& t, std::uint32_t columns) {
  for (std::uint32_t first = 0; first + columns <= kTensorColumns; first += columns) {
    if (std::all_of(t.owner->begin() + first, t.owner->begin() + first + columns,
                    [](auto o) { return o == 0; }))
      return first;
  }
  return kTensorColumns;
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

// Where other warps may still free columns, the warp waits for them.
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
  const std::uint32_t first = find_room(t, columns);
  if (first == kTensorColumns) return wait_for_room(w, columns);
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
  t.allocations.push_back({first, columns, w.pc - 1, w.index, false});
  auto& owner = on_order(*w.block->worker, t.owner);
  for (std::uint32_t c = first; c < first + columns; ++c) {
    owner[c] = static_cast<std::uint16_t>(t.allocations.size());
    for (std::uint32_t l = 0; l < kTensorLanes; ++l) t.written[TensorMemory::word(l, c)] = false;
    for (std::uint32_t g = 0; g < kTensorGroups; ++g) t.cells[c * kTensorGroups + g] = {};
  }
}

void run_tensor_free(Warp& w, const Op& op, LaneMask mask) {
  if (!whole_warp(w, op, mask)) return;
  const TensorOperation& o = operation_of(w, op);
  TensorMemory& t = tensor_of(*w.block);
  const std::uint32_t address = source<std::uint32_t>(w, o.address.slot)[0],
                      columns = source<std::uint32_t>(w, o.columns)[0],
                      first = tensor_column(address);
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
  // Whoever accesses them must have finished, as before a write.
  const std::uint32_t number = begin_tensor_access(w, 0, TensorAccess::What::kStore);
  if (!access_tensor(w, 0, number, {0, kTensorLanes, first, columns}, true)) return;
  t.accesses[number].waited = t.accesses[number].fenced = t.accesses[number].issued;
  t.allocations[owner - 1u].freed = true;
  auto& owners = on_order(*w.block->worker, t.owner);
  std::fill(owners.begin() + first, owners.begin() + first + columns, std::uint16_t{0});
}

void run_tensor_relinquish(Warp& w, const Op& op, LaneMask mask) {
  if (!whole_warp(w, op, mask)) return;
  TensorMemory& t = tensor_of(*w.block);
  if (!t.relinquished) t.relinquished = w.pc - 1;
}

void check_tensor_memory_at_exit(Warp& w) {
  Block& b = *w.block;
  if (!b.tensor || b.live_warps != 1) return;
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
