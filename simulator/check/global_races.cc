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

void GlobalRaces::Lock::take(std::uint64_t first, std::uint64_t last) {
  std::size_t a = region(first), b = region(last);
  if (a > b) std::swap(a, b);  // always in this order
  check::take(*(held_[0] = &locks[a].taken));
  if (a != b) check::take(*(held_[1] = &locks[b].taken));
}
void GlobalRaces::Lock::give_back() {
  for (std::atomic<bool>* lock : held_) {
    if (lock != nullptr) lock->store(false, std::memory_order_release);
  }
}

void GlobalRaces::start(memory::DeviceMemory& memory, std::uint32_t cluster, bool parallel, std::uint32_t most) {
  memory_ = &memory;
  cluster_ = cluster;
  parallel_ = parallel;
  grid_.start();
  if (!chunks_) {
    chunks_ = std::make_unique<std::atomic<Numbered*>[]>(kRecords / kChunk + 1);
    splits_ = std::make_unique<std::atomic<Split*>[]>(kSplits / kChunk);
  }
  split_count_ = 0;
  // Every launch begins with most of the numbers ahead of it.
  if (memory.race_records() > kRecords / 4) memory.clear_race_shadow();
  base_ = memory.race_records();
  limit_ = most == 0 ? kRecords : std::min(base_ + most, kRecords);
  split_limit_ = most == 0 ? kSplits : std::min(most, kSplits);
  exhausted_ = false;
}

bool GlobalRaces::is_recorded_in(RaceCell cell, std::uint32_t bytes, bool writes, std::uint32_t first, std::uint32_t end) const {
  // When the numbers began anew since, what has them now are records of this launch.
  if (end > base_) return false;
  const auto is_in = [&](std::uint32_t half) { return number_of(half) >= first && number_of(half) < end && (kMaskOf[bytes_of(half)] & bytes) != 0; };
  return !is_split(cell) && (is_in(static_cast<std::uint32_t>(cell >> 32)) || (writes && is_in(static_cast<std::uint32_t>(cell))));
}

GlobalRaces::Record GlobalRaces::record_of(const Side& side) {
  return Record{side.block,  side.order->epoch(), side.pc,   static_cast<std::uint16_t>(side.order->clock(side.warp)), static_cast<std::uint8_t>(side.warp),
                side.strong, side.write,          side.scope};
}

template <class T>
T& GlobalRaces::at_grown(std::unique_ptr<std::atomic<T*>[]>& chunks, std::vector<std::unique_ptr<T[]>>& owned, std::uint32_t i) {
  std::atomic<T*>& chunk = chunks[i / kChunk];
  if (chunk.load(std::memory_order_acquire) == nullptr) {
    std::lock_guard lock(grow_);
    if (chunk.load(std::memory_order_relaxed) == nullptr) {
      owned.push_back(std::make_unique_for_overwrite<T[]>(kChunk));
      chunk.store(owned.back().get(), std::memory_order_release);
    }
  }
  return chunk.load(std::memory_order_relaxed)[i % kChunk];
}

std::uint32_t GlobalRaces::record(const Side& side, Memo& memo) {
  const Record r = record_of(side);
  Memo::Entry& e = memo.entries_[side.pc % Memo::kSlots];
  if (e.number != 0 && e.record == r) return e.number;
  const std::uint32_t number = add(r, memo);
  if (number != 0) e = {number, r};
  return number;
}

std::uint32_t GlobalRaces::add(const Record& r, Memo& memo) {
  if (memo.next_ == memo.end_) {
    if (exhausted()) return 0;
    memo.next_ = memory_->race_records().fetch_add(kSetAside);
    memo.end_ = memo.next_ + kSetAside;
    if (memo.end_ > limit_) {
      memory_->race_records().fetch_sub(kSetAside);
      memo.next_ = memo.end_ = 0;
      note_exhausted(r);
      return 0;
    }
  }
  const std::uint32_t number = memo.next_++;
  Numbered& n = at_grown(chunks_, owned_, number - base_);
  n.record = r;
  n.second.store(0, std::memory_order_relaxed);
  return number;
}

