#include "simulator/engine/monitor/tensor_order.h"

#include <algorithm>
#include <cstring>
#include <utility>

#include "simulator/engine/monitor/races.h"
#include "simulator/engine/monitor/reports.h"
#include "simulator/engine/state/cluster.h"
#include "simulator/engine/state/launch_state.h"

namespace lockstep::engine {
namespace {

using What = TensorAccess::What;

std::uint32_t warp_of(std::uint32_t thread) { return thread / kWarpSize; }

const char* name_of(What what) {
  switch (what) {
    case What::kLoad: return "tcgen05.ld";
    case What::kStore: return "tcgen05.st";
    case What::kFill: return "tcgen05.cp";
    case What::kShift: return "tcgen05.shift";
    case What::kMultiply: return "tcgen05.mma";
  }
  return "";
}

// Whether `then` is ordered before what `thread` does now.
bool is_before(const Block& b, const TensorStamp& then, std::uint32_t thread) {
  return then.epoch != b.races.epoch() || warp_of(then.thread) == warp_of(thread) ||
         b.races.ordered(then.thread, then.clock, thread);
}

// Whether the last fence::after_thread_sync of the warp of `thread` came after `then`.
bool is_fenced_after(const Block& b, const TensorStamp& then, std::uint32_t thread) {
  const TensorFence& fence = b.tensor->warps[warp_of(thread)].after;
  if (warp_of(then.thread) == warp_of(thread)) return fence.any && fence.at > then.at;
  return fence.any &&
         (then.epoch < fence.epoch ||
          (then.epoch == fence.epoch &&
           fence.known.cover(warp_of(then.thread), then.thread % kWarpSize, then.clock)));
}

// The synchronisation that is missing between two accesses.
struct Missing {
  check::Kind kind = check::Kind::kAsyncOrder;
  const char *what = nullptr, *advice = nullptr;  // nullptr: nothing is missing
};

constexpr const char *kAfter =
                         "tcgen05.fence::after_thread_sync must follow what orders the threads.",
                     *kBefore =
                         "tcgen05.fence::before_thread_sync must stand between the "
                         "tcgen05.wait and what orders the threads.";

Missing after_load_or_store(const Block& b, const TensorAccess& a, std::uint32_t thread) {
  const bool same = warp_of(a.issued.thread) == warp_of(thread), load = a.what == What::kLoad;
  if (!a.waited) {
    if (!same && !is_before(b, a.issued, thread))
      return {check::Kind::kRace, "is not ordered before it", "Nothing orders the two threads."};
    return load ? Missing{check::Kind::kAsyncOrder, "has not been waited for",
                          "tcgen05.wait::ld must come between the two."}
                : Missing{check::Kind::kAsyncOrder, "has not been waited for",
                          "tcgen05.wait::st must come between the two."};
  }
  if (same) return {};
  if (!is_before(b, *a.waited, thread))
    return {check::Kind::kRace, "is not ordered before it", "Nothing orders the two threads."};
  if (!a.fenced || !is_before(b, *a.fenced, thread))
    return {check::Kind::kAsyncOrder, "has no fence::before_thread_sync after it", kBefore};
  if (!is_fenced_after(b, *a.fenced, thread))
    return {check::Kind::kAsyncOrder, "is separated by no fence::after_thread_sync", kAfter};
  return {};
}

Missing after_queued(const Block& b, const TensorAccess& a, std::uint32_t thread) {
  bool known = false;
  const std::vector<TensorCommit>& commits = (a.of_partner ? *partner_of(b) : b).tensor->commits;
  const bool same_warp = !a.of_partner && warp_of(a.issued.thread) == warp_of(thread);
  for (std::size_t n = a.commits; n < commits.size(); ++n) {
    const TensorCommit& commit = commits[n];
    if (commit.thread != a.issued.thread) continue;
    for (const TensorStamp& seen : a.of_partner ? commit.seen_by_partner : commit.seen) {
      if (!is_before(b, seen, thread)) continue;
      if (same_warp || is_fenced_after(b, seen, thread)) return {};
      known = true;
    }
  }
  if (known)
    return {check::Kind::kAsyncOrder, "is separated by no fence::after_thread_sync", kAfter};
  return {check::Kind::kAsyncOrder, "may be under way",
          "tcgen05.commit by the thread that issued it, and a wait for the phase of its mbarrier, "
          "must come between the two."};
}

// Whether an action at `then` of a thread of block `of` is ordered before what `thread` of `b` does
// now.
bool is_before(const Block& b, const Block& of, const TensorStamp& then, std::uint32_t thread) {
  return b.races.ordered_after_block(thread, of.races.block(), then.epoch, warp_of(then.thread),
                                     then.thread % kWarpSize, then.clock);
}

constexpr Missing kUnordered = {check::Kind::kRace, "is not ordered before it",
                                "Nothing orders the two threads."};

// For an access of block `b` itself, and what `thread` of the partner does now.
Missing before_partner(const Block& b, const TensorAccess& a, std::uint32_t thread) {
  const Block& partner = *partner_of(b);
  if (!is_before(partner, b, a.waited ? *a.waited : a.issued, thread)) return kUnordered;
  if (a.is_queued()) return {};
  if (!a.waited)
    return {check::Kind::kAsyncOrder, "has not been waited for",
            a.what == What::kLoad ? "tcgen05.wait::ld must come between the two."
                                  : "tcgen05.wait::st must come between the two."};
  if (!a.fenced || !is_before(partner, b, *a.fenced, thread))
    return {check::Kind::kAsyncOrder, "has no fence::before_thread_sync after it", kBefore};
  if ((a.fenced_for_partner >> warp_of(thread) & 1) == 0)
    return {check::Kind::kAsyncOrder, "is separated by no fence::after_thread_sync", kAfter};
  return {};
}

Missing between(const Block& b, const TensorAccess& a, const TensorAccess& now) {
  const std::uint32_t thread = now.issued.thread;
  if (now.of_partner) {
    if (!a.of_partner) return before_partner(b, a, thread);
    return is_before(*partner_of(b), a.issued, thread) ? Missing{} : kUnordered;
  }
  if (a.of_partner) {
    if (!now.is_queued()) return after_queued(b, a, thread);
    return is_before(b, *partner_of(b), a.issued, thread) ? Missing{} : kUnordered;
  }
  if (!a.is_queued()) {
    // A warp's own accesses of one kind are in order.
    if (a.what == now.what && warp_of(a.issued.thread) == warp_of(thread)) return {};
    return after_load_or_store(b, a, thread);
  }
  if (!now.is_queued()) return after_queued(b, a, thread);
  if (is_before(b, a.issued, thread)) return {};
  return {check::Kind::kRace, "is not ordered before it", "Nothing orders the two threads."};
}

bool report_missing(Warp& w, int lane, const Block& b, const TensorAccess& now,
                    const TensorAccess& a, const Missing& missing, const TensorRegion& region) {
  const std::uint32_t pc = now.pc;
  const Block& issuer = a.of_partner ? *partner_of(b) : b;
  check::Finding f = finding_at(w, pc, 1u << lane, missing.kind);
  f.space = "tensor";
  f.access.address = region.lane << 16 | region.column;
  f.access.size = 4 * region.columns;
  f.access.is_write = now.what != What::kLoad;
  f.where = std::string("the earlier ") + name_of(a.what) + " of the same columns " + missing.what;
  f.detail = missing.advice;
  check::Access other;
  other.site = site_of(*b.program, a.pc);
  other.block = issuer.ctaid;
  other.thread = thread_of(*b.launch, a.issued.thread);
  other.is_write = a.what != What::kLoad;
  other.address = f.access.address;
  other.size = f.access.size;
  f.other = other;
  if (is_known_in_library(*b.launch, f)) {
    if (!known_before(w, missing.kind, pc, ReportedSite::As::kKnown)) {
      first_time(w, missing.kind, pc, ReportedSite::As::kKnown);
      report(w, std::move(f));
    }
    return true;
  }
  if (already_reported(w, missing.kind, pc)) return true;
  first_time(w, missing.kind, pc);
  return !report_unless_suppressed(w, std::move(f));
}

bool check_allocated(Warp& w, int lane, Block& owner, const TensorRegion& region) {
  const TensorMemory& t = tensor_of(owner);
  const char* const whose = &owner == w.block ? "" : " of the other block of the pair";
  for (std::uint32_t c = region.column; c < region.column + region.columns; ++c) {
    if (c < kTensorColumns && (*t.owner)[c] != 0) continue;
    const auto freed = std::find_if(
        t.allocations.rbegin(), t.allocations.rend(),
        [&](const TensorAllocation& a) { return c >= a.first && c < a.first + a.columns; });
    if (freed != t.allocations.rend()) {
      return refuse_tensor(
          w, lane, check::Kind::kUseAfterFree,
          "column " + std::to_string(c) + " of tensor memory" + whose + " has been freed",
          "Its " + std::to_string(freed->columns) + " columns from " +
              std::to_string(freed->first) + " on were allocated at " +
              site_of(*w.block->program, freed->pc).to_string() + ".");
    }
    return refuse_tensor(w, lane, check::Kind::kOutOfBounds,
                         "column " + std::to_string(c) + " of tensor memory" + whose +
                             " is in no allocation of the block",
                         "tcgen05.alloc stores the address of the columns that may be used.");
  }
  return true;
}

// Whether the shared memory is unchanged that the operations before `commit`, by its thread, have
// read.
bool check_operands_kept(Warp& w, Block& b, const TensorCommit& commit) {
  std::vector<TensorOperands>& all = b.tensor->operands;
  bool good = true;
  std::erase_if(all, [&](const TensorOperands& o) {
    const TensorAccess& a = b.tensor->accesses[o.access];
    if (o.access >= commit.accesses || a.issued.thread != commit.thread) return false;
    for (const MatrixBytes& m : o.read) {
      const Block& of = o.of_partner ? *partner_of(b) : b;
      const std::byte* now = of.shared.bytes.get() + m.offset;
      if (!good || std::memcmp(now, m.bytes, sizeof m.bytes) == 0) continue;
      std::uint32_t at = 0;
      while (now[at] == m.bytes[at]) ++at;
      const Warp& issuer = b.warps[warp_of(a.issued.thread)];
      check::Finding f =
          finding_at(issuer, a.pc, 1u << a.issued.thread % kWarpSize, check::Kind::kRace);
      f.space = "shared";
      f.access.address = m.offset + at;
      f.access.size = 1;
      f.where = std::string("what ") + name_of(a.what) +
                " reads has been overwritten before it was known to be complete";
      f.other = last_write_to_shared(w, of, m.offset + at);
      f.detail =
          "The phase of the mbarrier that its tcgen05.commit arrives on shows when shared memory "
          "may be used again.";
      good = !report_unless_suppressed(w, std::move(f));
      break;
    }
    return true;
  });
  return good;
}

}  // namespace

bool refuse_tensor(Warp& w, int lane, check::Kind kind, std::string where, std::string detail) {
  const Launch& launch = *w.block->launch;
  if (kind == check::Kind::kUninitialised ? !launch.check_initialisation : !launch.check_bounds)
    return true;
  if (already_reported(w, kind, w.pc - 1)) return true;
  first_time(w, kind, w.pc - 1);
  check::Finding f = finding_at(w, w.pc - 1, 1u << lane, kind);
  f.space = "tensor";
  f.where = std::move(where);
  f.detail = std::move(detail);
  return !report_unless_suppressed(w, std::move(f));
}

namespace {

// fence::after_thread_sync by a lane: accesses that the other block of its pair has fenced, and
// that the lane is ordered after, are complete for the warp.
void learn_fences_of_partner(Warp& w, int lane) {
  Block* const partner = partner_of(*w.block);
  if (partner == nullptr || !partner->tensor) return;
  const std::uint32_t thread = w.index * kWarpSize + static_cast<std::uint32_t>(lane);
  std::vector<TensorAccess>& accesses = partner->tensor->accesses;
  std::uint32_t& first = w.block->tensor->warps[w.index].known_of_partner;
  bool all = true;
  for (std::uint32_t n = first; n < accesses.size(); ++n) {
    TensorAccess& a = accesses[n];
    const bool counts = !a.of_partner && !a.is_queued();
    if (counts && a.fenced && is_before(*w.block, *partner, *a.fenced, thread))
      a.fenced_for_partner |= 1u << w.index;
    all = all && (!counts || (a.fenced_for_partner >> w.index & 1) != 0);
    if (all) first = n + 1;
  }
}

}  // namespace

TensorStamp tensor_stamp(const Warp& w, int lane) {
  Block& b = *w.block;
  return {w.index * kWarpSize + static_cast<std::uint32_t>(lane), b.races.epoch(),
          b.races.clock(w.index), ++tensor_of(b).events};
}

std::uint32_t begin_tensor_access(Warp& w, int lane, What what, Block& owner) {
  TensorMemory& t = tensor_of(owner);
  TensorAccess a;
  a.what = what;
  a.pc = w.pc - 1;
  a.commits = static_cast<std::uint32_t>(tensor_of(*w.block).commits.size());
  a.of_partner = &owner != w.block;
  a.issued = tensor_stamp(w, lane);
  t.accesses.push_back(a);
  return static_cast<std::uint32_t>(t.accesses.size() - 1);
}

bool access_tensor(Warp& w, int lane, Block& b, std::uint32_t number, const TensorRegion& region,
                   bool writes) {
  if (!check_allocated(w, lane, b, region)) return false;
  TensorMemory& t = *b.tensor;
  if (!b.launch->check_races) return true;
  const TensorAccess& now = t.accesses[number];
  bool good = true;
  std::uint32_t seen[3] = {};  // the last access numbers examined: most cells have the same
  const auto meet = [&](std::uint32_t earlier, std::uint32_t& last) {
    if (!good || earlier == 0 || earlier == last || earlier == number + 1) return;
    last = earlier;
    const TensorAccess& a = t.accesses[earlier - 1];
    const Missing missing = between(b, a, now);
    if (missing.what != nullptr) good = report_missing(w, lane, b, now, a, missing, region);
  };
  region.each_cell(t, [&](const TensorCell& cell) {
    meet(cell.written, seen[0]);
    if (!writes) return;
    meet(cell.loaded, seen[1]);
    meet(cell.fed, seen[2]);
  });
  region.each_cell(t, [&](TensorCell& cell) {
    (writes ? cell.written : now.is_queued() ? cell.fed : cell.loaded) = number + 1;
    // An access ordered after a write is ordered after everything before that write.
    if (writes) cell.loaded = cell.fed = 0;
  });
  return good;
}

void waited_for_tensor(Warp& w, bool loads) {
  TensorMemory& t = tensor_of(*w.block);
  TensorWarp& mine = t.warps[w.index];
  std::vector<std::uint32_t>& list = loads ? mine.loads : mine.stores;
  for (const std::uint32_t number : list) {
    t.accesses[number].waited = tensor_stamp(w, 0);
    mine.unfenced.push_back(number);
  }
  list.clear();
}

void fenced_tensor(Warp& w, int lane, bool before) {
  Block& b = *w.block;
  if (!b.launch->check_races) return;
  TensorWarp& mine = tensor_of(b).warps[w.index];
  if (before) {
    for (const std::uint32_t number : mine.unfenced)
      b.tensor->accesses[number].fenced = tensor_stamp(w, lane);
    mine.unfenced.clear();
    return;
  }
  mine.after.any = true;
  mine.after.epoch = b.races.epoch();
  mine.after.at = ++b.tensor->events;
  mine.after.known = b.races.clocks_known_to(w.index, kAllLanes, true);
  if (b.tensor->paired) learn_fences_of_partner(w, lane);
}

bool learn_tensor_arrivals(Warp& w, int lane, const Mbarrier& object) {
  Block& b = *w.block;
  if (!b.launch->check_races) return true;
  for (const Mbarrier::TensorArrival& arrival : object.tensor_arrivals) {
    if (arrival.phase >= object.state->phase) continue;
    Block& from = b.cluster != nullptr ? *b.cluster->blocks[arrival.rank] : b;
    if (!from.tensor || arrival.commit >= from.tensor->commits.size()) continue;
    TensorCommit& commit = from.tensor->commits[arrival.commit];
    // Only a warp's latest time counts: a fence must follow it.
    std::vector<TensorStamp>& seen = &from == &b ? commit.seen : commit.seen_by_partner;
    const bool known = std::any_of(seen.begin(), seen.end(), [&](const TensorStamp& s) {
      return warp_of(s.thread) == w.index;
    });
    if (!known && (&from == &b || &from == partner_of(b))) seen.push_back(tensor_stamp(w, lane));
    if (!check_operands_kept(w, from, commit)) return false;
  }
  return true;
}

}  // namespace lockstep::engine
