#include "simulator/check/global_races.h"

#include <algorithm>
#include <cstring>
#include <thread>

namespace lockstep::check {
namespace {

// Regions of the address space share locks by chance; a row of 32 lanes of 16 bytes lies in two regions at most.
constexpr int kRegionShift = 9;
constexpr std::size_t kLocks = 512;
struct alignas(64) RegionLock {
  std::atomic<bool> taken{false};
};
RegionLock locks[kLocks];

std::size_t region(std::uint64_t address) { return (address >> kRegionShift) % kLocks; }

void take(std::atomic<bool>& lock) {
  for (int spins = 0; lock.exchange(true, std::memory_order_acquire);) {
    while (lock.load(std::memory_order_relaxed)) {
      if (++spins > 1000) std::this_thread::yield();
    }
  }
}

}  // namespace

GlobalRaces::Lock::Lock(GlobalRaces& races, std::uint64_t first, std::uint64_t last) {
  if (!races.parallel_) return;
  std::size_t a = region(first), b = region(last);
  if (a > b) std::swap(a, b);  // always in this order
  take(*(held_[0] = &locks[a].taken));
  if (a != b) take(*(held_[1] = &locks[b].taken));
}
GlobalRaces::Lock::~Lock() {
  for (std::atomic<bool>* lock : held_) {
    if (lock != nullptr) lock->store(false, std::memory_order_release);
  }
}

void GlobalRaces::start(memory::DeviceMemory& memory, std::uint32_t cluster, bool parallel, std::uint32_t most) {
  memory_ = &memory;
  cluster_ = cluster;
  parallel_ = parallel;
  grid_.start();
  if (!chunks_) chunks_ = std::make_unique<std::atomic<Record*>[]>(kRecords / kChunk + 1);
  // Every launch begins with most of the numbers ahead of it.
  if (memory.race_records() > kRecords / 4) memory.clear_race_shadow();
  base_ = memory.race_records();
  limit_ = most == 0 ? kRecords : std::min(base_ + most, kRecords);
  exhausted_ = false;
}

std::uint32_t GlobalRaces::record(const Side& side, Memo& memo) {
  const std::uint32_t interval = side.order->interval(), clock = side.order->clock(side.warp);
  Memo::Entry& e = memo.entries_[side.pc % Memo::kSlots];
  if (e.number != 0 && e.record.pc == side.pc && e.record.block == side.block && e.record.warp == side.warp && e.record.interval == interval &&
      e.record.clock == clock) {
    return e.number;
  }
  if (memo.next_ == memo.end_) {
    if (exhausted()) return 0;
    memo.next_ = memory_->race_records().fetch_add(kSetAside);
    memo.end_ = memo.next_ + kSetAside;
    if (memo.end_ > limit_) {
      memory_->race_records().fetch_sub(kSetAside);
      memo.next_ = memo.end_ = 0;
      std::lock_guard lock(grow_);
      if (!exhausted_.exchange(true)) {
        first_unrecorded_ = Record{side.block, interval, side.pc, static_cast<std::uint16_t>(clock), static_cast<std::uint8_t>(side.warp), side.strong,
                                   side.write, side.reach};
      }
      return 0;
    }
  }
  const std::uint32_t number = memo.next_++, i = number - base_;
  std::atomic<Record*>& chunk = chunks_[i / kChunk];
  if (chunk.load(std::memory_order_acquire) == nullptr) {
    std::lock_guard lock(grow_);
    if (chunk.load(std::memory_order_relaxed) == nullptr) {
      owned_.push_back(std::make_unique<Record[]>(kChunk));
      chunk.store(owned_.back().get(), std::memory_order_release);
    }
  }
  Record& r = chunk.load(std::memory_order_relaxed)[i % kChunk];
  r.block = side.block;
  r.interval = interval;
  r.pc = side.pc;
  r.clock = static_cast<std::uint16_t>(clock);
  r.warp = static_cast<std::uint8_t>(side.warp);
  r.strong = side.strong;
  r.write = side.write;
  r.reach = side.reach;
  e.number = number;
  e.record = r;
  return number;
}

bool GlobalRaces::both_strong(const Record& r, const Side& side) const {
  if (!r.strong || !side.strong) return false;
  const Reach needed = r.block == side.block ? Reach::kBlock : r.block / cluster_ == side.block / cluster_ && cluster_ > 1 ? Reach::kCluster : Reach::kGrid;
  return r.reach >= needed && side.reach >= needed;
}

GlobalRaces::Relation GlobalRaces::relate(const Record& r, std::uint32_t lane, bool lane_known, std::uint32_t my_lane, const Side& side) const {
  if (r.block == side.block) {
    if (r.interval != side.order->interval()) return Relation::kOrdered;
    if (r.warp == side.warp) {
      if (!lane_known) return Relation::kOrdered;
      if (lane == my_lane) return Relation::kSelf;
    }
    return side.order->ordered(r.warp * 32u + lane, r.clock, side.warp * 32 + my_lane) ? Relation::kOrdered : Relation::kUnordered;
  }
  if (side.knowledge->empty()) return Relation::kUnordered;
  return side.knowledge->covers(grid_, side.warp, r.block, r.interval, r.warp, r.clock) ? Relation::kOrdered : Relation::kUnordered;
}

bool GlobalRaces::others_race(const Record& r, const Side& side) const {
  // Only where nothing at all can have ordered them: nothing has happened to this warp since the record, and it knows of no other block.
  return r.block == side.block && r.warp == side.warp && r.interval == side.order->interval() && r.clock == side.order->clock(side.warp) &&
         !side.order->partly_ordered(side.warp) && side.knowledge->empty();
}

bool GlobalRaces::check(std::uint32_t h, bool is_write_half, std::uint32_t mask, std::uint32_t lane, const Side& side, Conflict& conflict) const {
  if (!valid(h) || (bytes_of(h) & mask) == 0) return false;
  const Record& r = at(number_of(h));
  if ((!r.write && !side.write) || both_strong(r, side)) return false;
  const bool lane_known = !(is_write_half && r.write && !r.strong && (h & kMany));
  const Relation relation = relate(r, lane_of(h), lane_known, lane, side);
  bool known = true;
  if (relation != Relation::kUnordered) {
    if (!(h & kMany) || !lane_known || relation != Relation::kSelf || !others_race(r, side)) return false;
    known = false;
  }
  conflict = {r, lane_of(h), known};
  return true;
}

bool GlobalRaces::access(RaceCell& cell, std::uint32_t mask, std::uint32_t lane, Access& me, Conflict& conflict) {
  const Side& side = me.side();
  std::uint32_t wr = static_cast<std::uint32_t>(cell >> 32), rd = static_cast<std::uint32_t>(cell);
  const bool found = check(wr, true, mask, lane, side, conflict) || check(rd, false, mask, lane, side, conflict);
  if (!valid(wr)) wr = 0;
  if (!valid(rd)) rd = 0;
  // Whether the half `h` becomes this access.
  const auto becomes_mine = [&](std::uint32_t& h, std::uint32_t keep = 0) {
    if (me.number() != 0) h = half(me.number(), mask, lane) | keep;
  };
  const auto now = [&](const Record& r) {
    return r.block == side.block && r.warp == side.warp && r.interval == side.order->interval() && r.clock == side.order->clock(side.warp);
  };
  if (!side.write) {
    if (rd == 0) {
      becomes_mine(rd);
    } else {
      const Record& r = at(number_of(rd));
      const Relation relation = relate(r, lane_of(rd), true, lane, side);
      if (!(bytes_of(rd) & mask)) {
        // Other bytes of the granule: kept together where one instruction reads them, else the later ones.
        if (now(r) && r.pc == side.pc && !r.write) {
          rd |= mask << kBytesShift | (lane_of(rd) != lane ? kMany : 0);
        } else if (!r.write) {
          becomes_mine(rd);
        }
      } else if (relation == Relation::kOrdered) {
        becomes_mine(rd);
      } else if (relation == Relation::kSelf) {
        if (!(rd & kMany) && (r.write || r.strong != side.strong || !now(r))) becomes_mine(rd);
      } else if (!r.write) {
        // Two readers that nothing orders: one is kept, and that there are more. A weak one says more than a strong one.
        if (r.strong && !side.strong) {
          becomes_mine(rd, kMany);
        } else {
          rd |= kMany;
        }
      }
    }
  } else if (!side.strong) {
    const std::uint32_t before = wr;
    becomes_mine(wr);
    // Other bytes of the granule that the warp wrote at the same time are kept with these.
    if (before != 0 && wr != before && !(bytes_of(before) & mask)) {
      const Record& r = at(number_of(before));
      if (now(r) && !r.strong) wr |= bytes_of(before) << kBytesShift | (lane_of(before) != lane ? kMany : before & kMany);
    }
    if ((bytes_of(rd) & ~mask) == 0) rd = 0;
  } else if (wr == 0) {
    becomes_mine(wr);
  } else {
    const Record& r = at(number_of(wr));
    if (r.strong) {
      if (r.block != side.block) {
        wr |= kMany;
      } else if (!(wr & kMany)) {
        becomes_mine(wr);
      }
    } else if (!(now(r) && lane_of(wr) == lane && !(wr & kMany))) {
      // The weak write stays: a later strong write may race with it, and not with this one. A read that could still race stays, too.
      if (rd == 0 || at(number_of(rd)).write || relate(at(number_of(rd)), lane_of(rd), true, lane, side) != Relation::kUnordered) becomes_mine(rd);
    }
  }
  const RaceCell after = RaceCell{wr} << 32 | rd;
  if (after != cell) cell = after;
  return found;
}

bool GlobalRaces::of_warp(std::uint32_t h, const Side& side) const {
  return valid(h) && at(number_of(h)).block == side.block && at(number_of(h)).warp == side.warp;
}

template <std::uint32_t kWidth>
bool GlobalRaces::row_of(RaceCell* __restrict cells, std::uint32_t lane, std::uint32_t count, Access& me) {
  const std::uint32_t n = kWidth * count;
  // Nothing of this launch: the common case.
  const std::uint32_t base = base_ << kNumberShift;
  std::uint32_t known = 0;
  for (std::uint32_t i = 0; i < n; ++i) {
    const std::uint32_t wr = static_cast<std::uint32_t>(cells[i] >> 32), rd = static_cast<std::uint32_t>(cells[i]);
    known |= (wr >= base) | (rd >= base);
  }
  if (!known) {
    if (me.number() == 0) return true;
    const std::uint32_t mine = half(me.number(), 15, lane);
    const int shift = me.side().write ? 32 : 0;
    for (std::uint32_t i = 0; i < n; ++i) cells[i] = RaceCell{mine + (i / kWidth << kLaneShift)} << shift;
    return true;
  }
  // All alike, but for the lane: what holds of the first holds of all. Not where other lanes of this very warp were here.
  const RaceCell first = cells[0];
  const std::uint32_t first_wr = static_cast<std::uint32_t>(first >> 32), first_rd = static_cast<std::uint32_t>(first);
  const bool has_wr = valid(first_wr), has_rd = valid(first_rd);
  const auto shifted = [&](std::uint32_t h) { return lane_of(h) != lane && of_warp(h, me.side()); };
  if (shifted(first_wr) || shifted(first_rd)) return false;
  const RaceCell step = (has_wr ? RaceCell{1} << (32 + kLaneShift) : 0) | (has_rd ? RaceCell{1} << kLaneShift : 0);
  RaceCell differ = 0;
  for (std::uint32_t i = 0; i < n; ++i) differ |= cells[i] ^ (first + (i / kWidth) * step);
  if (differ != 0) return false;
  RaceCell changed = first;
  Conflict conflict;
  if (access(changed, 15, lane, me, conflict)) return false;
  if (changed == first) return true;
  const RaceCell new_step = ((changed >> 32) != 0 ? RaceCell{1} << (32 + kLaneShift) : 0) |
                            (static_cast<std::uint32_t>(changed) != 0 ? RaceCell{1} << kLaneShift : 0);
  for (std::uint32_t i = 0; i < n; ++i) cells[i] = changed + (i / kWidth) * new_step;
  return true;
}

bool GlobalRaces::row(RaceCell* cells, std::uint32_t width, std::uint32_t lane, std::uint32_t count, Access& me) {
  switch (width) {
    case 1: return row_of<1>(cells, lane, count, me);
    case 2: return row_of<2>(cells, lane, count, me);
    default: return row_of<4>(cells, lane, count, me);
  }
}

bool GlobalRaces::together(RaceCell* cells, std::uint32_t width, std::uint32_t lane, std::uint32_t last, Access& me) {
  RaceCell after[4];
  Conflict conflict;
  const auto between = [&](std::uint32_t h) { return lane_of(h) > lane && lane_of(h) < last && of_warp(h, me.side()); };
  for (std::uint32_t i = 0; i < width; ++i) {
    after[i] = cells[i];
    // What two lanes of an instruction leave behind, the lanes between them do not change; and who races with one of these races with the first
    // or with the last. Unless one of them was here before.
    if (between(static_cast<std::uint32_t>(cells[i] >> 32)) || between(static_cast<std::uint32_t>(cells[i]))) return false;
    if (access(after[i], 15, lane, me, conflict) || (last != lane && access(after[i], 15, last, me, conflict))) return false;
  }
  for (std::uint32_t i = 0; i < width; ++i) cells[i] = after[i];
  return true;
}

}  // namespace lockstep::check