void GlobalRaces::note_exhausted(const Record& r) {
  std::lock_guard lock(grow_);
  if (!exhausted_.exchange(true)) first_unrecorded_ = r;
}

void GlobalRaces::tell_also(std::uint32_t& h, std::uint32_t number, std::uint32_t lane, Access& me) const {
  h &= ~kMany;
  if (number == 0) return;
  const std::uint32_t second = number << kSecondShift | ((lane - lane_of(h)) & 31);
  std::uint32_t none = second_of(number_of(h)).load(std::memory_order_relaxed);
  if (none != second && (none != 0 || (!second_of(number_of(h)).compare_exchange_strong(none, second, std::memory_order_relaxed) && none != second))) {
    // Elsewhere this record has another second one.
    Memo::Pair& pair = me.memo_.pairs_[(number_of(h) ^ second) % Memo::kSlots];
    if (pair.number != number_of(h) || pair.second != second) {
      const std::uint32_t both = me.races_.add(at(number_of(h)), me.memo_);
      if (both == 0) return;
      second_of(both).store(second, std::memory_order_relaxed);
      pair = {number_of(h), second, both};
    }
    h = (h & ((1u << kNumberShift) - 1)) | pair.both << kNumberShift;
  }
  h |= kMany;
}

GlobalRaces::Conflict GlobalRaces::last_write(RaceCell cell, std::uint32_t byte) const {
  if (is_split(cell)) cell = split_of(cell).byte[byte];
  const auto wr = static_cast<std::uint32_t>(cell >> 32), rd = static_cast<std::uint32_t>(cell);
  // A strong write behind a weak one stands in the other half.
  const std::uint32_t last = valid(rd) && at(number_of(rd)).write ? rd : wr;
  return {at(number_of(last)), lane_of(last)};
}

std::optional<GlobalRaces::Conflict> GlobalRaces::write_if_any(RaceCell cell, std::uint32_t byte) const {
  if (is_split(cell)) {
    if (!valid(static_cast<std::uint32_t>(cell >> 32))) return std::nullopt;  // of an earlier launch
    cell = split_of(cell).byte[byte];
  }
  const auto wr = static_cast<std::uint32_t>(cell >> 32), rd = static_cast<std::uint32_t>(cell);
  if (valid(rd) && at(number_of(rd)).write) return Conflict{at(number_of(rd)), lane_of(rd)};
  if (valid(wr)) return Conflict{at(number_of(wr)), lane_of(wr)};
  return std::nullopt;
}

bool GlobalRaces::split(RaceCell& cell, Memo& memo) {
  std::uint32_t i;
  if (!memo.joined_.empty()) {
    i = memo.joined_.back();
    memo.joined_.pop_back();
  } else {
    if (memo.next_split_ == memo.end_split_) {
      const std::uint32_t next = split_count_.fetch_add(kSetAside, std::memory_order_relaxed);
      if (next >= split_limit_) {
        split_count_ = split_limit_;  // far from where it would wrap
        cell = 0;
        return false;
      }
      memo.next_split_ = next;
      memo.end_split_ = next + kSetAside;
    }
    i = memo.next_split_++;
    at_grown(splits_, owned_splits_, i);
  }
  // What a half says of some bytes, the cells of these say.
  const auto wr = static_cast<std::uint32_t>(cell >> 32), rd = static_cast<std::uint32_t>(cell);
  const auto of_byte = [](std::uint32_t h, int byte) { return (kMaskOf[bytes_of(h)] >> byte & 1) != 0 ? h | kAllBytes << kBytesShift : 0; };
  cell = RaceCell{base_ << kNumberShift} << 32 | i;
  Split& s = split_of(cell);
  for (int byte = 0; byte < 4; ++byte) s.byte[byte] = RaceCell{of_byte(wr, byte)} << 32 | of_byte(rd, byte);
  return true;
}

bool GlobalRaces::both_strong(const Record& r, const Side& side) const {
  if (!r.strong || !side.strong) return false;
  const Scope needed = r.block == side.block ? Scope::kBlock : r.block / cluster_ == side.block / cluster_ && cluster_ > 1 ? Scope::kCluster : Scope::kGrid;
  return r.scope >= needed && side.scope >= needed;
}

