// The asynchronous operations of a block: mbarrier objects, and copies whose bytes have not arrived
// yet.
//
// When a copy is issued, its source is read and its destination checked. Its bytes are written to
// the destination when a thread waits for them. Until then they count as never written, so only the
// slow path of a load has to check for unfinished copies. The bytes of an mbarrier object also
// count as never written, since no load may read them.
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

// Where an operation was issued.
struct Issue {
  std::uint32_t pc = 0;
  std::uint32_t rank = 0;    // of the block in its cluster
  std::uint32_t thread = 0;  // linear in its block
};

// The bytes of an unfinished copy to the shared memory of a block.
struct Delivery {
  static constexpr std::uint32_t kSameBlock = ~0u;
  Issue issue;
  // The rank of the destination block, if it is not the block of the mbarrier object.
  std::uint32_t to_rank = kSameBlock;
  std::uint32_t offset = 0;
  std::vector<std::byte> bytes;
  std::vector<bool> unwritten;  // bytes whose source was never written; empty: none
  std::vector<bool> absent;  // for each 16 bytes: whether the copy omits them; empty: it omits none
  isa::AtomOp reduction = isa::AtomOp::kNone;  // how the bytes are combined with those at the
                                               // destination; kNone: they replace them
  isa::Type type = isa::Type::kNone;           // of the combined elements
  bool from_shared = false;                    // copied from the issuing block's shared memory
  std::uint32_t source = 0;                    // the offset there

  bool holds(std::uint64_t at, std::uint64_t size) const {
    return overlap(at, size, offset, bytes.size(), absent);
  }
  // Whether [at, at + size) overlaps the bytes of [begin, begin + length) that the copy moves.
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

// An mbarrier object (PTX ISA 9.7.13.15). Its own eight bytes in shared memory are not used.
struct Mbarrier {
  Issue init;
  struct State {
    bool invalidated = false;    // while threads waited for it; they keep waiting
    std::uint32_t expected = 0;  // arrivals of a phase
    std::uint32_t pending = 0;   // arrivals that the current phase still needs
    std::int64_t tx = 0;         // bytes that the phase still needs; may be negative temporarily
    std::uint32_t phase = 0;     // phases completed
  };
  Watched<State> state;
  struct Arriving {
    std::uint32_t phase = 0;  // the phase whose completion delivers the bytes
    Delivery delivery;
  };
  std::vector<Arriving> arriving;
  check::Messages arrived;    // messages of arrivals in the current phase
  check::Messages completed;  // messages of arrivals in earlier phases
  // Arrivals of tcgen05.commit: the block's rank in the cluster, the number of its commit, and the
  // phase.
  struct TensorArrival {
    std::uint32_t rank = 0, commit = 0, phase = 0;
  };
  std::vector<TensorArrival> tensor_arrivals;
};

// One cp.async of a warp. A lane's bytes arrive when the group completes to which the lane commits
// the copy.
struct AsyncCopy {
  const Op* op = nullptr;
  std::uint32_t pc = 0;
  std::uint32_t size = 0;
  LaneMask lanes = 0;               // whose bytes have not arrived
  LaneMask committed = 0;           // lanes of `lanes` that have committed the copy to a group
  std::uint32_t group[kWarpSize];   // the number of that group; each lane counts its groups from 0
  std::uint32_t offset[kWarpSize];  // destination, in the block's shared memory
  std::byte bytes[kWarpSize][16];
  std::uint16_t unwritten[kWarpSize];  // bit i: byte i of the source was never written
};

// What is kept of a bulk copy from shared to global memory until its group is waited for. Its
// source must not change, and other copies must not store to its destination.
struct BulkStore {
  Issue issue;
  std::uint32_t lane = 0;
  std::uint32_t group = ~0u;  // ~0: not committed
  std::uint32_t offset = 0;
  std::vector<std::byte> bytes;
  std::vector<bool> absent;  // as Delivery::absent
  Spans to;                  // the destination in global memory
  bool combines = false;     // it is a reduction
};

// A fence.proxy.async, and what is ordered before it in its epoch.
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
  bool forgot_proxy_fences = false;      // there were more than `proxy_fences`
};

// The asynchronous operations of a block. Created by the first one.
struct AsyncState {
  std::map<std::uint32_t, Mbarrier> mbarriers;  // by offset in shared memory
  AsyncWarp warps[32];
  std::map<std::uint64_t, std::uint64_t>
      acquired_maps;  // by address of a tensor map: its last writer when fence.proxy.tensormap
                      // acquired it
  int stalls = 0;     // how often only waits for mbarriers were left since the last completed phase
};

}  // namespace lockstep::engine
