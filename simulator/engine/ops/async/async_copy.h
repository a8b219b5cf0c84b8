// Asynchronous copies from global to shared memory and between them: PTX ISA 9.7.9.25 (cp.async,
// cp.async.bulk and their groups).
//
// A copy starts when it is issued: its source must be complete and its destination free by then. It
// ends when a thread that may wait for it has waited. An access to the destination in between is a
// finding. For bulk copies to global memory there are two more findings: a change of the source
// before that wait, and a source that was written without a fence.proxy.async (monitor/proxies.h).
// Changes of a source in global memory are not detected.
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

// Call before a warp's last lanes exit. The sources of its bulk copies to global memory that it has
// not waited for must be unchanged.
void check_sources_at_exit(Warp& w);

void run_discard(Warp& w, const Op& op, LaneMask mask);

// applypriority, cp.async.bulk.prefetch: hints about global memory at src[0] + immediate. They read
// nothing. The address, and the number of bytes in src[1] if present, must be multiples of `width`.
void run_line_hint(Warp& w, const Op& op, LaneMask mask);

// Shared by all kinds of copies.
inline constexpr std::uint32_t kBulkChunk = 16;  // the unit of bulk copies
std::uint64_t address_of(const Warp& w, const AddressOperand& a, int lane);
// Sends bytes to shared memory whose place has been checked. They arrive with the phase of an
// mbarrier, on which they complete `bytes`. `target`: what side() returns for the operation.
// `of_pair`: the object may be in the shared memory of the other block of a pair (.cta_group::2).
void send_delivery(Warp& w, const Op& target, int lane, const SharedPlace& place,
                   std::uint32_t barrier, Delivery& delivery, std::uint32_t bytes,
                   bool of_pair = false);
// Checks that the source of a bulk copy is unchanged now that warp `w` has waited for it: the copy
// may have read it at any time until now. `offset`: in the issuing block's shared memory. Returns
// false if a finding ends the launch.
bool check_source(Warp& w, const Warp& issuer, const Issue& issue, std::uint32_t offset,
                  const std::vector<std::byte>& bytes, const std::vector<bool>& absent,
                  const char* advice);
// A substitute operation for one side of a copy, as resolve() needs it.
Op side(const Op& op, isa::Space space);
// The never-written bytes among a lane's `size` bytes at `address`, at most 16: one bit each.
// `whole`: the access to all of them.
std::uint16_t unwritten_bytes(Warp& w, const Request& whole, isa::Space space, int lane,
                              std::uint64_t address, std::uint32_t size);
// Always returns false, for use in `return`.
bool report_misaligned_copy(Warp& w, std::uint32_t pc, LaneMask lanes, std::uint64_t address,
                            std::uint32_t size);

}  // namespace lockstep::engine