GlobalRaces::Relation GlobalRaces::relate(const Record& r, std::uint32_t lane, std::uint32_t my_lane, const Side& side) const {
  if (r.block == side.block) {
    if (r.epoch != side.order->epoch()) return Relation::kOrdered;
    if (r.warp == side.warp && lane == my_lane) return Relation::kSelf;
    return side.order->ordered(r.warp * 32u + lane, r.clock, side.warp * 32 + my_lane) ? Relation::kOrdered : Relation::kUnordered;
  }
  if (side.block_clock->empty()) return Relation::kUnordered;
  return side.block_clock->happens_before(grid_, side.warp, r.block, r.epoch, r.warp, lane, r.clock) ? Relation::kOrdered : Relation::kUnordered;
}

bool GlobalRaces::now(const Record& r, const Side& side) const {
  return r.block == side.block && r.warp == side.warp && r.epoch == side.order->epoch() && r.clock == side.order->clock(side.warp);
}

bool GlobalRaces::reads_again(std::uint32_t h, std::uint32_t lane, const Side& side) const {
  if (side.strong || side.order->clock(side.warp) == 0) return false;  // then it has the same clock still
  const Conflict s = second(h);
  return s.other_lane == lane && s.other.block == side.block && s.other.warp == side.warp && s.other.epoch == side.order->epoch() &&
         (s.other.strong || s.other.clock != side.order->clock(side.warp));
}

bool GlobalRaces::lanes_apart(std::uint32_t h, const Side& side) const {
  const auto apart = [&](const Record& r) {
    if (r.block == side.block) return r.epoch == side.order->epoch() && side.order->knows_lanes_apart(side.warp, r.warp);
    return !side.block_clock->empty() && side.block_clock->knows_lanes_apart(grid_, side.warp, r.block, r.warp);
  };
  return (!of_warp(h, side) && apart(at(number_of(h)))) || ((h & kMany) && apart(second(h).other));
}

bool GlobalRaces::unordered(std::uint32_t h, std::uint32_t lane, const Side& side, Conflict& conflict) const {
  const Conflict first{at(number_of(h)), lane_of(h)};
  const auto judge = [&](const Conflict& other) { return relate(other.other, other.other_lane, lane, side); };
  switch (judge(first)) {
    case Relation::kUnordered: conflict = first; return true;
    case Relation::kOrdered:
    case Relation::kSelf: break;
  }
  if (!(h & kMany)) return false;
  const Conflict other = second(h);
  if (both_strong(other.other, side) || judge(other) != Relation::kUnordered) return false;
  conflict = other;
  return true;
}

inline __attribute__((always_inline)) bool GlobalRaces::races_with_write(std::uint32_t wr, std::uint32_t rd, std::uint32_t lane, const Side& side,
                                                                         Conflict& conflict) const {
  const Record& w = at(number_of(wr));
  if (both_strong(w, side)) return false;
  Conflict other;
  if (!unordered(wr, lane, side, other)) return false;
  if (w.strong) {
    // What was read of it may have gone unrecorded.
    if ((wr & kSeen) || exhausted()) return false;
    if (rd != 0 && !at(number_of(rd)).write) {
      const Record& r = at(number_of(rd));
      if ((rd & kSeen) || (r.strong && relate(r, lane_of(rd), lane, side) != Relation::kUnordered)) return false;
    }
  }
  conflict = other;
  return true;
}

inline __attribute__((always_inline)) bool GlobalRaces::races_with_read_half(std::uint32_t rd, std::uint32_t lane, const Side& side, Conflict& conflict) const {
  const Record& r = at(number_of(rd));
  if ((!r.write && !side.write) || both_strong(r, side)) return false;
  if (r.write && ((rd & kSeen) || exhausted())) return false;
  return unordered(rd, lane, side, conflict);
}

