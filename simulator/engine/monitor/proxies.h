// Checks for missing fences between proxies (PTX ISA 8.4, 9.7.13.4). Bulk and tensor copies read
// shared memory through the async proxy, and tensor maps through a proxy of their own. They need
// not see what ordinary stores wrote unless a fence.proxy is executed in between, even if the
// stores are ordered before the copy.
//
// fence.proxy.async may come before or after the synchronisation that orders the store and the
// copy, so any fence after the store and before the copy counts. Each warp's latest fences are
// kept; if there were more, nothing is reported. Stores by other blocks of a cluster are not
// tracked. An ordinary read of bytes that a copy then overwrites needs only the barrier between
// them, since it already has its value. With strict-proxies it needs a fence, too.
#pragma once

#include <optional>

#include "simulator/engine/state/block.h"

namespace lockstep::engine {

// Call after `mask` has executed a fence.proxy.async of shared memory, or after a
// fence.proxy.tensormap::generic.acquire of the tensor map at an address in global memory.
void note_proxy_fence(Warp& w, LaneMask mask);
void note_tensor_map_fence(Warp& w, std::uint64_t address);

// Call before a copy reads [address, address + size) of the block's own shared memory. Returns
// false if a finding ends the launch.
bool check_proxy_fence(Warp& w, std::uint32_t pc, int lane, std::uint32_t address,
                       std::uint32_t size);
// Call before a reduction changes [offset, offset + size) of the shared memory of a block of the
// cluster. If that is another block and its own threads stored there, any later fence of that block
// or of this one is sufficient: clocks of two blocks are not compared.
bool check_proxy_fence(Warp& w, std::uint32_t pc, int lane, Block& owner, std::uint32_t offset,
                       std::uint32_t size);
// For a copy that writes [address, address + size) of shared memory of any block of the cluster.
// Call overwritten_without_fence() before the write is recorded, and report_overwritten() with its
// result after a race of the two has been reported. report_overwritten() returns false if the
// finding ends the launch.
std::optional<check::Finding> overwritten_without_fence(Warp& w, std::uint32_t pc, int lane,
                                                        std::uint32_t address, std::uint32_t size);
bool report_overwritten(Warp& w, std::uint32_t pc, std::optional<check::Finding> finding);
// Call before a copy uses the tensor map at an address in global memory.
bool check_tensor_map_fence(Warp& w, std::uint32_t pc, int lane, std::uint64_t address);

}  // namespace lockstep::engine
