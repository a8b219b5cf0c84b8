// Shared memory of a cluster: which block's a lane's address names.
//
// A shared address of 32 bits names a block in its top byte: 0 is the block itself, r + 2 the block
// of rank r (PTX ISA 9.7.9.24, mapa). So bit 24 is 0 in the address of a block of even rank, and
// where a program clears it in an address, that names the even block of the pair: CUTLASS names
// the mbarrier object of the pair's first block so.
#pragma once

#include <cstdint>

#include "simulator/engine/state/block.h"
#include "simulator/engine/state/launch_state.h"
#include "simulator/isa/opcode.h"

namespace lockstep::engine {

inline constexpr int kRankShift = 24;
inline constexpr std::uint32_t kOffsetMask = (1u << kRankShift) - 1;
inline constexpr std::uint32_t kFirstName = 2;  // of rank 0
// A rank that no cluster has, too large to name.
inline constexpr std::uint32_t kNoRank = 0xff - kFirstName;

// The rank that a shared address names, as seen from the block: its own where none is named.
inline std::uint32_t rank_named(const Block& b, std::uint32_t address) {
  const std::uint32_t name = address >> kRankShift;
  return name == 0 ? b.cluster_rank : name - kFirstName;
}
// The address of the same offset in the block of that rank.
inline std::uint32_t named(std::uint32_t rank, std::uint32_t address) {
  return (rank + kFirstName) << kRankShift | (address & kOffsetMask);
}

// The shared memory that a lane's address names, which may be another block's of the cluster.
// False: none.
struct SharedPlace {
  Block* block = nullptr;
  std::uint32_t offset = 0;
};
bool shared_place(Warp& w, isa::Space space, std::uint64_t address, SharedPlace& place);

// The variable that holds [low, end); nullptr when none does.
inline const Range* shared_range(const Launch& launch, std::uint64_t low, std::uint64_t end) {
  for (const Range& range : launch.shared) {
    if (low >= range.begin && end <= range.end) return &range;
  }
  return nullptr;
}

}  // namespace lockstep::engine