inline __attribute__((always_inline)) void GlobalRaces::read(std::uint32_t& rd, std::uint32_t bytes, std::uint32_t lane, Access& me) {
  const Side& side = me.side();
  if (rd == 0) return tell(rd, bytes, lane, me);
  const Record& r = at(number_of(rd));
  const Relation relation = relate(r, lane_of(rd), lane, side);
  if (r.write) {
    // A strong write behind a weak one.
    if (relation != Relation::kUnordered) {
      tell(rd, bytes, lane, me);
    } else if (side.strong) {
      rd |= kSeen;
    }
    return;
  }
  const std::uint32_t seen = (rd & kSeen) | (r.strong ? kSeen : 0);
  switch (relation) {
    case Relation::kOrdered: return tell(rd, bytes, lane, me, seen);
    case Relation::kSelf:
      // The same again; or a strong read where a weak one says more.
      if (side.strong ? (rd & kMany) || !r.strong || now(r, side) : !r.strong && now(r, side)) {
        if (side.strong && !r.strong) rd |= kSeen;
      } else {
        // What ordered somebody after the reading before does not order it after this one. The other reader stays.
        const std::uint32_t before = rd;
        tell(rd, bytes, lane, me, seen);
        if ((before & kMany) && rd != before) keep_second(rd, before, me);
      }
      return;
    case Relation::kUnordered:
      // Readers that nothing orders: two are kept. A weak one says more than a strong one.
      if (r.strong && !side.strong) {
        const std::uint32_t before = rd;
        tell(rd, bytes, lane, me, kSeen);
        if (rd != before) tell_also(rd, number_of(before), lane_of(before), me);
        return;
      }
      if (!(rd & kMany) || reads_again(rd, lane, side)) tell_also(rd, me.number(), lane, me);
      if (side.strong) rd |= kSeen;
  }
}

inline __attribute__((always_inline)) void GlobalRaces::follow(std::uint32_t& h, bool seen, std::uint32_t bytes, std::uint32_t lane, Access& me) const {
  const Relation relation = relate(at(number_of(h)), lane_of(h), lane, me.side());
  if (relation == Relation::kUnordered && !me.side().observes && !seen) {
    // Both may race with what comes.
    if (!(h & kMany)) tell_also(h, me.number(), lane, me);
  } else {
    const std::uint32_t before = h;
    tell(h, bytes, lane, me);
    if (relation == Relation::kSelf && !me.side().observes && (before & kMany) && h != before) keep_second(h, before, me);
  }
}

inline __attribute__((always_inline)) void GlobalRaces::write_strongly(std::uint32_t& wr, std::uint32_t& rd, std::uint32_t bytes, std::uint32_t lane,
                                                                       Access& me) {
  const Side& side = me.side();
  const Record* const r = rd == 0 ? nullptr : &at(number_of(rd));
  const bool weak_read = r != nullptr && !r->write && !r->strong;
  if (wr == 0 || at(number_of(wr)).strong) {
    if (wr == 0) {
      tell(wr, bytes, lane, me);
    } else {
      follow(wr, ((wr | rd) & kSeen) != 0 || (r != nullptr && r->strong), bytes, lane, me);
    }
    // What earlier strong reads saw was another value. A weak read may race with a later write.
    rd = weak_read ? rd & ~kSeen : 0;
    return;
  }
  // The weak write stays: a later strong write may race with it, and not with this one. A read that could still race stays, too.
  if (now(at(number_of(wr)), side) && lane_of(wr) == lane) return;
  if (weak_read && ((rd & kMany) || now(*r, side) || relate(*r, lane_of(rd), lane, side) == Relation::kUnordered)) {
    rd &= ~kSeen;
  } else if (r != nullptr && r->write) {
    follow(rd, (rd & kSeen) != 0, bytes, lane, me);
  } else {
    tell(rd, bytes, lane, me);
  }
}

inline __attribute__((always_inline)) bool GlobalRaces::access_all(RaceCell& cell, std::uint32_t bytes, std::uint32_t lane, Access& me, Conflict& conflict) {
  const Side& side = me.side();
  std::uint32_t wr = static_cast<std::uint32_t>(cell >> 32), rd = static_cast<std::uint32_t>(cell);
  const bool found = (wr != 0 && races_with_write(wr, rd, lane, side, conflict)) || (rd != 0 && races_with_read_half(rd, lane, side, conflict));
  if (!side.write) {
    read(rd, bytes, lane, me);
  } else if (side.strong) {
    write_strongly(wr, rd, bytes, lane, me);
  } else if (me.number() != 0) {
    tell(wr, bytes, lane, me);
    rd = 0;
  }
  const RaceCell after = RaceCell{wr} << 32 | rd;
  if (after != cell) cell = after;
  return found;
}

