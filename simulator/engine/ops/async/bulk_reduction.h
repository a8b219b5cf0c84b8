// Bulk copies that combine their bytes with those at the destination: cp.reduce.async.bulk and
// cp.reduce.async.bulk.tensor (PTX ISA 9.7.9.25).
//
// In global memory the reduction is executed when the copy is issued. In shared memory it is
// executed when a thread waits for the phase that the copy completes. Until then only other
// reductions may access the destination; these may be executed in any order.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>

#include "simulator/engine/ops/async/async_copy.h"

namespace lockstep::engine {

// The atomic operation that does the same to one element of `type` in global memory. nullopt if no
// GPU supports the reduction.
std::optional<Op> reduction(const Op& op, isa::AtomOp what, isa::Type type);

// Applies the reduction to the kBulkChunk bytes at `address`. `unwritten`: the uninitialised ones
// of `bytes`, one bit each. `subnormals`: sums of f32 keep them. Returns false if a finding ends
// the launch.
bool reduce_piece(Warp& w, const Op& reduction, std::uint32_t pc, int lane, std::uint64_t address,
                  const std::byte* bytes, std::uint16_t unwritten, bool subnormals);

// Call before a reduction changes `size` bytes at `address` in shared memory of the cluster. Checks
// for races with other threads, for unfinished copies that are no reductions, and for ordinary
// stores without a fence.proxy.async after them. `unwritten`: the never-written bytes among them.
// Returns false if a finding ends the launch.
bool check_reduced(Warp& w, const Op& target, std::uint32_t pc, int lane, std::uint32_t address,
                   std::uint16_t& unwritten, std::uint32_t size = kBulkChunk,
                   bool by_async_proxy = true);
// Executes a reduction that has been waited for.
void combine(Block& b, const Delivery& d);
// Call after a copy arrived: bytes of other unfinished copies stay hidden.
void hide_what_is_under_way(Block& b, const Delivery& arrived);

}  // namespace lockstep::engine
