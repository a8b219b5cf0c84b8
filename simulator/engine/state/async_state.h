// What asynchronous operations of a block have under way: mbarrier objects, and copies whose bytes
// nobody may look at yet.
//
// A copy's source is read, and its destination checked, when the copy is issued. Its bytes come
// into the destination when somebody waits for them; until then they count as never written, so
// that only the slow path of a load has to ask whether a copy is on its way there. An mbarrier
// object likewise counts as never written: no load has any business there.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <map>
#include <vector>

#include "simulator/check/block_order.h"
#include "simulator/check/knowledge.h"
#include "simulator/engine/state/spans.h"
#include "simulator/engine/state/vocabulary.h"
#include "simulator/engine/state/watched.h"
#include "simulator/isa/opcode.h"

namespace lockstep::engine {

// Where something was asked for.
struct Issue {
  std::uint32_t pc = 0;
  std::uint32_t rank = 0;    // of the block in its cluster
  std::uint32_t thread = 0;  // linear in its block
};

// Bytes on their way to the shared memory of a block.
struct Delivery {
  static constexpr std::uint32_t kSameBlock = ~0u;
  Issue issue;
  // The rank of the block where they go, if it is not that of the mbarrier object they come with.
  std::uint32_t to_rank = kSameBlock;
  std::uint32_t offset = 0;
  std::vector<std::byte> bytes;
  std::vector<bool> unwritten;  // bytes whose source was never written; empty: none
  std::vector<bool>
      absent;  // of each 16 bytes, whether they are none of the copy's; empty: all are
  isa::AtomOp reduction =
      isa::AtomOp::kNone;  // how they are combined with what is there; none: they replace it
  isa::Type type = isa::Type::kNone;  // of the elements that are combined
  bool from_shared = false;  // they were copied from the shared memory of the block that issued it:
  std::uint32_t source = 0;  // from there

  bool holds(std::uint64_t at, std::uint64_t size) const {
    return overlap(at, size, offset, bytes.size(), absent);
  }
  // Whether [at, at + size) meets what the copy moves of [begin, begin + length).
  static bool overlap(std::uint64_t at, std::uint64_t size, std::uint64_t begin,
                      std::uint64_t length, const std::vector<bool>& absent) {
    if (at >= begin + length || begin >= at + size) return false;
    if (absent.empty()) return true;
    const std::uint64_t first = at > begin ? at - begin : 0,
                        last = std::min(at + size, begin + length) - 1 - begin;
    for (std::uint64_t piece = first / 16; piece <= last / 16; ++piece) {
      if (!absent[piece]) return true;
    }
    return false;
  }
};

// PTX ISA 9.7.13.15. The object's own eight bytes in shared memory are not used.
struct Mbarrier {
  Issue init;
  struct State {
    bool invalidated = false;    // while threads waited for it, who wait on
    std::uint32_t expected = 0;  // arrivals of a phase
    std::uint32_t pending = 0;   // arrivals that the current phase still waits for
    std::int64_t tx = 0;         // bytes that it still waits for; may be negative for a while
    std::uint32_t phase = 0;     // phases completed
  };
  Watched<State> state;
  struct Arriving {
    std::uint32_t phase = 0;  // with whose completion the bytes are there
    Delivery delivery;
  };
  std::vector<Arriving> arriving;
  check::Messages arrived;    // of arrivals in the current phase
  check::Messages completed;  // of those in the phases before it
  // Arrivals of tcgen05.commit: by which block of the cluster, which of its commits, in which
  // phase.
  struct TensorArrival {
    std::uint32_t rank = 0, commit = 0, phase = 0;
  };
  std::vector<TensorArrival> tensor_arrivals;
};

// One cp.async of a warp. The bytes of a lane come with the completion of the group that the lane
// commits it to.
struct AsyncCopy {
  const Op* op = nullptr;
  std::uint32_t pc = 0;
  std::uint32_t size = 0;
  LaneMask lanes = 0;               // whose bytes are still on their way
  LaneMask committed = 0;           // of these, lanes that have committed it to a group
  std::uint32_t group[kWarpSize];   // which: their groups count from 0
  std::uint32_t offset[kWarpSize];  // destination, in the block's shared memory
  std::byte bytes[kWarpSize][16];
  std::uint16_t unwritten[kWarpSize];  // bit i: byte i of the source was never written
};

// The part of a bulk copy from shared to global memory that matters until its group is waited for:
// its source must not change, and other copies must not store to the same place.
struct BulkStore {
  Issue issue;
  std::uint32_t lane = 0;
  std::uint32_t group = ~0u;  // ~0: not committed
  std::uint32_t offset = 0;
  std::vector<std::byte> bytes;
  std::vector<bool> absent;  // as a Delivery's
  Spans to;                  // in global memory
  bool combines = false;     // it is a reduction
};

// A fence.proxy.async, and what was before it in its epoch.
struct ProxyFence {
  std::uint32_t epoch = 0, clock = 0;
  LaneMask lanes = 0;
  check::ThreadClocks known;
};

struct AsyncWarp {
  std::vector<AsyncCopy> copies;
  std::uint32_t groups[kWarpSize] = {};  // committed by each lane
  std::vector<BulkStore> bulk_stores;
  std::uint32_t bulk_groups[kWarpSize] = {};
  std::vector<ProxyFence> proxy_fences;  // the latest ones
  bool forgot_proxy_fences = false;      // there have been more
};

// Of a block; made by its first asynchronous operation.
struct AsyncState {
  std::map<std::uint32_t, Mbarrier> mbarriers;  // by offset in shared memory
  AsyncWarp warps[32];
  std::map<std::uint64_t, std::uint64_t>
      acquired_maps;  // by address: who had written the tensor map when fence.proxy.tensormap
                      // acquired it
  int stalls =
      0;  // times that nothing but waits for mbarriers was left since the last phase that completed
};

}  // namespace lockstep::engine
