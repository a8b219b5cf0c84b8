// tcgen05.ld, st and wait, and the fences of tensor memory (PTX ISA 9.7.16.8).
#include <bit>
#include <string>
#include <vector>

#include "simulator/engine/monitor/progress.h"
#include "simulator/engine/monitor/reports.h"
#include "simulator/engine/monitor/tensor_order.h"
#include "simulator/engine/monitor/uninitialised.h"
#include "simulator/engine/ops/async/async_copy.h"
#include "simulator/engine/ops/matrix/whole_warp.h"
#include "simulator/engine/ops/tensor/queue.h"
#include "simulator/engine/ops/tensor/tensor.h"
#include "simulator/engine/state/launch_state.h"
#include "simulator/engine/state/written_bits.h"
#include "simulator/matrix/tensor_layout.h"

namespace lockstep::engine {
namespace {

using check::Kind;
using isa::TensorShape;
using program::TensorOperation;

constexpr std::uint32_t kQuarter = 32;  // lanes that one warp of four may access

matrix::TensorTransfer transfer_of(const TensorOperation& o) {
  return {o.shape, o.number, o.packed, static_cast<int>(o.half)};
}

// The address. All lanes must agree on it, and it must name lanes of the warp's own quarter. A warp
// that names another quarter is reported. If its kernel continues, it accesses the same place in
// its own quarter. DeepGEMM's kernels for sm_100 pass the address of lane 0 in all warps, and say
// that hardware ignores these two bits (docs/journal/foreign_blackwell.md).
bool own_address(Warp& w, const TensorOperation& o, const matrix::TensorTransfer& transfer,
                 std::uint32_t& address) {
  address = static_cast<std::uint32_t>(address_of(w, o.address, 0));
  for (int l = 1; l < kWarpSize; ++l) {
    if (static_cast<std::uint32_t>(address_of(w, o.address, l)) == address) continue;
    return refuse_tensor(
               w, l, Kind::kInvalidInstruction,
               "the address of lane " + std::to_string(l) + " differs from that of lane 0",
               "All lanes of a warp must execute it with the same address.") &&
           false;
  }
  const std::uint32_t lane = tensor_lane(address), quarter = w.index % 4 * kQuarter,
                      lanes = static_cast<std::uint32_t>(transfer.lanes());
  if (lane >= quarter && lane + lanes <= quarter + kQuarter && lane % lanes == 0) return true;
  const bool goes_on = refuse_tensor(
      w, 0, Kind::kInvalidInstruction,
      "lanes " + std::to_string(lane) + " to " + std::to_string(lane + lanes - 1) +
          " of tensor memory are not all the warp's own",
      "Warp " + std::to_string(w.index) + " may access lanes " + std::to_string(quarter) + " to " +
          std::to_string(quarter + kQuarter - 1) + ": 32 * (warp mod 4) and the 31 after.");
  if (goes_on && lane < kTensorLanes && lane % lanes == 0) {
    address = (quarter + lane % kQuarter) << 16 | tensor_column(address);
    return true;
  }
  w.event = Event::kAbort;
  return false;
}

// Accesses the columns of the transfer: one region, or two for .16x32bx2.
bool access_regions(Warp& w, std::uint32_t number, const matrix::TensorTransfer& transfer,
                    std::uint32_t address, bool writes) {
  TensorRegion region{tensor_lane(address), static_cast<std::uint32_t>(transfer.lanes()),
                      tensor_column(address), static_cast<std::uint32_t>(transfer.columns())};
  if (!access_tensor(w, 0, number, region, writes)) return false;
  if (transfer.shape != TensorShape::k16x32bx2) return true;
  region.column += static_cast<std::uint32_t>(transfer.half);
  return access_tensor(w, 0, number, region, writes);
}

// The smaller or greater of two words (PTX ISA 9.7.16.8.2). For f32, -0 is less than +0, and a NaN
// loses unless nan_wins.
std::uint32_t reduce(const TensorOperation& o, std::uint32_t x, std::uint32_t y) {
  if (o.type == isa::Type::kU32) return (x < y) != o.greatest ? x : y;
  const auto a = static_cast<std::int32_t>(x), b = static_cast<std::int32_t>(y);
  if (o.type == isa::Type::kS32) return (a < b) != o.greatest ? x : y;
  constexpr std::uint32_t kNaN = 0x7fffffff, kSign = 0x80000000, kInfinity = 0x7f800000;
  const auto is_nan = [](std::uint32_t v) { return (v & ~kSign) > kInfinity; };
  if (is_nan(x) || is_nan(y))
    return o.nan_wins || (is_nan(x) && is_nan(y)) ? kNaN : is_nan(x) ? y : x;
  // Maps the words to integers in the order of the numbers.
  const auto ordered = [](std::uint32_t v) { return (v & kSign) != 0 ? ~v : v | kSign; };
  return (ordered(x) < ordered(y)) != o.greatest ? x : y;
}

}  // namespace

void run_tensor_load(Warp& w, const Op& op, LaneMask mask) {
  if (!whole_warp(w, op, mask)) return;
  const TensorOperation& o = operation_of(w, op);
  const matrix::TensorTransfer transfer = transfer_of(o);
  std::uint32_t address = 0;
  if (!own_address(w, o, transfer, address)) return;
  TensorMemory& t = tensor_of(*w.block);
  const std::uint32_t number = begin_tensor_access(w, 0, TensorAccess::What::kLoad);
  if (!access_regions(w, number, transfer, address, false)) return;
  TensorWarp& mine = t.warps[w.index];
  const std::uint32_t mark = (mine.load_count++ & 0xfff) << kOriginBits | (w.pc - 1);
  const bool marks = w.block->launch->check_synchronisation;
  if (marks) begin_tracking(w);
  const std::uint32_t lane = tensor_lane(address), column = tensor_column(address);
  const Slot* slots = w.block->program->slots.data() + o.first;
  std::uint32_t reduced[kWarpSize] = {};
  LaneMask unwritten_part = 0;
  for (int r = 0; r < o.registers; ++r) {
    if (slots[r] == kNoSlot && o.reduced == kNoSlot) continue;
    std::uint32_t unused[kWarpSize];
    auto* d = slots[r] == kNoSlot ? unused : destination<std::uint32_t>(w, slots[r]);
    LaneMask unwritten = 0;
    each(mask, [&](int l) {
      const auto word = [&](int part) {
        const matrix::TensorPlace p = transfer.place(l, r, part);
        const std::uint32_t at = TensorMemory::word(lane + static_cast<std::uint32_t>(p.lane),
                                                    column + static_cast<std::uint32_t>(p.column));
        if (!t.written[at]) unwritten |= 1u << l;
        return (*t.words)[at];
      };
      d[l] = o.packed ? (word(0) & 0xffff) | word(1) << 16 : word(0);
      if (o.reduced == kNoSlot) return;
      const std::uint32_t value = o.absolute ? d[l] & 0x7fffffff : d[l];
      reduced[l] = r == 0 ? value : reduce(o, reduced[l], value);
    });
    unwritten_part |= unwritten;
    if (slots[r] == kNoSlot) continue;
    if (marks) mark_register(w, slots[r], mask, mask, mark, Kind::kAsyncOrder);
    if (unwritten != 0 && w.block->launch->check_initialisation) {
      begin_tracking(w);
      mark_register(w, slots[r], unwritten, marks ? unwritten : mask, w.pc - 1);
    }
  }
  if (o.reduced != kNoSlot) {
    each(mask, [&](int l) { destination<std::uint32_t>(w, o.reduced)[l] = reduced[l]; });
    if (marks) mark_register(w, o.reduced, mask, mask, mark, Kind::kAsyncOrder);
    if (unwritten_part != 0 && w.block->launch->check_initialisation) {
      begin_tracking(w);
      mark_register(w, o.reduced, unwritten_part, marks ? unwritten_part : mask, w.pc - 1);
    }
  }
  mine.loads.push_back(number);
  mine.marks.push_back(mark);
}

void run_tensor_store(Warp& w, const Op& op, LaneMask mask) {
  if (!whole_warp(w, op, mask)) return;
  const TensorOperation& o = operation_of(w, op);
  const matrix::TensorTransfer transfer = transfer_of(o);
  std::uint32_t address = 0;
  if (!own_address(w, o, transfer, address)) return;
  TensorMemory& t = tensor_of(*w.block);
  const std::uint32_t number = begin_tensor_access(w, 0, TensorAccess::What::kStore);
  if (!access_regions(w, number, transfer, address, true)) return;
  TensorWarp& mine = t.warps[w.index];
  const bool late = w.block->launch->config->schedule_seed == 0;
  const std::uint32_t lane = tensor_lane(address), column = tensor_column(address);
  const Slot* slots = w.block->program->slots.data() + o.first;
  for (int r = 0; r < o.registers; ++r) {
    const auto* s = source<std::uint32_t>(w, slots[r]);
    const LaneMask invalid =
        w.control->tracking && !is_constant(slots[r])
            ? invalid_lanes(w, w.control->frames[w.control->frame], slots[r], mask)
            : 0;
    each(mask, [&](int l) {
      for (int part = 0; part < (o.packed ? 2 : 1); ++part) {
        const matrix::TensorPlace p = transfer.place(l, r, part);
        const std::uint32_t at = TensorMemory::word(lane + static_cast<std::uint32_t>(p.lane),
                                                    column + static_cast<std::uint32_t>(p.column));
        const std::uint32_t value = o.packed ? s[l] >> (16 * part) & 0xffff : s[l];
        t.written[at] = (invalid >> l & 1) == 0;
        if (late) {
          mine.stored.emplace_back(at, value);
        } else {
          on_write(*w.block->worker, t.words)[at] = value;
        }
      }
    });
  }
  mine.stores.push_back(number);
}

void run_tensor_wait(Warp& w, const Op& op, LaneMask mask) {
  if (!whole_warp(w, op, mask)) return;
  TensorMemory& t = tensor_of(*w.block);
  TensorWarp& mine = t.warps[w.index];
  const bool loads = operation_of(w, op).is_load;
  if (loads) {
    forget_order_marks(w, mine.marks);
    mine.marks.clear();
  } else {
    for (const auto& [at, value] : mine.stored) on_write(*w.block->worker, t.words)[at] = value;
    mine.stored.clear();
  }
  waited_for_tensor(w, loads);
}

void run_tensor_fence(Warp& w, const Op& op, LaneMask mask) {
  fenced_tensor(w, std::countr_zero(mask), listed_operation_of(w, op).before);
}

}  // namespace lockstep::engine
