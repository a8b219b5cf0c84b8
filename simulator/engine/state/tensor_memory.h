// The tensor memory of a block (PTX ISA 9.7.16): its words, the allocation of its columns, queued
// operations, and the accesses so far.
//
// Work that tcgen05.mma and tcgen05.cp issue is executed when nothing else in the block can run, in
// the order of issue, up to the next tcgen05.commit. That is the latest moment that PTX allows. In
// a launch with a schedule seed it is executed at once.
#pragma once

#include <array>
#include <cstdint>
#include <deque>
#include <optional>
#include <utility>
#include <vector>

#include "simulator/check/knowledge.h"
#include "simulator/engine/state/vocabulary.h"
#include "simulator/engine/state/warpgroup_state.h"
#include "simulator/engine/state/watched.h"
#include "simulator/program/tensor_memory.h"

namespace lockstep::engine {

using program::kTensorColumns;
using program::kTensorLanes;

// The time of a thread's action, numbered as in check::BlockOrder.
struct TensorStamp {
  std::uint32_t thread = 0, epoch = 0, clock = 0;
  std::uint64_t at = 0;  // value of TensorMemory::events
};

// The accesses of one instruction to tensor memory.
struct TensorAccess {
  enum class What : std::uint8_t { kLoad, kStore, kFill, kShift, kMultiply };
  What what = What::kLoad;
  std::uint32_t pc = 0;
  std::uint32_t commits = 0;  // commits of the issuer's block before it
  TensorStamp issued;         // threads and times numbered by the issuer's block
  bool of_partner = false;    // issued by the other block of the pair
  // For kLoad and kStore: the tcgen05.wait, and the tcgen05.fence::before_thread_sync after it.
  std::optional<TensorStamp> waited, fenced;
  // For fenced accesses: the warps of the other block of the pair, one bit each, that are ordered
  // after the fence and have executed fence::after_thread_sync since.
  std::uint32_t fenced_for_partner = 0;

  // Whether the tensor unit executes it, in the order of issue.
  bool is_queued() const { return what >= What::kFill; }
};

// 16 lanes of a column: the last access of each kind, as number + 1; 0: none.
struct TensorCell {
  std::uint32_t written = 0;  // by any access
  std::uint32_t loaded = 0;   // by tcgen05.ld
  std::uint32_t fed = 0;      // read by tcgen05.mma
};
inline constexpr std::uint32_t kTensorGroup = 16, kTensorGroups = kTensorLanes / kTensorGroup;

// The work of a tcgen05.mma, cp or shift.
struct TensorWork {
  std::uint32_t access = 0;          // its number
  std::uint32_t partner_access = 0;  // for a pair: its number in the other block
  std::uint32_t warp = 0, lane = 0, pc = 0;
  const program::TensorOperation* of = nullptr;
  std::uint32_t d = 0;         // address in tensor memory
  std::uint64_t a = 0, b = 0;  // descriptors
  std::uint32_t a_tensor = 0, instruction = 0;
  std::uint32_t row_scales = 0, column_scales = 0, metadata = 0;  // addresses in tensor memory
  std::uint64_t zero_columns = 0;
  bool accumulates = false;
  std::uint32_t disabled[8] = {};
};

struct TensorCommit {
  std::uint32_t thread = 0, pc = 0;
  std::uint32_t accesses = 0;  // accesses of the block before it
  // The threads that have found its phase complete, each warp once: of its own block, and of the
  // other block of its pair.
  std::vector<TensorStamp> seen, seen_by_partner;
};

struct TensorQueued {
  std::optional<TensorWork> work;  // nullopt: a commit
  std::uint32_t commit = 0;
  std::vector<std::uint32_t> barriers;  // addresses in the cluster's shared memory
  std::optional<check::Message> message;
  std::uint32_t warp = 0, lane = 0, pc = 0;
};

// The shared memory that an operation has read. It must not change until the operation is known to
// be complete.
struct TensorOperands {
  std::uint32_t access = 0;
  bool of_partner = false;  // in the shared memory of the other block of the pair
  std::vector<MatrixBytes> read;
};

// The latest tcgen05.fence::after_thread_sync of a warp, and what is ordered before it.
struct TensorFence {
  bool any = false;
  std::uint32_t epoch = 0;
  std::uint64_t at = 0;
  check::ThreadClocks known;
};

struct TensorWarp {
  std::vector<std::uint32_t> loads, stores;  // not waited for
  std::vector<std::uint32_t> unfenced;  // waited for, without a fence::before_thread_sync since
  // fence::after_thread_sync need not examine the other block's accesses before this number any
  // more.
  std::uint32_t known_of_partner = 0;
  std::vector<std::uint32_t> marks;  // of registers that `loads` write
  std::uint32_t load_count = 0;
  // Without a schedule seed, stored values are written at the wait: word, value.
  std::vector<std::pair<std::uint32_t, std::uint32_t>> stored;
  TensorFence after;
};

struct TensorAllocation {
  std::uint32_t first = 0, columns = 0, pc = 0, warp = 0;
  bool freed = false;
};

// A tcgen05.alloc by a pair of blocks. It waits for the other block's tcgen05.alloc, and for free
// columns.
struct TensorRequest {
  std::uint32_t columns = 0, pc = 0, warp = 0;
  bool granted = false;
  std::uint32_t first = 0;
};

struct TensorMemory {
  TensorMemory() : written(kTensorLanes * kTensorColumns), cells(kTensorColumns * kTensorGroups) {
    words.reset(std::vector<std::uint32_t>(written.size()));
  }

  Watched<std::vector<std::uint32_t>> words;  // [column][lane]
  std::vector<bool> written;
  std::vector<TensorCell> cells;  // [column][group]
  // By column: the number of its allocation + 1; 0: free.
  Watched<std::array<std::uint16_t, kTensorColumns>> owner;
  std::vector<TensorAllocation> allocations;
  std::optional<std::uint32_t> relinquished;  // pc of relinquish_alloc_permit
  std::optional<TensorRequest> request;
  // pc of the first instruction that determines how many blocks cooperate. All instructions of a
  // kernel must agree.
  std::optional<std::uint32_t> grouped;  // its pc
  bool paired = false;
  std::uint64_t events = 0;  // stamps and fences so far
  std::vector<TensorAccess> accesses;
  std::vector<TensorCommit> commits;
  std::deque<TensorQueued> queue;
  std::vector<TensorOperands> operands;
  TensorWarp warps[32];

  static std::uint32_t word(std::uint32_t lane, std::uint32_t column) {
    return column * kTensorLanes + lane;
  }
  TensorCell& cell(std::uint32_t lane, std::uint32_t column) {
    return cells[column * kTensorGroups + lane / kTensorGroup];
  }
};

// An address in tensor memory: the lane in the upper half, the column in the lower half.
inline std::uint32_t tensor_lane(std::uint32_t address) { return address >> 16; }
inline std::uint32_t tensor_column(std::uint32_t address) { return address & 0xffff; }

}  // namespace lockstep::engine
