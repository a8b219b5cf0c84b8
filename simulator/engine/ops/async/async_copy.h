// Asynchronous copies from global to shared memory and between them: PTX ISA 9.7.9.25 (cp.async,
// cp.async.bulk and their groups).
//
// A copy begins when it is issued: its source must be whole and its destination free by then. It
// ends when a thread that may wait for it has waited. An access of the destination in between is a
// finding. For bulk copies to global memory these are findings, too: a change of the source before
// that wait, and a source that was written without a fence.proxy.async (monitor/proxies.h). Changes
// of a source in global memory are not found.
#pragma once

#include "simulator/engine/state/block.h"
#include "simulator/engine/state/request.h"
#include "simulator/engine/state/shared_place.h"
#include "simulator/program/copies.h"

namespace lockstep::engine {

using program::AddressOperand;
using program::BulkCopy;
using program::CopyMode;

void run_copy_async(Warp& w, const Op& op, LaneMask mask);
void run_copy_commit(Warp& w, const Op& op, LaneMask mask);
void run_copy_wait(Warp& w, const Op& op, LaneMask mask);
void run_copy_arrive(Warp& w, const Op& op, LaneMask mask);

void run_try_cancel(Warp& w, const Op& op, LaneMask mask);   // clusterlaunchcontrol.try_cancel
void run_bulk_store(Warp& w, const Op& op, LaneMask mask);   // st.bulk
void run_async_store(Warp& w, const Op& op, LaneMask mask);  // st.async, red.async
void run_bulk_copy(Warp& w, const Op& op, LaneMask mask);
void run_bulk_commit(Warp& w, const Op& op, LaneMask mask);
void run_bulk_wait(Warp& w, const Op& op, LaneMask mask);

// Before a warp's last lanes exit: what bulk copies to global memory read that it has not waited
// for must still be there.
void check_sources_at_exit(Warp& w);

void run_discard(Warp& w, const Op& op, LaneMask mask);

// applypriority, cp.async.bulk.prefetch: hints about global memory at src[0] + immediate. They read
// nothing. The address, and src[1], the number of bytes where there is one, must be multiples of
// `width`.
void run_line_hint(Warp& w, const Op& op, LaneMask mask);

// What all kinds share.
inline constexpr std::uint32_t kBulkChunk = 16;  // what bulk copies are made of
std::uint64_t address_of(const Warp& w, const AddressOperand& a, int lane);
// Bytes for shared memory, whose place has been checked: they come with the phase of an mbarrier,
// on which they complete `bytes`. `target`: what side() makes of the operation. `of_pair`: the
// object may be in the shared memory of the other block of a pair (.cta_group::2).
void send_delivery(Warp& w, const Op& target, int lane, const SharedPlace& place,
                   std::uint32_t barrier, Delivery& delivery, std::uint32_t bytes,
                   bool of_pair = false);
// The source of a bulk copy, `offset` from the start of the issuing block's shared memory, must
// still hold what it held: the copy may have read it at any time until now, when warp `w` has
// waited for it. False: a finding ends the launch.
bool check_source(Warp& w, const Warp& issuer, const Issue& issue, std::uint32_t offset,
                  const std::vector<std::byte>& bytes, const std::vector<bool>& absent,
                  const char* advice);
// An operation that stands for one side of a copy: what resolve() asks of it.
Op side(const Op& op, isa::Space space);
// Which of a lane's `size` bytes at `address`, 16 at most, were never written: one bit a byte.
// `whole`: the access to all of them.
std::uint16_t unwritten_bytes(Warp& w, const Request& whole, isa::Space space, int lane,
                              std::uint64_t address, std::uint32_t size);
// Always false, for `return`.
bool report_misaligned_copy(Warp& w, std::uint32_t pc, LaneMask lanes, std::uint64_t address,
                            std::uint32_t size);

}  // namespace lockstep::engine
