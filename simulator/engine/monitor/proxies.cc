#include "simulator/engine/monitor/proxies.h"

#include <algorithm>
#include <bit>
#include <optional>
#include <utility>

#include "simulator/check/region_lock.h"
#include "simulator/engine/monitor/races.h"
#include "simulator/engine/monitor/reports.h"
#include "simulator/engine/state/launch_state.h"
#include "simulator/engine/state/placement.h"
#include "simulator/engine/state/shared_place.h"
#include "simulator/engine/state/worker.h"
#include "simulator/memory/tensor_map.h"
#include "simulator/splitmix64.h"

namespace lockstep::engine {
namespace {

constexpr std::size_t kFencesKept = 16;

// A recorded access, from either search for races.
struct Accessor {
  std::uint32_t thread = 0, pc = 0, epoch = 0, clock = 0;
};

Accessor accessor_of(const check::SharedRaces::Stamp& s) {
  return {s.thread, s.pc, s.epoch, s.clock};
}

std::optional<Accessor> accessor_of(const Block& b, const std::optional<check::LaneAccess>& a) {
  if (!a || a->record.block != b.serial) return std::nullopt;
  return Accessor{a->record.warp * 32u + a->lane, a->record.pc, a->record.epoch, a->record.clock()};
}

// The last write.
std::optional<Accessor> writer_of(const Block& b, std::uint32_t offset) {
  if (b.launch->shared_cells)
    return accessor_of(b, b.worker->races->write_if_any(b.cells[offset >> 2], offset & 3));
  const auto stamp = b.races.stamp_of_write(offset);
  return stamp ? std::optional(accessor_of(*stamp)) : std::nullopt;
}

// Whether writer_of() is the same for both. False if that is not known.
bool is_same_writer(const Block& b, std::uint32_t offset, std::uint32_t other) {
  if (!b.launch->shared_cells) return b.races.is_same_write(offset, other);
  const check::GlobalCell cell = b.cells[offset >> 2];
  return !cell.is_apart() && cell == b.cells[other >> 2];
}

// A read since the last write.
std::optional<Accessor> reader_of(const Block& b, std::uint32_t offset) {
  if (b.launch->shared_cells)
    return accessor_of(b, b.worker->races->read_if_any(b.cells[offset >> 2], offset & 3));
  const auto stamp = b.races.stamp_of_read(offset);
  return stamp ? std::optional(accessor_of(*stamp)) : std::nullopt;
}

bool reads_by_the_generic_proxy(const Op& op) {
  return op.action == Action::kLoad || op.action == Action::kLoadMatrix ||
         op.action == Action::kLoadFragment;
}

// Bytes that a copy wrote were never in the generic proxy.
bool writes_asynchronously(const Op& op) {
  return op.action == Action::kBulkCopy || op.action == Action::kTensorCopy;
}

// Of the lanes of a warp that access at one time: those whose accesses are before the fence.
LaneMask lanes_before(const Accessor& access, const ProxyFence& fence) {
  if (access.epoch != fence.epoch) return access.epoch < fence.epoch ? kAllLanes : 0;
  return fence.known.covered(access.thread >> 5, access.clock);
}

bool is_before(const Accessor& access, const ProxyFence& fence) {
  return (lanes_before(access, fence) >> (access.thread & 31) & 1) != 0;
}

bool is_after(const Block& b, const ProxyFence& fence, std::uint32_t warp, std::uint32_t thread) {
  if (fence.epoch != b.races.epoch() || warp == thread >> 5) return true;
  for (LaneMask lanes = fence.lanes; lanes != 0; lanes &= lanes - 1) {
    if (b.races.ordered(warp * kWarpSize + static_cast<std::uint32_t>(std::countr_zero(lanes)),
                        fence.clock - 1, thread))
      return true;
  }
  return false;
}

// Of the lanes of a warp that access at one time: those with a proxy fence between their accesses
// and what `thread` does now.
LaneMask lanes_fenced(const Block& b, const Accessor& access, std::uint32_t thread) {
  if (!b.async) return 0;
  LaneMask lanes = 0;
  for (std::uint32_t warp = 0; warp < b.warps.size(); ++warp) {
    const AsyncWarp& state = b.async->warps[warp];
    if (state.forgot_proxy_fences) return kAllLanes;
    for (const ProxyFence& f : state.proxy_fences) {
      const LaneMask before = lanes_before(access, f);
      if ((before & ~lanes) != 0 && is_after(b, f, warp, thread)) lanes |= before;
    }
  }
  return lanes;
}

// Whether a proxy fence stands between accesses and what a thread does now. Neighbouring bytes were
// mostly accessed by the lanes of one warp at one time, so that it is asked for once for all.
class Fenced {
 public:
  Fenced(const Block& block, std::uint32_t thread) : block_(block), thread_(thread) {}
  bool operator()(const Accessor& access) {
    if (!any_ || last_.epoch != access.epoch || last_.clock != access.clock ||
        last_.thread >> 5 != access.thread >> 5) {
      any_ = true;
      last_ = access;
      lanes_ = lanes_fenced(block_, access, thread_);
    }
    return (lanes_ >> (access.thread & 31) & 1) != 0;
  }

