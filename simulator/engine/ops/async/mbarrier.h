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
// Completes transactions and, where that was all that was missing, the phase.
void complete_transactions(Warp& w, std::uint32_t pc, int lane, const SharedPlace& place,
                           Mbarrier& m, std::int64_t bytes);
// `count` arrivals, to be checked against what is pending. False: a finding.
bool arrive_at(Warp& w, std::uint32_t pc, int lane, const SharedPlace& place, Mbarrier& m,
               std::uint32_t count);

// Takes away the mark that bytes of a block's shared memory were written.
void forget_written(Block& b, std::uint32_t offset, std::uint32_t bytes);
// Puts bytes where they belong.
void deliver(Block& b, const Delivery& d);
// Nothing else in the block can run: time passes for lanes parked by try_wait, and they may run
// again. False: there are none, or time has passed often enough without any phase completing.
bool advance_virtual_time(Block& b);
}  // namespace lockstep::engine
