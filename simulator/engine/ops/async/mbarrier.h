// mbarrier objects: PTX ISA 9.7.13.15.
//
// Misuse that PTX leaves undefined is a finding:
// - an object that is used before it is initialised or after it is invalidated;
// - an object that is initialised again, or invalidated while threads wait for it;
// - an object that is overwritten or read as ordinary memory;
// - counts out of range, or more arrivals than a phase expects.
//
// After a second mbarrier.init, or an mbarrier.inval at the wrong time, the kernel can continue as
// on hardware: init stores a new object (SYNCS.EXCH), and inval leaves the bytes as they are
// (SYNCS.CCTL.IV).
//
// try_wait parks its lanes until the phase completes. When nothing else can run, virtual time
// passes and try_wait returns false, as on hardware. If that does not help either, it is a
// deadlock.
#pragma once

#include <string>

#include "simulator/engine/state/async_state.h"
#include "simulator/engine/state/block.h"
#include "simulator/engine/state/launch_state.h"
#include "simulator/engine/state/shared_place.h"
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

// The live object at a place; nullptr after a finding.
Mbarrier* live_mbarrier(Warp& w, std::uint32_t pc, int lane, const SharedPlace& place);
// Completes transactions and, if nothing else is missing, the phase.
void complete_transactions(Warp& w, std::uint32_t pc, int lane, const SharedPlace& place,
                           Mbarrier& m, std::int64_t bytes);
// Counts `count` arrivals, after a check against the pending count. Returns false after a finding.
bool arrive_at(Warp& w, std::uint32_t pc, int lane, const SharedPlace& place, Mbarrier& m,
               std::uint32_t count);

// Marks bytes of a block's shared memory as unwritten.
void forget_written(Block& b, std::uint32_t offset, std::uint32_t bytes);
// Writes the delivered bytes to their destination.
void deliver(Block& b, const Delivery& d);
// Call when nothing else in the block can run. Lets time pass for lanes parked by try_wait, so that
// they may run again. Returns false if there are none, or if time has passed often enough without a
// completed phase.
bool advance_virtual_time(Block& b);
}  // namespace lockstep::engine
