// The searches for races, as the handlers of memory operations and of what orders threads call them.
#pragma once

#include "simulator/engine/memory/memory_ops.h"
#include "simulator/engine/schedule/block.h"

namespace lockstep::engine {

// Record the accesses of `lanes` and report those that race. False: a finding ends the launch. Addresses are as resolve_*() leaves them.
bool check_shared_races(Warp& w, Request& r, LaneMask lanes);
// Shared memory of `owner`, the warp's own block or another of its cluster, in a launch of clusters.
bool check_cluster_races(Warp& w, Request& r, Block& owner, LaneMask lanes);
bool check_global_races(Warp& w, Request& r, LaneMask lanes);
// The last write to a byte of the shared memory of a block of the cluster that has been written to.
check::Access last_write_to_shared(Warp& w, const Block& owner, std::uint32_t offset);

// Release and acquire patterns between blocks. A strong write leaves at its addresses what its block has published: to be called before memory
// changes. A strong read finds it: to be called after memory has been read. `addresses` are the operation's own, not resolved.
void before_strong_write(Warp& w, const Op& op, const std::uint64_t* addresses, LaneMask lanes);
void after_strong_read(Warp& w, const Op& op, const std::uint64_t* addresses, LaneMask lanes);
// Whether the thread of an atomic learns what was there: red tells it nothing and acquires nothing (PTX ISA 8.8, 8.11.1), nor does an atom whose
// result nobody reads.
inline bool reads_value(const Op& op) { return op.dst != kNoSlot || op.elements != 1 || (op.flags & kAcquire) != 0; }
// membar and fence, by some lanes of a warp.
void fence(Warp& w, check::Scope scope, LaneMask lanes);
// What accesses with .release and .acquire do within the block; between blocks, before_strong_write() and after_strong_read() do it. Who acquires does
// so for all lanes of its warp.
void release(Warp& w, LaneMask lanes);
void acquire(Warp& w);
// The warp has accessed a matrix together: see BlockOrder::accessed_as_one.
void accessed_as_one(Warp& w);
// What `lanes` of a warp have to tell another block, after release().
check::ReleaseClock done_by(const Warp& w, LaneMask lanes);
// Between the blocks of a cluster, at an mbarrier object in the shared memory of one of them. After release() and acquire(). Who waits for a phase finds
// what the arrivals of that phase left and of those before it; not what has been left for the next.
void release_to(Warp& w, LaneMask lanes, const Block& owner, std::uint32_t offset);
void acquire_from(Warp& w, const Block& owner, std::uint32_t offset);
void phase_completed(const Block& owner, std::uint32_t offset);
// A barrier of the block, of all its warps or of some, has let them go on. When it made the block know of others, as a barrier of the grid does, the
// block's turn ends: if it ran on to the next such barrier, the others would be ordered after what it did between the two, although nothing but the
// order of turns made it so, and a barrier missing there would go unseen.
void passed_barrier(Block& b);

inline check::GlobalRaces::Side side_of(const Warp& w, const Op& op, std::uint32_t pc, bool write, bool strong) {
  const Block& b = *w.block;
  return {&b.races, &b.block_clock, b.serial, w.index, pc, strong, write, static_cast<check::Scope>(op.scope), false};
}

}  // namespace lockstep::engine
