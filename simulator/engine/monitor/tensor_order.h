// The order of accesses to tensor memory (PTX ISA 9.7.16.6): whether an earlier access is complete
// for a later one.
//
// tcgen05.ld and st are complete for their warp after tcgen05.wait. For other warps these must
// follow: a tcgen05.fence::before_thread_sync, a synchronisation of the two threads, and a
// tcgen05.fence::after_thread_sync.
//
// tcgen05.mma and cp are complete for threads that have found the phase complete at which their
// tcgen05.commit arrives, and for threads ordered after those. The commit counts as a
// fence::before_thread_sync. Threads of another warp than the issuing one need a
// fence::after_thread_sync. mma and cp are ordered among themselves.
#pragma once

#include <string>

#include "simulator/engine/state/async_state.h"
#include "simulator/engine/state/block.h"
#include "simulator/engine/state/warp.h"

namespace lockstep::engine {

// A rectangle of tensor memory: `columns` columns of `lanes` lanes. `sparse`: every second group of
// 16 lanes is omitted.
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

// Registers an access that `lane` of `w` issues now and returns its number, for access_tensor().
// `owner`: the block that owns the tensor memory, the warp's own or the other one of its pair.
std::uint32_t begin_tensor_access(Warp& w, int lane, TensorAccess::What what, Block& owner);
inline std::uint32_t begin_tensor_access(Warp& w, int lane, TensorAccess::What what) {
  return begin_tensor_access(w, lane, what, *w.block);
}
// Checks whether the access may read or write the region now, and records it: the columns must be
// allocated, and earlier accesses to them complete. Returns false if a finding ends the launch.
bool access_tensor(Warp& w, int lane, Block& owner, std::uint32_t number,
                   const TensorRegion& region, bool writes);
inline bool access_tensor(Warp& w, int lane, std::uint32_t number, const TensorRegion& region,
                          bool writes) {
  return access_tensor(w, lane, *w.block, number, region, writes);
}

// Call after a warp executes tcgen05.wait or tcgen05.fence.
void waited_for_tensor(Warp& w, bool loads);
void fenced_tensor(Warp& w, int lane, bool before);
// Call when `lane` of `w` has found the phase of the object complete: it learns of the arrivals
// there. Operands in shared memory of completed operations must not have been overwritten. Returns
// false if a finding ends the launch.
bool learn_tensor_arrivals(Warp& w, int lane, const Mbarrier& object);

// Reports a misuse of tensor memory by `lane`. Returns whether the kernel continues.
bool refuse_tensor(Warp& w, int lane, check::Kind kind, std::string where, std::string detail);

}  // namespace lockstep::engine
