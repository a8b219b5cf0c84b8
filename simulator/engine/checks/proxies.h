// Fences between proxies (PTX ISA 8.4, 9.7.13.4): bulk and tensor copies read shared memory by the asynchronous proxy, and tensor maps by one of their own.
// What ordinary stores left they need not find before a fence.proxy has come between, even where the stores are ordered before the copy.
//
// fence.proxy.async may stand on either side of what orders the two: it is looked for after the store and before the copy. Of each warp the latest
// fences are kept; where there have been more, nothing is said. Copies from global memory are not followed, nor stores by other blocks of a cluster.
#pragma once

#include "simulator/engine/memory/memory_ops.h"
#include "simulator/engine/schedule/block.h"

namespace lockstep::engine {

// fence.proxy.async for shared memory.
void run_proxy_fence(Warp& w, const Op& op, LaneMask mask);
// fence.proxy.tensormap::generic.acquire.
void run_tensor_map_fence(Warp& w, const Op& op, LaneMask mask);

// Before a copy reads [address, address + size) of the block's own shared memory. False: a finding ends the launch.
bool check_proxy_fence(Warp& w, std::uint32_t pc, int lane, std::uint32_t address, std::uint32_t size);
// Before a reduction changes [offset, offset + size) of the shared memory of a block of the cluster. Where that is another block, and its own threads
// stored there, any fence of theirs since, and any fence of this block, will do: clocks of two blocks are not compared.
bool check_proxy_fence(Warp& w, std::uint32_t pc, int lane, Block& owner, std::uint32_t offset, std::uint32_t size);
// Before a copy goes through the tensor map at an address in global memory.
bool check_tensor_map_fence(Warp& w, std::uint32_t pc, int lane, std::uint64_t address);

}  // namespace lockstep::engine
