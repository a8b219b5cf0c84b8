// Shared memory of a cluster: which block's memory a lane's address refers to.
//
// The top byte of a 32-bit shared address names a block: 0 is the executing block, r + 2 the block
// of rank r (PTX ISA 9.7.9.24, mapa). So bit 24 is 0 in the address of a block of even rank. A
// program that clears this bit in an address gets the even block of the pair. CUTLASS uses this to
// name the mbarrier object of the pair's first block.
#pragma once

#include <cstdint>

#include "simulator/engine/state/block.h"
#include "simulator/engine/state/launch_state.h"
#include "simulator/isa/opcode.h"

namespace lockstep::engine {

inline constexpr int kRankShift = 24;
inline constexpr std::uint32_t kOffsetMask = (1u << kRankShift) - 1;
inline constexpr std::uint32_t kFirstName = 2;  // of rank 0
// A rank that no cluster has: it is too large to name.
inline constexpr std::uint32_t kNoRank = 0xff - kFirstName;

// The rank that a shared address names, as seen from block `b`: its own if the address names none.
inline std::uint32_t rank_named(const Block& b, std::uint32_t address) {
  const std::uint32_t name = address >> kRankShift;
  return name == 0 ? b.cluster_rank : name - kFirstName;
}
// The address of the same offset in the block of that rank.
inline std::uint32_t named(std::uint32_t rank, std::uint32_t address) {
  return (rank + kFirstName) << kRankShift | (address & kOffsetMask);
}

// shared_place() finds the shared memory of a lane's address, which may belong to another block of
// the cluster. Returns false if there is none.
struct SharedPlace {
  Block* block = nullptr;
  std::uint32_t offset = 0;
};
bool shared_place(Warp& w, isa::Space space, std::uint64_t address, SharedPlace& place);

// The variable that contains [low, end); nullptr if there is none.
inline const Range* shared_range(const Launch& launch, std::uint64_t low, std::uint64_t end) {
  for (const Range& range : launch.shared) {
    if (low >= range.begin && end <= range.end) return &range;
  }
  return nullptr;
}

}  // namespace lockstep::engine
