// Fences between proxies (PTX ISA 8.4, 9.7.13.4): bulk and tensor copies read shared memory by the
// asynchronous proxy, and tensor maps by one of their own. What ordinary stores left they need not
// find before a fence.proxy has come between, even where the stores are ordered before the copy.
//
// fence.proxy.async may stand on either side of what orders the two: it is looked for after the
// store and before the copy. Of each warp the latest fences are kept; where there have been more,
// nothing is said. Stores by other blocks of a cluster are not followed. An ordinary read of what a
// copy then overwrites is left to the barrier between them, for it has its value; with
// strict-proxies it needs a fence, too.
#pragma once

#include <optional>

#include "simulator/engine/state/block.h"

namespace lockstep::engine {

// After a fence.proxy.async of shared memory by `mask`, and after a
// fence.proxy.tensormap::generic.acquire of the tensor map at an address in global memory.
void note_proxy_fence(Warp& w, LaneMask mask);
void note_tensor_map_fence(Warp& w, std::uint64_t address);

// Before a copy reads [address, address + size) of the block's own shared memory. False: a finding
// ends the launch.
bool check_proxy_fence(Warp& w, std::uint32_t pc, int lane, std::uint32_t address,
                       std::uint32_t size);
// Before a reduction changes [offset, offset + size) of the shared memory of a block of the
// cluster. Where that is another block, and its own threads stored there, any fence of theirs
// since, and any fence of this block, will do: clocks of two blocks are not compared.
bool check_proxy_fence(Warp& w, std::uint32_t pc, int lane, Block& owner, std::uint32_t offset,
                       std::uint32_t size);
// The same of a copy that writes [address, address + size) of shared memory, its own block's or
// another's: the finding, if there is one, is asked for before the write is noted, and reported
// after a race of the two. False: it ends the launch.
std::optional<check::Finding> overwritten_without_fence(Warp& w, std::uint32_t pc, int lane,
                                                        std::uint32_t address, std::uint32_t size);
bool report_overwritten(Warp& w, std::uint32_t pc, std::optional<check::Finding> finding);
// Before a copy goes through the tensor map at an address in global memory.
bool check_tensor_map_fence(Warp& w, std::uint32_t pc, int lane, std::uint64_t address);

}  // namespace lockstep::engine
