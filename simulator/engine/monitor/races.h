// The interface to the searches for races, for handlers of memory operations and of operations that
// order threads.
#pragma once

#include "simulator/engine/state/async_state.h"
#include "simulator/engine/state/block.h"
#include "simulator/engine/state/request.h"

namespace lockstep::engine {

// Whether the access is strong (PTX ISA 8.2): atomic, volatile, or with .relaxed and stronger.
inline bool is_strong(const Request& r) {
  return r.op->as<MemoryFields>().has(kStrong) || (r.reads && r.writes);
}

// Record the accesses of `lanes` and report races. Addresses must be as resolve_*() leaves them.
// Return false if a finding ends the launch.
bool check_shared_races(Warp& w, Request& r, LaneMask lanes);
// For the shared memory of `owner`, the warp's own block or another of its cluster, in a launch of
// clusters.
bool check_cluster_races(Warp& w, Request& r, Block& owner, LaneMask lanes);
bool check_global_races(Warp& w, Request& r, LaneMask lanes);
// Notes that the host may learn by the access what the launch did, or the launch what the host has
// waited for. check_global_races() includes this.
void note_host_memory(Warp& w, const Request& r, LaneMask lanes);
// Whether the host sees the memory at a global address.
bool host_sees(const Warp& w, std::uint64_t address);
// The last write to a byte of the shared memory of a block of the cluster. There must be one.
check::Access last_write_to_shared(Warp& w, const Block& owner, std::uint32_t offset);
// An access by thread `thread` of `owner` to a byte of that block's shared memory.
check::Access access_to_shared(const Block& owner, std::uint32_t thread, std::uint32_t pc,
                               std::uint32_t offset, bool is_write);

// Call after a strong access has read memory. `addresses`: as the operation has them. With several
// host threads the read may have seen writes that were recorded after the access was.
void after_strong_read(Warp& w, const Op& op, const std::uint64_t* addresses, LaneMask lanes);
// Whether an atomic returns the old value to its thread. red returns nothing and acquires nothing
// (PTX ISA 8.8, 8.11.1). Nor does an atom whose result is unused.
inline bool reads_value(const Op& op) {
  return op.dst != kNoSlot || op.elements != 1 || op.as<MemoryFields>().has(kAcquire);
}
// Executes membar and fence by `lanes`. `sides`: kAcquire, kRelease, both or neither.
void fence(Warp& w, check::Scope scope, LaneMask lanes, std::uint32_t sides = kAcquire | kRelease);
// Call after an access with .release or .acquire. The search for races has recorded what it
// releases and acquires.
void released(Warp& w);
void acquired(Warp& w);
// The warp has accessed a matrix as a whole: see BlockOrder::accessed_as_one.
void accessed_as_one(Warp& w);
// Adds what `lanes` of a warp release now to an mbarrier object. released() must follow.
void release_to(Warp& w, LaneMask lanes, Mbarrier& object);
// As release_to(), for lanes whose arrival is relaxed: adds only what their fences cover.
void leave_fenced(Warp& w, LaneMask lanes, Mbarrier& object);
// Call when `lanes` have found that a phase of the object is complete.
void acquire_from(Warp& w, LaneMask lanes, const Mbarrier& object);
void remember_from(Warp& w, LaneMask lanes, const Block& owner, std::uint32_t offset,
                   const Mbarrier& object);
// Call after a barrier of the block has released some or all of its warps. `knows_more`: the
// barrier ordered the block after other blocks, as a barrier of the grid does. Then the block's
// turn ends. If the block ran on to the next such barrier, the order of turns alone would put other
// blocks after its work, and a missing barrier would go unnoticed.
void passed_barrier(Block& b, bool knows_more);

inline check::Side side_of(Warp& w, const Op& op, std::uint32_t pc, bool write, bool strong) {
  Block& b = *w.block;
  return {.order = &b.races,
          .block = b.serial,
          .warp = w.index,
          .pc = pc,
          .strong = strong,
          .write = write,
          .scope = static_cast<check::Scope>(op.scope),
          .size = op.width};
}

}  // namespace lockstep::engine
