// The order of accesses to tensor memory (PTX ISA 9.7.16.6): whether an access may count on an
// earlier one to be over.
//
// tcgen05.ld and st are over for their warp after tcgen05.wait. For other warps a
// tcgen05.fence::before_thread_sync must follow, something that orders the two threads, and a
// tcgen05.fence::after_thread_sync. tcgen05.mma and cp are over for threads that have found the
// phase complete on which their tcgen05.commit arrives, which is a fence::before_thread_sync, and
// for those who are ordered after that thread; threads of another warp than the one that issued
// them need a fence::after_thread_sync. Among themselves mma and cp are in order.
#pragma once

#include <string>

#include "simulator/engine/state/async_state.h"
#include "simulator/engine/state/block.h"
#include "simulator/engine/state/warp.h"

namespace lockstep::engine {

// A rectangle of tensor memory: `columns` columns of `lanes` lanes. `sparse`: without every second
// group of 16 lanes.
struct TensorRegion {
  std::uint32_t lane = 0, lanes = 0, column = 0, columns = 0;
  bool sparse = false;

  template <class Visit>
  void each_cell(TensorMemory& t, Visit visit) const {
    for (std::uint32_t c = column; c < column + columns; ++c) {
      for (std::uint32_t l = lane; l < lane + lanes; l += sparse ? 2 * kTensorGroup : kTensorGroup)
        visit(t.cell(l, c));
    }
  }
};

TensorStamp tensor_stamp(const Warp& w, int lane);

// An access that `lane` of `w` issues now, by number; its accesses follow. owner: whose tensor
// memory it is, the warp's own block's or that of the other block of its pair.
std::uint32_t begin_tensor_access(Warp& w, int lane, TensorAccess::What what, Block& owner);
inline std::uint32_t begin_tensor_access(Warp& w, int lane, TensorAccess::What what) {
  return begin_tensor_access(w, lane, what, *w.block);
}
// Whether the access may read or write the region now: the columns are allocated, and what it
// would meet there is over. Notes it. False: a finding ends the launch.
bool access_tensor(Warp& w, int lane, Block& owner, std::uint32_t number,
                   const TensorRegion& region, bool writes);
inline bool access_tensor(Warp& w, int lane, std::uint32_t number, const TensorRegion& region,
                          bool writes) {
  return access_tensor(w, lane, *w.block, number, region, writes);
}

// tcgen05.wait and tcgen05.fence by a warp.
void waited_for_tensor(Warp& w, bool loads);
void fenced_tensor(Warp& w, int lane, bool before);
// `lanes` of `w` have found the phase of the object complete: they know what has arrived there.
// What this covers must not have been overwritten in shared memory. False: a finding ends the
// launch.
bool learn_tensor_arrivals(Warp& w, int lane, const Mbarrier& object);

// A misuse of tensor memory by `lane`. Whether the kernel goes on.
bool refuse_tensor(Warp& w, int lane, check::Kind kind, std::string where, std::string detail);

}  // namespace lockstep::engine
