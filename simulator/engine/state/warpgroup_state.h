// The unfinished wgmma operations of a block (PTX ISA 9.7.15).
//
// A warp computes its 16 rows when it executes wgmma.mma_async, because nvcc may copy accumulators
// at any point and the copies must hold the result. Until a wait the result counts as undefined:
// using it is a finding, and so is changing the shared memory that was read.
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
  std::uint32_t number = 0;   // counts the warp's multiplications, in as many bits as a mark has
  std::uint32_t group = ~0u;  // ~0: not committed
  std::vector<MatrixBytes> read;
  std::uint32_t index = 0;  // counts the warp's multiplications
  bool done = false;        // some warp of the warpgroup has waited for it
};

struct WarpgroupWarp {
  std::vector<PendingMultiplication> pending;
  std::uint32_t issued = 0;            // multiplications so far
  std::uint32_t register_changes = 0;  // setmaxnreg so far
  std::uint32_t groups = 0;            // groups committed so far
  bool fenced = false;                 // since the kernel began
  // Digests of the register values at the last wgmma.fence, and of the results since then with
  // their shape.
  std::unordered_set<std::uint64_t> ordered;
};

struct WarpgroupState {
  WarpgroupWarp warps[32];
  // By warpgroup: its multiplications in order, and its setmaxnreg. All four warps must execute the
  // same ones.
  std::vector<std::uint32_t> multiplications[8], register_changes[8];
};

}  // namespace lockstep::engine
