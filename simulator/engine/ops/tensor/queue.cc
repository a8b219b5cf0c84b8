// tcgen05.commit, and the queue of operations between two commits (PTX ISA 9.7.16.12).
#include "simulator/engine/ops/tensor/queue.h"

#include <bit>
#include <utility>

#include "simulator/engine/monitor/races.h"
#include "simulator/engine/monitor/reports.h"
#include "simulator/engine/monitor/tensor_order.h"
#include "simulator/engine/ops/async/async_copy.h"
#include "simulator/engine/ops/async/mbarrier.h"
#include "simulator/engine/ops/tensor/tensor.h"
#include "simulator/engine/state/cluster.h"
#include "simulator/engine/state/launch_state.h"
#include "simulator/engine/state/shared_place.h"

namespace lockstep::engine {
namespace {

bool is_late(const Block& b) { return b.launch->config->schedule_seed == 0; }

void do_work(Block& b, const TensorWork& work) {
  switch (b.tensor->accesses[work.access].what) {
    case TensorAccess::What::kFill: return do_fill(b, work);
    case TensorAccess::What::kShift: return do_shift(b, work);
    default: return do_multiply(b, work);
  }
}

// Executes the arrivals of a commit. Returns false if a finding ends the launch.
bool arrive(Block& b, const TensorQueued& q) {
  Warp& w = b.warps[q.warp];
  for (const std::uint32_t address : q.barriers) {
    SharedPlace place;
    const auto lane = static_cast<int>(q.lane);
    if (!shared_place(w, isa::Space::kSharedCluster, address, place)) continue;
    Mbarrier* const m = live_mbarrier(w, q.pc, lane, place);
    if (m == nullptr) return false;
    if (q.message) m->arrived.add(*q.message, b.races.grid());
    std::erase_if(m->tensor_arrivals, [&](const Mbarrier::TensorArrival& a) {
      return m->state->phase > a.phase + 2;  // no thread can wait for that phase any more
    });
    m->tensor_arrivals.push_back({b.cluster_rank, q.commit, m->state->phase});
    if (!arrive_at(w, q.pc, lane, place, *m, 1)) return false;
  }
  return true;
}

// An address in the shared memory of the cluster; the operand may be a generic address.
bool barrier_address(Warp& w, int lane, const program::TensorOperation& o, std::uint32_t& shared) {
  const std::uint64_t address = address_of(w, o.address, lane),
                      window = o.space == isa::Space::kGeneric ? w.block->launch->shared_window : 0;
  if (address - window < 1ull << 32) {
    shared = static_cast<std::uint32_t>(address - window);
    return true;
  }
  check::Finding f = finding_at(w, w.pc - 1, 1u << lane, check::Kind::kMbarrierMisuse);
  f.where = "the address lies in no shared memory of the cluster, where mbarrier objects must be";
  report(w, std::move(f));
  return false;
}

}  // namespace

bool find_partner(Warp& w, int lane, bool paired, bool must_live, Block*& partner) {
  Block& b = *w.block;
  TensorMemory& t = tensor_of(b);
  const auto refuse = [&](std::string where, std::string detail) {
    refuse_tensor(w, lane, check::Kind::kInvalidInstruction, std::move(where), std::move(detail));
    w.event = Event::kAbort;
    return false;
  };
  if (!t.grouped) {
    t.grouped = w.pc - 1;
    t.paired = paired;
  } else if (t.paired != paired) {
    return refuse(std::string("it is of ") + (paired ? ".cta_group::2" : ".cta_group::1") +
                      ", and tcgen05 of the same kernel of " +
                      (t.paired ? ".cta_group::2" : ".cta_group::1"),
                  "All tcgen05 of a kernel must agree. The other stands at " +
                      site_of(*b.program, *t.grouped).to_string() + ".");
  }
  partner = nullptr;
  if (!paired) return true;
  partner = partner_of(b);
  if (partner == nullptr)
    return refuse("the block has no other block to make a pair with",
                  ".cta_group::2 needs a cluster with an even number of blocks.");
  if (must_live && partner->live_warps == 0)
    return refuse("the other block of the pair has ended",
                  "Both blocks of a pair must stay until what they do together is complete.");
  return true;
}

void enqueue(Warp& w, TensorWork work, std::vector<MatrixBytes> read,
             std::vector<MatrixBytes> read_of_partner) {
  Block& b = *w.block;
  TensorMemory& t = *b.tensor;
  if (b.launch->check_races && !read.empty())
    t.operands.push_back({work.access, false, std::move(read)});
  if (b.launch->check_races && !read_of_partner.empty())
    t.operands.push_back({work.access, true, std::move(read_of_partner)});
  if (!is_late(b)) return do_work(b, work);
  TensorQueued q;
  q.work = work;
  t.queue.push_back(std::move(q));
}

void run_tensor_commit(Warp& w, const Op& op, LaneMask mask) {
  Block& b = *w.block;
  TensorMemory& t = tensor_of(b);
  const program::TensorOperation& o = listed_operation_of(w, op);
  for (LaneMask todo = mask; todo != 0 && w.event != Event::kAbort; todo &= todo - 1) {
    const int lane = std::countr_zero(todo);
    std::uint32_t address = 0;
    Block* partner = nullptr;
    if (!find_partner(w, lane, o.paired, false, partner) || !barrier_address(w, lane, o, address))
      return;
    TensorQueued q;
    q.commit = static_cast<std::uint32_t>(t.commits.size());
    q.warp = w.index;
    q.lane = static_cast<std::uint32_t>(lane);
    q.pc = w.pc - 1;
    if (o.mask == kNoSlot) {
      q.barriers.push_back(address);
    } else {
      const std::uint32_t blocks = source<std::uint16_t>(w, o.mask)[lane];
      for (std::uint32_t rank = 0; rank < 16; ++rank) {
        if ((blocks >> rank & 1) != 0) q.barriers.push_back(named(rank, address));
      }
    }
    // The object must exist when the commit is issued.
    for (const std::uint32_t barrier : q.barriers) {
      SharedPlace place;
      if (!shared_place(w, isa::Space::kSharedCluster, barrier, place)) {
        check::Finding f = finding_at(w, q.pc, 1u << lane, check::Kind::kMbarrierMisuse);
        f.where = "the mbarrier object is of block " + std::to_string(rank_named(b, barrier)) +
                  " of the cluster, which has no such block";
        report(w, std::move(f));
        return;
      }
      if (live_mbarrier(w, q.pc, lane, place) == nullptr) return;
    }
    if (b.launch->check_races) {
      q.message =
          b.races.message_of(w.index, 1u << lane, w.exists == 1u << lane, check::Scope::kGrid);
      released(w);
    }
    t.commits.push_back({w.index * kWarpSize + static_cast<std::uint32_t>(lane),
                         q.pc,
                         static_cast<std::uint32_t>(t.accesses.size()),
                         {}});
    if (is_late(b)) {
      t.queue.push_back(std::move(q));
    } else {
      arrive(b, q);
    }
  }
}

bool leaves_time_to_partner(const Block& b) {
  if (!b.tensor || !b.tensor->paired || b.tensor->queue.empty() || b.aborted) return false;
  const Block* const partner = partner_of(b);
  return partner != nullptr && partner->live_warps != 0 && partner->runnable != 0 &&
         !partner->aborted && !partner->waits;
}

bool finish_tensor_operations(Block& b) {
  if (!b.tensor || b.tensor->queue.empty() || b.aborted) return false;
  std::deque<TensorQueued>& queue = b.tensor->queue;
  while (!queue.empty()) {
    const TensorQueued q = std::move(queue.front());
    queue.pop_front();
    if (!q.work) {
      arrive(b, q);
      break;
    }
    do_work(b, *q.work);
  }
  return true;
}

}  // namespace lockstep::engine