__attribute__((noinline)) bool GlobalRaces::access_bytes(RaceCell& cell, std::uint32_t mask, std::uint32_t lane, Access& me, Conflict& conflict) {
  Split& s = split_of(cell);
  bool found = false;
  // A byte of which is known what is known of the one before it becomes what that one became.
  RaceCell before = 0, after = 0;
  bool any = false;
  for (int byte = 0; byte < 4; ++byte) {
    if (!(mask >> byte & 1)) continue;
    RaceCell& here = s.byte[byte];
    if (any && here == before) {
      here = after;
      continue;
    }
    before = here;
    found |= access_all(here, kAllBytes, lane, me, conflict);
    after = here;
    any = true;
  }
  if (mask == 15 && s.byte[0] == s.byte[1] && s.byte[0] == s.byte[2] && s.byte[0] == s.byte[3]) join(cell, s.byte[0], me.memo_);
  return found;
}

bool GlobalRaces::access(RaceCell& cell, std::uint32_t mask, std::uint32_t lane, Access& me, Conflict& conflict) {
  auto wr = static_cast<std::uint32_t>(cell >> 32), rd = static_cast<std::uint32_t>(cell);
  if (!valid(wr)) {
    if (wr != 0 && bytes_of(wr) == 0) rd = 0;
    wr = 0;
  } else if (bytes_of(wr) == 0) {
    return access_bytes(cell, mask, lane, me, conflict);
  }
  if (!valid(rd)) rd = 0;
  RaceCell known = RaceCell{wr} << 32 | rd;
  const std::uint32_t bytes = kBytesOf[mask];
  if (bytes == 0 || (wr != 0 && bytes_of(wr) != bytes) || (rd != 0 && bytes_of(rd) != bytes)) {
    const bool apart = split(known, me.memo_);
    cell = known;
    if (apart) return access_bytes(cell, mask, lane, me, conflict);
    note_exhausted(record_of(me.side()));
    return false;
  }
  const bool found = access_all(known, bytes, lane, me, conflict);
  if (known != cell) cell = known;
  return found;
}

void GlobalRaces::observe(RaceCell& cell, std::uint32_t lane, const Side& side) {
  const auto seen = [&](RaceCell of) {
    auto wr = static_cast<std::uint32_t>(of >> 32), rd = static_cast<std::uint32_t>(of);
    const auto mark = [&](std::uint32_t& write) {
      const Record& w = at(number_of(write));
      if (w.write && w.strong && relate(w, lane_of(write), lane, side) == Relation::kUnordered) write |= kSeen;
    };
    const bool reads = valid(rd) && !at(number_of(rd)).write;
    // The read itself may stand there.
    if (reads && ((rd & kSeen) || (at(number_of(rd)).strong && relate(at(number_of(rd)), lane_of(rd), lane, side) != Relation::kUnordered))) return of;
    if (valid(wr)) mark(wr);
    if (valid(rd)) mark(rd);
    return RaceCell{wr} << 32 | rd;
  };
  if (!is_split(cell)) {
    cell = seen(cell);
  } else if (valid(static_cast<std::uint32_t>(cell >> 32))) {
    for (RaceCell& byte : split_of(cell).byte) byte = seen(byte);
  }
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
    const std::uint32_t mine = half(me.number(), kAllBytes, lane);
    const int shift = me.side().write ? 32 : 0;
    for (std::uint32_t i = 0; i < n; ++i) cells[i] = RaceCell{mine + (i / kWidth << kLaneShift)} << shift;
    return true;
  }
  // All alike, but for the lane: what holds of the first holds of all. Not where other lanes of this very warp were here.
  const RaceCell first = cells[0];
  const std::uint32_t first_wr = static_cast<std::uint32_t>(first >> 32), first_rd = static_cast<std::uint32_t>(first);
  const bool has_wr = valid(first_wr), has_rd = valid(first_rd);
  // Nor where bytes are told apart, now or in a launch before this one.
  if (is_split(first) || (has_wr && bytes_of(first_wr) != kAllBytes) || (has_rd && bytes_of(first_rd) != kAllBytes)) return false;
  const auto shifted = [&](std::uint32_t h) {
    if (!of_warp(h, me.side())) return false;
    return lane_of(h) != lane || ((h & kMany) && me.side().write && second(h).other.block == me.side().block && second(h).other.warp == me.side().warp);
  };
  if (shifted(first_wr) || shifted(first_rd)) return false;
  // Nor where lanes of another warp have not released alike.
  if ((has_wr && lanes_apart(first_wr, me.side())) || (has_rd && lanes_apart(first_rd, me.side()))) return false;
  const RaceCell step = (has_wr ? RaceCell{1} << (32 + kLaneShift) : 0) | (has_rd ? RaceCell{1} << kLaneShift : 0);
  RaceCell differ = 0;
  for (std::uint32_t i = 0; i < n; ++i) differ |= cells[i] ^ (first + (i / kWidth) * step);
  if (differ != 0) return false;
  RaceCell changed = first;
  Conflict conflict;
  if (access(changed, 15, lane, me, conflict)) return false;
  if (changed == first) return true;
  const RaceCell new_step =
      ((changed >> 32) != 0 ? RaceCell{1} << (32 + kLaneShift) : 0) | (static_cast<std::uint32_t>(changed) != 0 ? RaceCell{1} << kLaneShift : 0);
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