 private:
  const Block& block_;
  const std::uint32_t thread_;
  bool any_ = false;
  Accessor last_;  // whose lanes those are
  LaneMask lanes_ = 0;
};

bool fenced_by_any(const Block& b) {
  if (!b.async) return false;
  for (std::uint32_t warp = 0; warp < b.warps.size(); ++warp) {
    if (!b.async->warps[warp].proxy_fences.empty()) return true;
  }
  return false;
}

// Whether the owner has executed a proxy fence after the access of one of its own threads.
bool fenced_by_owner(const Block& owner, const Accessor& access) {
  if (!owner.async) return false;
  for (std::uint32_t warp = 0; warp < owner.warps.size(); ++warp) {
    const AsyncWarp& state = owner.async->warps[warp];
    if (state.forgot_proxy_fences) return true;
    for (const ProxyFence& f : state.proxy_fences) {
      if (is_before(access, f)) return true;
    }
  }
  return false;
}

// A number that identifies the last writers of the 128 bytes; 0: nobody wrote them in this launch.
// `write`: one of these writes.
std::uint64_t writers_of(Worker& k, std::uint64_t address, check::LaneAccess& write) {
  std::uint64_t all = 0;
  for (std::uint64_t at = address; at < address + memory::TensorMap::kBytes; at += 4) {
    if (!k.memory->in_window(at)) return 0;
    const check::GlobalCell* cell = check::cell_of(*k.memory, at);
    if (cell == nullptr) return 0;
    const check::RegionLock lock(k.races->parallel(), at, at + 3);
    for (std::uint32_t byte = 0; byte < 4; ++byte) {
      const auto last = k.races->write_if_any(*cell, byte);
      if (!last) continue;
      write = *last;
      const check::AccessRecord& r = last->record;
      all = mixed(all ^ (std::uint64_t{r.block} << 32 | r.epoch)) ^ mixed(at << 2 | byte);
      all =
          mixed(all ^ (std::uint64_t{r.pc} << 32 | r.clock() << 16 | r.warp << 8 | last->lane)) | 1;
    }
  }
  return all;
}

}  // namespace

void note_proxy_fence(Warp& w, LaneMask mask) {
  Block& b = *w.block;
  if (!b.launch->check_races) return;
  ProxyFence f;
  f.known = b.races.clocks_known_to(w.index, mask, mask == w.exists);
  b.races.tick(w.index);
  f.epoch = b.races.epoch();
  f.clock = b.races.clock(w.index);
  f.lanes = mask;
  f.known.raise(w.index, mask, f.clock);
  AsyncWarp& state = async_of(b).warps[w.index];
  if (state.proxy_fences.size() == kFencesKept) {
    state.proxy_fences.erase(state.proxy_fences.begin());
    state.forgot_proxy_fences = true;
  }
  state.proxy_fences.push_back(f);
}

bool check_proxy_fence(Warp& w, std::uint32_t pc, int lane, std::uint32_t address,
                       std::uint32_t size) {
  Block& b = *w.block;
  return rank_named(b, address) != b.cluster_rank ||
         check_proxy_fence(w, pc, lane, b, address & kOffsetMask, size);
}

// The first byte that an ordinary store wrote without a fence before this copy.
std::optional<std::uint32_t> unfenced_byte(Warp& w, int lane, Block& owner, std::uint32_t first,
                                           std::uint32_t size) {
  Block& b = *w.block;
  const bool own = &owner == &b;
  Fenced fenced(b, w.index * kWarpSize + static_cast<std::uint32_t>(lane));
  for (std::uint32_t offset = first; offset < first + size; offset += 4) {
    if (offset != first && is_same_writer(owner, offset, offset - 4)) continue;
    const auto write = writer_of(owner, offset);
    if (!write || writes_asynchronously(b.program->ops[write->pc])) continue;
    if (own ? fenced(*write) : fenced_by_any(b) || fenced_by_owner(owner, *write)) continue;
    return offset;
  }
  return std::nullopt;
}

// The first byte that an ordinary load of the block itself read without a fence since, and that
// load.
std::optional<std::pair<std::uint32_t, Accessor>> byte_read_unfenced(const Warp& w, int lane,
                                                                     std::uint32_t first,
                                                                     std::uint32_t size) {
  const Block& b = *w.block;
  Fenced fenced(b, w.index * kWarpSize + static_cast<std::uint32_t>(lane));
  for (std::uint32_t offset = first; offset < first + size; offset += 4) {
    const auto read = reader_of(b, offset);
    if (read && reads_by_the_generic_proxy(b.program->ops[read->pc]) && !fenced(*read))
      return std::pair(offset, *read);
  }
  return std::nullopt;
}

check::Finding unfenced(Warp& w, std::uint32_t pc, int lane, const Block& owner,
                        std::uint32_t offset, std::uint32_t size, const char* what) {
  check::Finding f = finding_at(w, pc, 1u << lane, check::Kind::kMissingProxyFence);
  f.space = "shared";
  f.access.address = offset;
  f.access.size = size;
  f.where = std::string("an asynchronous copy ") + what +
            " what an ordinary store left, and no fence.proxy.async stands between";
  f.other = last_write_to_shared(w, owner, offset);
  f.detail =
      "fence.proxy.async.shared::cta by the threads that stored, before the barrier that lets the "
      "copy begin, makes the stores visible to it.";
  return f;
}

bool check_proxy_fence(Warp& w, std::uint32_t pc, int lane, Block& owner, std::uint32_t first,
                       std::uint32_t size) {
  if (!w.block->launch->check_races) return true;
  const auto offset = unfenced_byte(w, lane, owner, first, size);
  if (!offset || already_reported(w, check::Kind::kMissingProxyFence, pc)) return true;
  first_time(w, check::Kind::kMissingProxyFence, pc);
  return !report_unless_suppressed(w, unfenced(w, pc, lane, owner, *offset, size, "reads"));
}

std::optional<check::Finding> overwritten_without_fence(Warp& w, std::uint32_t pc, int lane,
                                                        std::uint32_t address, std::uint32_t size) {
  SharedPlace place;
  if (!w.block->launch->check_races || !shared_place(w, isa::Space::kSharedCluster, address, place))
    return std::nullopt;
  if (shared_range(*w.block->launch, place.offset, place.offset + size) == nullptr)
    return std::nullopt;  // the race has been reported
  const auto reported = [&] { return already_reported(w, check::Kind::kMissingProxyFence, pc); };
  if (const auto offset = unfenced_byte(w, lane, *place.block, place.offset, size)) {
    if (reported()) return std::nullopt;
    return unfenced(w, pc, lane, *place.block, *offset, size, "overwrites");
  }
  if (!w.block->launch->strict_proxies || place.block != w.block) return std::nullopt;
  const auto read = byte_read_unfenced(w, lane, place.offset, size);
  if (!read || reported()) return std::nullopt;
  check::Finding f = finding_at(w, pc, 1u << lane, check::Kind::kMissingProxyFence);
  f.space = "shared";
  f.access.address = read->first;
  f.access.size = size;
  f.where =
      "an asynchronous copy overwrites what an ordinary load read, and no fence.proxy.async stands "
      "between";
  f.other = access_to_shared(*w.block, read->second.thread, read->second.pc, read->first, false);
  f.detail =
      "fence.proxy.async.shared::cta by the threads that read, before the barrier that lets the "
      "copy begin, orders the two proxies.";
  return f;
}

bool report_overwritten(Warp& w, std::uint32_t pc, std::optional<check::Finding> finding) {
  if (!finding) return true;
  first_time(w, check::Kind::kMissingProxyFence, pc);
  return !report_unless_suppressed(w, std::move(*finding));
}

void note_tensor_map_fence(Warp& w, std::uint64_t address) {
  Block& b = *w.block;
  if (!b.launch->check_races || b.worker->races == nullptr) return;
  check::LaneAccess write;
  async_of(b).acquired_maps[address] = writers_of(*b.worker, address, write);
}

bool check_tensor_map_fence(Warp& w, std::uint32_t pc, int lane, std::uint64_t address) {
  Block& b = *w.block;
  if (!b.launch->check_races || b.worker->races == nullptr) return true;
  check::LaneAccess write;
  const std::uint64_t writers = writers_of(*b.worker, address, write);
  if (writers == 0) return true;
  if (b.async) {
    const auto acquired = b.async->acquired_maps.find(address);
    if (acquired != b.async->acquired_maps.end() && acquired->second == writers) return true;
  }
  if (already_reported(w, check::Kind::kMissingProxyFence, pc)) return true;
  first_time(w, check::Kind::kMissingProxyFence, pc);
  check::Finding f = finding_at(w, pc, 1u << lane, check::Kind::kMissingProxyFence);
  f.space = "global";
  f.access.address = address;
  f.access.size = memory::TensorMap::kBytes;
  f.where =
      "the tensor map was changed in this launch, and no fence.proxy.tensormap has acquired it "
      "since";
  check::Access other;
  other.site = site_of(*b.program, write.record.pc);
  const auto in_cluster =
      b.launch->clustered ? static_cast<std::uint32_t>(b.launch->config->cluster.count()) : 1u;
  other.block =
      place_of_block(*b.launch, write.record.block / in_cluster, write.record.block % in_cluster);
  other.thread = thread_of(*b.launch, write.record.warp * 32u + write.lane);
  other.address = address;
  other.size = memory::TensorMap::kBytes;
  other.is_write = true;
  f.other = other;
  f.detail =
      "fence.proxy.tensormap::generic.acquire of the map's 128 bytes, by a thread of this block, "
      "before the copy; .release by the thread that changed it.";
  return !report_unless_suppressed(w, std::move(f));
}

}  // namespace lockstep::engine
