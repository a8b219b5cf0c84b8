// Resolves addresses of shared memory, of the own block and of other blocks of its cluster: bounds,
// written bytes, races, counters.
#include <algorithm>
#include <bit>
#include <cstring>

#include "simulator/engine/access/access.h"
#include "simulator/engine/monitor/async_order.h"
#include "simulator/engine/monitor/counters.h"
#include "simulator/engine/monitor/races.h"
#include "simulator/engine/monitor/reports.h"
#include "simulator/engine/state/cluster.h"
#include "simulator/engine/state/lane_addresses.h"
#include "simulator/engine/state/launch_state.h"
#include "simulator/engine/state/request.h"
#include "simulator/engine/state/shared_place.h"
#include "simulator/engine/state/worker.h"
#include "simulator/engine/state/written_bits.h"

namespace lockstep::engine {
namespace {

using isa::Space;

__attribute__((noinline)) bool resolve_named(Warp& w, Request& r, LaneMask lanes);

// Resolves bytes of the block of `rank`, another block of the cluster.
bool resolve_remote(Warp& w, Request& r, std::uint32_t rank, LaneMask lanes) {
  Block& b = *w.block;
  const auto fails = [&](LaneMask bad, check::Kind kind, std::string where) {
    check::Finding f = access_finding(w, r, Space::kShared, bad, kind);
    f.where = std::move(where);
    report(w, std::move(f));
    return false;
  };
  const std::size_t count = b.cluster == nullptr ? 1 : b.cluster->blocks.size();
  const std::string name =
      rank == kNoRank - 1 ? "the rank asked of mapa" : "rank " + std::to_string(rank);
  if (rank >= count) {
    return fails(lanes, check::Kind::kOutOfBounds,
                 name + " is outside the cluster, which has " + std::to_string(count) +
                     (count == 1 ? " block" : " blocks"));
  }
  if (static_cast<Space>(r.op->space) == Space::kShared) {
    return fails(lanes, check::Kind::kOutOfBounds,
                 "an address in the block of " + name +
                     " of the cluster: without ::cluster, .shared is the block's own");
  }
  Block& target = *b.cluster->blocks[rank];
  if (target.live_warps == 0) {
    return fails(lanes, check::Kind::kUseAfterFree,
                 "the block of " + name + " has left the cluster, and its shared memory with it");
  }
  LaneMask bad = 0;
  each(lanes, [&](int i) {
    bad |= LaneMask{shared_range(*b.launch, r.address[i], r.address[i] + r.size) == nullptr} << i;
  });
  if (bad != 0) {
    const auto address = static_cast<std::uint32_t>(r.address[std::countr_zero(bad)]);
    return fails(bad, check::Kind::kOutOfBounds,
                 describe_range(b.launch->shared, address, r.size) + ", in the block of " + name +
                     " of the cluster");
  }
  auto* shadow = reinterpret_cast<std::uint8_t*>(target.shared.written.get());
  each(lanes, [&](int i) {
    r.host[i] = target.shared.bytes.get() + r.address[i];
    if (!b.launch->check_initialisation) return;
    if (r.reads)
      note_missing(r, i, shadow, r.address[i], target.shared.partly_written, r.address[i]);
    if (r.writes)
      note_written(r, i, shadow, r.address[i], target.shared.partly_written, r.address[i]);
  });
  if (r.reads && (r.unwritten & lanes) != 0 &&
      !check_not_under_way(w, r, target, r.unwritten & lanes))
    return false;
  r.remote |= lanes;
  return !b.launch->shared_cells || check_cluster_races(w, r, target, lanes);
}

// Resolves addresses that name blocks: the lanes of each block separately.
bool resolve_named(Warp& w, Request& r, LaneMask lanes) {
  Request part = r;
  for (LaneMask todo = lanes; todo != 0;) {
    const std::uint32_t rank =
        rank_named(*w.block, static_cast<std::uint32_t>(r.address[std::countr_zero(todo)]));
    LaneMask same = 0;
    each(todo, [&](int i) {
      if (rank_named(*w.block, static_cast<std::uint32_t>(r.address[i])) != rank) return;
      same |= 1u << i;
      part.address[i] = r.address[i] & kOffsetMask;
    });
    if (!(rank == w.block->cluster_rank ? resolve_shared(w, part, same)
                                        : resolve_remote(w, part, rank, same)))
      return false;
    each(same, [&](int i) {
      r.host[i] = part.host[i];
      r.missing[i] = part.missing[i];
    });
    todo &= ~same;
  }
  r.unwritten = part.unwritten;
  r.remote = part.remote;
  r.stored = part.stored;
  return true;
}

}  // namespace

bool resolve_shared(Warp& w, Request& r, LaneMask lanes) {
  Block& b = *w.block;
  const Extent e = extent(r.address, lanes);
  if (e.bits & (r.size - 1)) return report_misaligned(w, r, Space::kShared, lanes);
  if (shared_range(*b.launch, e.low, e.high + r.size) == nullptr) {
    if (e.high >> kRankShift != 0) return resolve_named(w, r, lanes);
    LaneMask bad = 0;
    each(lanes, [&](int i) {
      bad |= LaneMask{shared_range(*b.launch, r.address[i], r.address[i] + r.size) == nullptr} << i;
    });
    if (bad != 0) {
      check::Finding f = access_finding(w, r, Space::kShared, bad, check::Kind::kOutOfBounds);
      f.where =
          describe_range(b.launch->shared, static_cast<std::uint32_t>(f.access.address), r.size);
      report(w, std::move(f));
      return false;
    }
  }
  std::byte* const bytes = b.shared.bytes.get();
  for (int i = 0; i < kWarpSize; ++i) r.host[i] = bytes + static_cast<std::uint32_t>(r.address[i]);
  if (b.launch->check_initialisation) {
    auto* shadow = reinterpret_cast<std::uint8_t*>(b.shared.written.get());
    if (r.reads) {
      r.unwritten |= unwritten_lanes(shadow, e.low, e.high - e.low + r.size, r.size, lanes,
                                     r.missing, [&](int i) { return r.address[i]; });
      refine_unwritten(r, r.unwritten & lanes, b.shared.partly_written,
                       [&](int i) { return r.address[i]; });
    }
    if (r.unwritten != 0 && (b.async || b.cluster != nullptr) &&
        !check_not_under_way(w, r, b, r.unwritten & lanes))
      return false;
    // Bytes that an atomic has read completely are already written.
    if (r.writes && !(r.reads && r.unwritten == 0) &&
        !stays_written(r, shadow, e.low, e.high - e.low + r.size))
      each(lanes, [&](int i) {
        note_written(r, i, shadow, r.address[i], b.shared.partly_written, r.address[i]);
      });
  }
  if (b.launch->search_shared && !(b.launch->shared_cells ? check_cluster_races(w, r, b, lanes)
                                                          : check_shared_races(w, r, lanes)))
    return false;
  if (b.worker->counting) count_shared(b.worker->counters, r.writes, r.address, r.size, lanes);
  return true;
}

}  // namespace lockstep::engine
