// What of wgmma a block has under way (PTX ISA 9.7.15).
//
// A warp computes its 16 rows when it comes to wgmma.mma_async, so that copies of accumulators,
// which nvcc puts where it likes, carry the result. Until a wait the result counts as nobody's:
// using it is a finding, and so is changing what was read in shared memory.
#pragma once

#include <cstddef>
#include <cstdint>
#include <unordered_set>
#include <vector>

#include "simulator/engine/state/vocabulary.h"

namespace lockstep::engine {

// 16 bytes of shared memory that a multiplication has read.
struct MatrixBytes {
  std::uint32_t offset = 0;
  std::byte bytes[16];
};

struct PendingMultiplication {
  std::uint32_t pc = 0;
  std::uint32_t number = 0;   // of all of its warp, in as many bits as a mark has
  std::uint32_t group = ~0u;  // ~0: not committed
  std::vector<MatrixBytes> read;
  std::uint32_t index = 0;  // of all of its warp
  bool done = false;        // some warp of the group has waited for it
};

struct WarpgroupWarp {
  std::vector<PendingMultiplication> pending;
  std::uint32_t issued = 0;            // multiplications so far
  std::uint32_t register_changes = 0;  // setmaxnreg so far
  std::uint32_t groups = 0;            // committed
  bool fenced = false;                 // since the kernel began
  // Digests of the values that registers held at the last wgmma.fence, and of the results since
  // with their shape.
  std::unordered_set<std::uint64_t> ordered;
};

struct WarpgroupState {
  WarpgroupWarp warps[32];
  // Of each warpgroup, its multiplications in order, and its setmaxnreg: all four warps must
  // execute the same.
  std::vector<std::uint32_t> multiplications[8], register_changes[8];
};

}  // namespace lockstep::engine
