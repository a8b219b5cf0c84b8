// mbarrier objects: PTX ISA 9.7.13.15.
//
// Misuse that PTX leaves undefined is a finding: an object that is used before it is initialised or
// after it is invalidated, initialised again, invalidated while threads wait for it, overwritten or
// read as ordinary memory; counts out of range; more arrivals than a phase expects. After a second
// mbarrier.init and an mbarrier.inval at the wrong time the kernel can go on, as hardware does:
// init stores a new object (SYNCS.EXCH), and inval leaves the bytes as they are (SYNCS.CCTL.IV).
// try_wait parks its lanes until the phase completes. When nothing else is left to run, virtual
// time passes and it answers false, as the hardware's does; when that leads nowhere, it is a
// deadlock.
#pragma once

#include <string>

#include "simulator/engine/launch/launch_state.h"
#include "simulator/engine/memory/async_state.h"
#include "simulator/engine/memory/memory_ops.h"
#include "simulator/engine/schedule/block.h"
#include "simulator/program/synchronisation.h"

namespace lockstep::engine {

using program::kByParity;
using program::kDropped;
using program::kIncomplete;
using program::kWithTx;
using program::MbarrierOp;

inline constexpr std::uint32_t kMaxMbarrier =
    (1u << 20) - 1;  // of arrivals, and of bytes either way

void run_mbarrier(Warp& w, const Op& op, LaneMask mask);
void run_pending_count(Warp& w, const Op& op, LaneMask mask);

// The state of a block's asynchronous operations, made when there is none.
AsyncState& async_of(Block& b);

// The shared memory that a lane's address names, which may be another block's of the cluster.
// False: none.
struct SharedPlace {
  Block* block = nullptr;
  std::uint32_t offset = 0;
};
bool shared_place(Warp& w, isa::Space space, std::uint64_t address, SharedPlace& place);

// The live object at a place; nullptr after a finding.
Mbarrier* live_mbarrier(Warp& w, std::uint32_t pc, int lane, const SharedPlace& place);
// Completes transactions and, where that was all that was missing, the phase.
void complete_transactions(Warp& w, std::uint32_t pc, int lane, const SharedPlace& place,
                           Mbarrier& m, std::int64_t bytes);
// `count` arrivals, to be checked against what is pending. False: a finding.
bool arrive_at(Warp& w, std::uint32_t pc, int lane, const SharedPlace& place, Mbarrier& m,
               std::uint32_t count);

// Whether bytes that count as unwritten are on their way or belong to an mbarrier object. False:
// they were, and a finding says so.
bool check_not_under_way(Warp& w, const Request& r, Block& target, LaneMask lanes);
// Takes away the mark that bytes of a block's shared memory were written.
void forget_written(Block& b, std::uint32_t offset, std::uint32_t bytes);
// Puts bytes where they belong.
void deliver(Block& b, const Delivery& d);
// Whether copies are really on their way: only then is there a mark that loads look at.
bool follows_copies(const Launch& launch);

// Nothing else in the block can run: time passes for lanes parked by try_wait, and they may run
// again. False: there are none, or time has passed often enough without any phase completing.
bool advance_virtual_time(Block& b);
bool waits_for_mbarrier(const Block& b);
// "the mbarrier 16 bytes into 'bar' waits for 3 more arrivals and 512 bytes".
std::string describe_mbarrier_wait(const Block& b, const Warp& w, const WarpSplit& f);

}  // namespace lockstep::engine
