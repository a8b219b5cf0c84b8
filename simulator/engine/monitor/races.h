// The searches for races, as the handlers of memory operations and of what orders threads call
// them.
#pragma once

#include "simulator/engine/state/async_state.h"
#include "simulator/engine/state/block.h"
#include "simulator/engine/state/request.h"

namespace lockstep::engine {

// Whether the access is strong (PTX ISA 8.2): atomic, volatile, or with .relaxed and stronger.
inline bool is_strong(const Request& r) {
  return r.op->as<MemoryFields>().has(kStrong) || (r.reads && r.writes);
}

// Record the accesses of `lanes` and report those that race. False: a finding ends the launch.
// Addresses are as resolve_*() leaves them.
bool check_shared_races(Warp& w, Request& r, LaneMask lanes);
// Shared memory of `owner`, the warp's own block or another of its cluster, in a launch of
// clusters.
bool check_cluster_races(Warp& w, Request& r, Block& owner, LaneMask lanes);
bool check_global_races(Warp& w, Request& r, LaneMask lanes);
// check_global_races() does so, too: notes that the host may learn from the access of what the
// launch did, or the launch of what the host has waited for.
void note_host_memory(Warp& w, const Request& r, LaneMask lanes);
// The last write to a byte of the shared memory of a block of the cluster that has been written to.
check::Access last_write_to_shared(Warp& w, const Block& owner, std::uint32_t offset);
// An access by this thread of this block to a byte of the block's shared memory.
check::Access access_to_shared(const Block& owner, std::uint32_t thread, std::uint32_t pc,
                               std::uint32_t offset, bool is_write);

// Memory has been read by a strong access whose addresses are `addresses`, as the operation has
// them. On several host threads it may have seen what others wrote since the access was recorded.
void after_strong_read(Warp& w, const Op& op, const std::uint64_t* addresses, LaneMask lanes);
// Whether the thread of an atomic gets the old value. red returns nothing and acquires nothing
// (PTX ISA 8.8, 8.11.1), nor does an atom whose result nobody reads.
inline bool reads_value(const Op& op) {
  return op.dst != kNoSlot || op.elements != 1 || op.as<MemoryFields>().has(kAcquire);
}
// membar and fence, by some lanes of a warp. `sides`: kAcquire, kRelease, both or neither.
void fence(Warp& w, check::Scope scope, LaneMask lanes, std::uint32_t sides = kAcquire | kRelease);
// After an access with .release or .acquire; what it releases and acquires, the search for races
// has recorded.
void released(Warp& w);
void acquired(Warp& w);
// The warp has accessed a matrix together: see BlockOrder::accessed_as_one.
void accessed_as_one(Warp& w);
// What `lanes` of a warp release now, for an mbarrier object. released() must follow.
void release_to(Warp& w, LaneMask lanes, Mbarrier& object);
// The same of lanes whose arrival is relaxed: what they have fenced.
void leave_fenced(Warp& w, LaneMask lanes, Mbarrier& object);
// `lanes` have found that a phase of the object is complete.
void acquire_from(Warp& w, LaneMask lanes, const Mbarrier& object);
void remember_from(Warp& w, LaneMask lanes, const Block& owner, std::uint32_t offset,
                   const Mbarrier& object);
// A barrier of the block released its warps, or some of them. `knows_more`: the barrier ordered the
// block after other blocks, as a barrier of the grid does. Then the block's turn ends. If the block
// ran on to the next such barrier, the order of turns alone would order others after its work. A
// missing barrier would go unseen.
void passed_barrier(Block& b, bool knows_more);

inline check::Side side_of(Warp& w, const Op& op, std::uint32_t pc, bool write, bool strong) {
  Block& b = *w.block;
  return {.order = &b.races,
          .block = b.serial,
          .warp = w.index,
          .pc = pc,
          .strong = strong,
          .write = write,
          .scope = static_cast<check::Scope>(op.scope)};
}

}  // namespace lockstep::engine
