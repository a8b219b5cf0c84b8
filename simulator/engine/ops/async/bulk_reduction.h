// Bulk copies that combine what they bring with what is there: cp.reduce.async.bulk and
// cp.reduce.async.bulk.tensor (PTX ISA 9.7.9.25).
//
// In global memory it happens when the copy is issued. In shared memory it happens when somebody
// waits for the phase that the copy completes; until then nobody may look there, other than
// reductions, which may come in any order.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>

#include "simulator/engine/ops/async/async_copy.h"

namespace lockstep::engine {

// How an atomic does the same to one element of `type` in global memory; none: no GPU does it.
std::optional<Op> reduction(const Op& op, isa::AtomOp what, isa::Type type);

// Does it to the kBulkChunk bytes at `address`. `unwritten`: of `bytes`, those that nobody wrote, a
// bit each. `subnormals`: sums of f32 keep them. False: a finding ends the launch.
bool reduce_piece(Warp& w, const Op& reduction, std::uint32_t pc, int lane, std::uint64_t address,
                  const std::byte* bytes, std::uint16_t unwritten, bool subnormals);

// Before a reduction changes the `size` bytes at `address` in shared memory of the cluster: races
// with what other threads do there, with copies on their way that are none, ordinary stores that no
// fence.proxy.async follows. `unwritten`: of these bytes, those that nobody wrote. False: a finding
// ends the launch.
bool check_reduced(Warp& w, const Op& target, std::uint32_t pc, int lane, std::uint32_t address,
                   std::uint16_t& unwritten, std::uint32_t size = kBulkChunk,
                   bool by_async_proxy = true);
// It has been waited for.
void combine(Block& b, const Delivery& d);
// After it came: the bytes that other copies still have under way stay out of sight.
void hide_what_is_under_way(Block& b, const Delivery& arrived);

}  // namespace lockstep::engine
