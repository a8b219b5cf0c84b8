// Bulk copies that combine what they bring with what is in global memory: cp.reduce.async.bulk and cp.reduce.async.bulk.tensor (PTX ISA 9.7.9.25).
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>

#include "simulator/engine/memory/async_copy.h"

namespace lockstep::engine {

// How an atomic does the same to one element of `type` in global memory; none: no GPU does it.
std::optional<Op> reduction(const Op& op, isa::AtomOp what, isa::Type type);

// Does it to the kBulkChunk bytes at `address`. `unwritten`: of `bytes`, those that nobody wrote, a bit each. `subnormals`: sums of f32 keep them.
// False: a finding ends the launch.
bool reduce_piece(Warp& w, const Op& reduction, std::uint32_t pc, int lane, std::uint64_t address, const std::byte* bytes, std::uint16_t unwritten,
                  bool subnormals);

}  // namespace lockstep::engine