std::uint32_t GlobalRaces::alike(const RaceCell* cells, std::uint32_t width, std::uint32_t count) const {
  const auto has_wr = [&](RaceCell cell) { return valid(static_cast<std::uint32_t>(cell >> 32)); };
  const auto has_rd = [&](RaceCell cell) { return valid(static_cast<std::uint32_t>(cell)); };
  const bool wr = has_wr(cells[0]), rd = has_rd(cells[0]), none = !wr && !rd;
  // As lanes side by side leave them.
  const RaceCell step = (wr ? RaceCell{1} << (32 + kLaneShift) : 0) | (rd ? RaceCell{1} << kLaneShift : 0);
  RaceCell expected = cells[0];
  for (std::uint32_t element = 0; element < count; ++element, expected += step) {
    for (std::uint32_t i = 0; i < width; ++i, ++cells) {
      if (none ? has_wr(*cells) || has_rd(*cells) : *cells != expected) return element;
    }
  }
  return count;
}

bool GlobalRaces::together(RaceCell* cells, std::uint32_t width, std::uint32_t lane, std::uint32_t last, Access& me) {
  RaceCell after[4];
  Conflict conflict;
  const auto between = [&](std::uint32_t h) {
    if (lane_of(h) > lane && lane_of(h) < last && of_warp(h, me.side())) return true;
    if (!valid(h) || !(h & kMany) || me.side().order->clock(me.side().warp) == 0) return false;
    const Conflict s = second(h);
    return s.other_lane > lane && s.other_lane < last && s.other.block == me.side().block && s.other.warp == me.side().warp;
  };
  const auto apart = [&](std::uint32_t h) { return valid(h) && bytes_of(h) != kAllBytes; };
  for (std::uint32_t i = 0; i < width; ++i) {
    after[i] = cells[i];
    if (is_split(cells[i]) || apart(static_cast<std::uint32_t>(cells[i] >> 32)) || apart(static_cast<std::uint32_t>(cells[i]))) return false;
    // What two lanes of an instruction leave behind, the lanes between them do not change; and who races with one of these races with the first
    // or with the last. Unless one of them was here before.
    if (between(static_cast<std::uint32_t>(cells[i] >> 32)) || between(static_cast<std::uint32_t>(cells[i]))) return false;
    if (access(after[i], 15, lane, me, conflict) || (last != lane && access(after[i], 15, last, me, conflict))) return false;
  }
  for (std::uint32_t i = 0; i < width; ++i) cells[i] = after[i];
  return true;
}

}  // namespace lockstep::check
