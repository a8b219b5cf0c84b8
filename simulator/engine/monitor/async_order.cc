#include "simulator/engine/monitor/async_order.h"

#include <bit>

#include "simulator/engine/monitor/reports.h"
#include "simulator/engine/state/cluster.h"
#include "simulator/engine/state/launch_state.h"
#include "simulator/engine/state/worker.h"

namespace lockstep::engine {
namespace {

using isa::Space;

std::string describe_place(const Launch& launch, std::uint32_t offset) {
  for (const Range& range : launch.shared) {
    if (offset >= range.begin && offset < range.end)
      return std::to_string(offset - range.begin) + " bytes into '" + range.name + "'";
  }
  return "at shared address " + std::to_string(offset);
}

check::Finding misuse_of(const Warp& w, std::uint32_t pc, int lane, const SharedPlace& place,
                         const std::string& what, const std::string& detail, const Issue* other) {
  check::Finding f = finding_at(w, pc, 1u << lane, check::Kind::kMbarrierMisuse);
  f.where = "the mbarrier " + describe_place(*w.block->launch, place.offset) + " " + what;
  f.space = "shared";
  f.detail = detail;
  if (other != nullptr) {
    check::Access a;
    a.site = site_of(*w.block->program, other->pc);
    const Block& b =
        place.block->cluster != nullptr ? *place.block->cluster->blocks[other->rank] : *place.block;
    a.block = b.ctaid;
    a.thread = thread_of(*b.launch, other->thread);
    a.is_write = true;
    f.other = a;
  }
  return f;
}

// Unfinished copies to a block that complete with an mbarrier object of the pair's other block.
std::vector<const Mbarrier::Arriving*> coming_with_partner(const Block& b) {
  std::vector<const Mbarrier::Arriving*> all;
  const std::uint32_t partner = b.cluster_rank ^ 1;
  if (b.cluster == nullptr || partner >= b.cluster->blocks.size()) return all;
  const Block& other = *b.cluster->blocks[partner];
  if (!other.async) return all;
  for (const auto& [offset, m] : other.async->mbarriers) {
    for (const Mbarrier::Arriving& a : m.arriving) {
      if (a.delivery.to_rank == b.cluster_rank) all.push_back(&a);
    }
  }
  return all;
}

}  // namespace

std::uint32_t awaited_offset(const Block& b, const Warp& w, const WarpSplit& f, int lane) {
  const Op& op = b.program->ops[f.pc];
  const std::byte* file = (is_constant(op.src[0]) ? w.file[1] : w.control->frames[f.frame].file) +
                          (op.src[0] & ~Slot{1});
  std::uint64_t address = op.as<MemoryFields>().has(kNarrowAddress)
                              ? reinterpret_cast<const std::uint32_t*>(file)[lane]
                              : reinterpret_cast<const std::uint64_t*>(file)[lane];
  address += static_cast<std::uint64_t>(op.immediate);
  if (static_cast<Space>(op.space) == Space::kGeneric) address -= b.launch->shared_window;
  return static_cast<std::uint32_t>(address) & kOffsetMask;
}

void misuse(Warp& w, std::uint32_t pc, int lane, const SharedPlace& place, const std::string& what,
            const std::string& detail, const Issue* other) {
  report(w, misuse_of(w, pc, lane, place, what, detail, other));
}

bool survives_misuse(Warp& w, std::uint32_t pc, int lane, const SharedPlace& place,
                     const std::string& what, const std::string& detail, const Issue* other) {
  if (already_reported(w, check::Kind::kMbarrierMisuse, pc)) return true;
  first_time(w, check::Kind::kMbarrierMisuse, pc);
  return !report_unless_suppressed(w, misuse_of(w, pc, lane, place, what, detail, other));
}

bool follows_copies(const Launch& launch) {
  return launch.check_initialisation && launch.check_races;
}

std::string awaited_mbarrier(const Block& b, const Warp& w, const WarpSplit& f, const char* verb) {
  const std::uint32_t offset = awaited_offset(b, w, f, std::countr_zero(f.mask));
  const auto it = b.async->mbarriers.find(offset);
  std::string s = "the mbarrier " + describe_place(*b.launch, offset) + verb + " for ";
  if (it == b.async->mbarriers.end()) return s + "nothing";
  s += std::to_string(it->second.state->pending) + " of " +
       std::to_string(it->second.state->expected) + " arrivals";
  if (it->second.state->tx != 0) s += " and " + std::to_string(it->second.state->tx) + " bytes";
  return s;
}

std::string describe_mbarrier_wait(const Block& b, const Warp& w, const WarpSplit& f) {
  return awaited_mbarrier(b, w, f, " waits") + " that never come";
}

bool check_not_under_way(Warp& w, const Request& r, Block& target, LaneMask lanes) {
  const std::vector<const Mbarrier::Arriving*> coming = coming_with_partner(target);
  if ((!target.async && coming.empty()) || !follows_copies(*target.launch)) return true;
  const auto overlaps = [](std::uint64_t a, std::uint64_t a_size, std::uint64_t b,
                           std::uint64_t b_size) { return a < b + b_size && b < a + a_size; };
  for (; lanes != 0; lanes &= lanes - 1) {
    const int l = std::countr_zero(lanes);
    const std::uint64_t at = r.address[l];
    const auto in_flight = [&](const Issue& issue, std::uint32_t offset) {
      if (already_reported(w, check::Kind::kRace, r.pc)) return true;
      first_time(w, check::Kind::kRace, r.pc);
      check::Finding f = access_finding(w, r, Space::kShared, 1u << l, check::Kind::kRace);
      f.where = describe_place(*target.launch, static_cast<std::uint32_t>(at)) +
                ", where an asynchronous copy is on its way";
      check::Access a;
      a.site = site_of(*w.block->program, issue.pc);
      const Block& from = target.cluster != nullptr ? *target.cluster->blocks[issue.rank] : target;
      a.block = from.ctaid;
      a.thread = thread_of(*from.launch, issue.thread);
      a.address = offset;
      a.is_write = true;
      f.other = a;
      f.detail =
          "The copy must be waited for first: by its own thread, or through the mbarrier that it "
          "completes on.";
      return !report_unless_suppressed(w, std::move(f));
    };
    for (const Mbarrier::Arriving* a : coming) {
      if (a->delivery.holds(at, r.size) && !in_flight(a->delivery.issue, a->delivery.offset))
        return false;
    }
    if (!target.async) continue;
    for (const auto& [offset, m] : target.async->mbarriers) {
      if (!m.state->invalidated && overlaps(at, r.size, offset, kObjectBytes)) {
        misuse(w, r.pc, l, {&target, offset}, "is accessed as ordinary memory",
               "Only mbarrier operations may touch it until mbarrier.inval.", &m.init);
        return false;
      }
      for (const Mbarrier::Arriving& a : m.arriving) {
        if (a.delivery.to_rank != Delivery::kSameBlock || !a.delivery.holds(at, r.size)) continue;
        if (!in_flight(a.delivery.issue, a.delivery.offset)) return false;
      }
    }
    for (std::uint32_t v = 0; v < target.warps.size(); ++v) {
      for (const AsyncCopy& c : target.async->warps[v].copies) {
        for (LaneMask todo = c.lanes; todo != 0; todo &= todo - 1) {
          const int k = std::countr_zero(todo);
          if (!overlaps(at, r.size, c.offset[k], c.size)) continue;
          if (!in_flight({c.pc, target.cluster_rank, v * kWarpSize + static_cast<std::uint32_t>(k)},
                         c.offset[k]))
            return false;
        }
      }
    }
  }
  return true;
}

}  // namespace lockstep::engine
