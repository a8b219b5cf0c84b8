// tcgen05.shift: moves rows of tensor memory down by one (PTX ISA 9.7.16.9.3).
#include <bit>
#include <string>

#include "simulator/engine/monitor/progress.h"
#include "simulator/engine/monitor/tensor_order.h"
#include "simulator/engine/ops/async/async_copy.h"
#include "simulator/engine/ops/tensor/queue.h"
#include "simulator/engine/ops/tensor/sparse.h"
#include "simulator/engine/ops/tensor/tensor.h"
#include "simulator/engine/state/cluster.h"

namespace lockstep::engine {
namespace {

constexpr std::uint32_t kColumns = 8;  // 32 bytes for each lane

// Visits the moved words in an order in which each is read before it is overwritten.
template <class Visit>
void each_move(const TensorWork& work, Visit visit) {
  for (std::uint32_t lane = tensor_lane(work.d); lane < kTensorLanes; ++lane) {
    const auto from = static_cast<std::uint32_t>(row_below(static_cast<int>(lane)));
    if (from == lane) continue;
    for (std::uint32_t c = tensor_column(work.d); c < tensor_column(work.d) + kColumns; ++c)
      visit(TensorMemory::word(lane, c), TensorMemory::word(from, c));
  }
}

bool access_block(Warp& w, int lane, Block& b, const TensorWork& work, std::uint32_t number) {
  const TensorRegion region{tensor_lane(work.d), kTensorLanes - tensor_lane(work.d),
                            tensor_column(work.d), kColumns};
  if (!access_tensor(w, lane, b, number, region, true)) return false;
  each_move(work, [&](std::uint32_t to, std::uint32_t from) {
    b.tensor->written[to] = b.tensor->written[from];
  });
  return true;
}

bool issue_shift(Warp& w, const Op& op, int lane) {
  const program::TensorOperation& o = listed_operation_of(w, op);
  Block* partner = nullptr;
  if (!find_partner(w, lane, o.paired, true, partner)) return false;
  TensorWork work;
  work.of = &o;
  work.warp = w.index;
  work.lane = static_cast<std::uint32_t>(lane);
  work.pc = w.pc - 1;
  work.d = static_cast<std::uint32_t>(address_of(w, o.address, lane));
  if (tensor_lane(work.d) % 32 != 0 || tensor_lane(work.d) >= kTensorLanes) {
    refuse_tensor(w, lane, check::Kind::kInvalidInstruction,
                  "the rows begin in lane " + std::to_string(tensor_lane(work.d)),
                  "They begin in a lane that is a multiple of 32.");
    w.event = Event::kAbort;
    return false;
  }
  work.access = begin_tensor_access(w, lane, TensorAccess::What::kShift);
  if (!access_block(w, lane, *w.block, work, work.access)) return false;
  if (partner != nullptr) {
    work.partner_access = begin_tensor_access(w, lane, TensorAccess::What::kShift, *partner);
    if (!access_block(w, lane, *partner, work, work.partner_access)) return false;
  }
  enqueue(w, work, {});
  return true;
}

void shift_block(Block& b, const TensorWork& work) {
  std::vector<std::uint32_t>& words = on_write(*b.worker, tensor_of(b).words);
  each_move(work, [&](std::uint32_t to, std::uint32_t from) { words[to] = words[from]; });
}

}  // namespace

void do_shift(Block& b, const TensorWork& work) {
  shift_block(b, work);
  if (work.of->paired) shift_block(*partner_of(b), work);
}

void run_tensor_shift(Warp& w, const Op& op, LaneMask mask) {
  for (LaneMask todo = mask; todo != 0 && w.event != Event::kAbort; todo &= todo - 1) {
    if (!issue_shift(w, op, std::countr_zero(todo))) return;
  }
}

}  // namespace lockstep::engine
