#include "simulator/check/global_races.h"

#include <algorithm>
#include <cstring>
#include <thread>

namespace lockstep::check {
namespace {

// Regions of the address space share locks by chance; a row of 32 lanes of 16 bytes lies in two
// regions at most.
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

void GlobalRaces::start(memory::DeviceMemory& memory, std::uint32_t cluster, bool parallel,
                        std::uint32_t most) {
  memory_ = &memory;
  cluster_ = cluster;
  parallel_ = parallel;
  grid_.start();
  if (!chunks_) {
    chunks_ = std::make_unique<std::atomic<Numbered*>[]>(kRecords / kChunk + 1);
    splits_ = std::make_unique<std::atomic<Split*>[]>(kSplits / kChunk);
    stories_ = std::make_unique<std::atomic<Story*>[]>(kStories / kChunk);
  }
  split_count_ = 0;
  story_count_ = 0;
  without_cells_.clear();
  // Every launch begins with most of the numbers ahead of it.
  if (memory.race_records() > kRecords / 4) memory.clear_race_shadow();
  // Its first number marks splits and stories, and so no launch may have that of another.
  base_ = memory.race_records().fetch_add(1);
  limit_ = most == 0 ? kRecords : std::min(base_ + 1 + most, kRecords);
  split_limit_ = most == 0 ? kSplits : std::min(most, kSplits);
  story_limit_ = most == 0 ? kStories : std::min(most, kStories);
  exhausted_ = false;
}

bool GlobalRaces::is_recorded_in(RaceCell cell, std::uint32_t bytes, bool writes,
                                 std::uint32_t first, std::uint32_t end) const {
  // When the numbers began anew since, what has them now are records of this launch.
  if (end > base_) return false;
  const auto is_in = [&](std::uint32_t half) {
    return number_of(half) >= first && number_of(half) < end &&
           (kMaskOf[bytes_of(half)] & bytes) != 0;
  };
  return !is_apart(cell) && (is_in(static_cast<std::uint32_t>(cell >> 32)) ||
                             (writes && is_in(static_cast<std::uint32_t>(cell))));
}

GlobalRaces::Record GlobalRaces::record_of(const Side& side) {
  Record r;
  r.block = side.block;
  r.epoch = side.order->epoch();
  r.pc = side.pc;
  r.clock = static_cast<std::uint16_t>(side.order->clock(side.warp));
  r.warp = static_cast<std::uint8_t>(side.warp);
  r.strong = side.strong;
  r.write = side.write;
  r.scope = side.scope;
  r.updates = side.updates;
  r.observes = side.observes;
  return r;
}

template <class T>
T& GlobalRaces::at_grown(std::unique_ptr<std::atomic<T*>[]>& chunks,
                         std::vector<std::unique_ptr<T[]>>& owned, std::uint32_t i) {
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

void GlobalRaces::add_to(std::uint32_t& h, std::uint32_t number, std::uint32_t lane,
                         Access& me) const {
  h &= ~kMany;
  if (number == 0) return;
  const std::uint32_t second = number << kSecondShift | ((lane - lane_of(h)) & 31);
  std::uint32_t none = second_of(number_of(h)).load(std::memory_order_relaxed);
  if (none != second &&
      (none != 0 ||
       (!second_of(number_of(h)).compare_exchange_strong(none, second, std::memory_order_relaxed) &&
        none != second))) {
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

namespace {

GlobalRaces::Conflict conflict_of(const Story::Entry& e) {
  GlobalRaces::Record r;
  r.block = e.who.block;
  r.epoch = e.who.epoch;
  r.pc = e.pc;
  r.clock = e.who.clock;
  r.warp = e.who.warp;
  r.strong = e.strong;
  r.write = e.write;
  r.scope = e.scope;
  r.updates = e.updates;
  r.observes = e.observes;
  return {r, e.who.lane};
}

}  // namespace

Story::Entry GlobalRaces::entry_of(const Record& r, std::uint32_t lane) const {
  Story::Entry e;
  e.who = {r.block, r.epoch, r.clock, r.warp, static_cast<std::uint8_t>(lane)};
  e.pc = r.pc;
  e.write = r.write;
  e.strong = r.strong;
  e.scope = r.scope;
  e.updates = r.updates;
  e.observes = r.observes;
  e.chained = r.write;
  return e;
}

GlobalRaces::Conflict GlobalRaces::last_write(RaceCell cell, std::uint32_t byte) const {
  return write_if_any(cell, byte).value_or(Conflict{});
}

std::optional<GlobalRaces::Conflict> GlobalRaces::write_if_any(RaceCell cell,
                                                               std::uint32_t byte) const {
  if (is_split(cell)) {
    if (!valid(static_cast<std::uint32_t>(cell >> 32)))
      return std::nullopt;  // of an earlier launch
    cell = split_of(cell).byte[byte];
  }
  const auto wr = static_cast<std::uint32_t>(cell >> 32), rd = static_cast<std::uint32_t>(cell);
  if (is_story(cell)) {
    const Story::Entry* last = valid(wr) ? story_of(cell).last_write() : nullptr;
    return last == nullptr ? std::nullopt : std::optional(conflict_of(*last));
  }
  // Strong writes after a weak one are in the other half.
  if (valid(rd) && at(number_of(rd)).write) return Conflict{at(number_of(rd)), lane_of(rd)};
  if (valid(wr)) return Conflict{at(number_of(wr)), lane_of(wr)};
  return std::nullopt;
}

template <class T>
bool GlobalRaces::take(std::uint32_t& i, std::atomic<std::uint32_t>& count, std::uint32_t limit,
                       std::uint32_t& next, std::uint32_t& end,
                       std::vector<std::uint32_t>& given_back,
                       std::unique_ptr<std::atomic<T*>[]>& chunks,
                       std::vector<std::unique_ptr<T[]>>& owned) {
  if (!given_back.empty()) {
    i = given_back.back();
    given_back.pop_back();
    return true;
  }
  if (next == end) {
    const std::uint32_t first = count.fetch_add(kSetAside, std::memory_order_relaxed);
    if (first >= limit) {
      count = limit;  // far from where it would wrap
      return false;
    }
    next = first;
    end = first + kSetAside;
  }
  i = next++;
  at_grown(chunks, owned, i);
  return true;
}

Story* GlobalRaces::open_story(RaceCell& cell, Memo& memo) {
  std::uint32_t i;
  if (!take(i, story_count_, story_limit_, memo.next_story_, memo.end_story_, memo.closed_,
            stories_, owned_stories_)) {
    cell = 0;
    return nullptr;
  }
  cell = apart(kStoryLane, i);
  Story& s = story_of(cell);
  s.reset();
  return &s;
}

bool GlobalRaces::make_story(RaceCell& cell, Memo& memo) {
  const auto wr = static_cast<std::uint32_t>(cell >> 32), rd = static_cast<std::uint32_t>(cell);
  Story* const s = open_story(cell, memo);
  if (s == nullptr) return false;
  for (const std::uint32_t h : {wr, rd}) {
    if (!valid(h)) continue;
    Story::Entry e = entry_of(at(number_of(h)), lane_of(h));
    if (e.write && !e.strong && valid(rd) && at(number_of(rd)).write)
      e.chained = of_one_thread(wr, rd);
    e.observed_by_many = e.write && e.strong && (h & kSeen) != 0;
    s->add(e);
    if (!(h & kMany)) continue;
    const Conflict other = second(h);
    e = entry_of(other.other, other.other_lane);
    e.observed_by_many = e.write && e.strong && (h & kSeen) != 0;
    s->add(e);
  }
  return true;
}

bool GlobalRaces::access_story(RaceCell& cell, std::uint32_t lane, Access& me, Conflict& conflict) {
  Story& s = story_of(cell);
  Story::Entry other;
  const bool found =
      s.access(me.side(), lane, reinterpret_cast<std::uintptr_t>(&cell), !exhausted(), other);
  if (found) conflict = conflict_of(other);
  if (me.side().write && !me.side().strong && s.is_one_weak_write() && me.number() != 0) {
    me.memo_.closed_.push_back(static_cast<std::uint32_t>(cell));
    cell = RaceCell{half(me.number(), kAllBytes, lane)} << 32;
  }
  return found;
}

void GlobalRaces::access_without_cell(std::uint64_t address, std::uint32_t lane, const Side& side) {
  const std::lock_guard lock(without_cells_mutex_);
  Story::Entry other;
  without_cells_[address].access(side, lane, address, false, other);
}

bool GlobalRaces::split(RaceCell& cell, Memo& memo) {
  std::uint32_t i;
  if (!take(i, split_count_, split_limit_, memo.next_split_, memo.end_split_, memo.joined_, splits_,
            owned_splits_)) {
    cell = 0;
    return false;
  }
  const RaceCell before = cell;
  cell = apart(kSplitLane, i);
  Split& s = split_of(cell);
  if (is_story(before)) {
    s.byte[0] = before;
    for (int byte = 1; byte < 4; ++byte) {
      Story* const copy = open_story(s.byte[byte], memo);
      if (copy != nullptr) *copy = story_of(before);
    }
    return true;
  }
  // What a half says of some bytes, the cells of these say.
  const auto wr = static_cast<std::uint32_t>(before >> 32), rd = static_cast<std::uint32_t>(before);
  const auto of_byte = [](std::uint32_t h, int byte) {
    return (kMaskOf[bytes_of(h)] >> byte & 1) != 0 ? h | kAllBytes << kBytesShift : 0;
  };
  for (int byte = 0; byte < 4; ++byte)
    s.byte[byte] = RaceCell{of_byte(wr, byte)} << 32 | of_byte(rd, byte);
  return true;
}

bool GlobalRaces::both_strong(const Record& r, const Side& side) const {
  if (!r.strong || !side.strong) return false;
  const Scope needed = r.block == side.block ? Scope::kBlock
                       : r.block / cluster_ == side.block / cluster_ && cluster_ > 1
                           ? Scope::kCluster
                           : Scope::kGrid;
  return r.scope >= needed && side.scope >= needed;
}

bool GlobalRaces::now(const Record& r, const Side& side) const {
  return r.block == side.block && r.warp == side.warp && r.epoch == side.order->epoch() &&
         r.clock == side.order->clock(side.warp);
}

bool GlobalRaces::reads_again(std::uint32_t h, std::uint32_t lane, const Side& side) const {
  if (side.strong || side.order->clock(side.warp) == 0)
    return false;  // then it has the same clock still
  const Conflict s = second(h);
  return s.other_lane == lane && s.other.block == side.block && s.other.warp == side.warp &&
         s.other.epoch == side.order->epoch() &&
         (s.other.strong || s.other.clock != side.order->clock(side.warp));
}

bool GlobalRaces::lanes_apart(std::uint32_t h, const Side& side) const {
  const auto apart = [&](const Record& r) {
    return (r.block != side.block || r.epoch == side.order->epoch()) &&
           side.order->knows_lanes_apart(side.warp, r.block, r.warp);
  };
  return (!of_warp(h, side) && apart(at(number_of(h)))) || ((h & kMany) && apart(second(h).other));
}

bool GlobalRaces::unordered(std::uint32_t h, std::uint32_t lane, const Side& side,
                            Conflict& conflict) const {
  const Conflict first{at(number_of(h)), lane_of(h)};
  const auto judge = [&](const Conflict& other) {
    return relate(other.other, other.other_lane, lane, side);
  };
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

inline __attribute__((always_inline)) bool GlobalRaces::races_with(std::uint32_t h,
                                                                   std::uint32_t lane,
                                                                   const Side& side,
                                                                   Conflict& conflict) const {
  const Record& r = at(number_of(h));
  if ((!r.write && !side.write) || both_strong(r, side)) return false;
  // What was read of strong writes may have gone unrecorded.
  if (r.write && r.strong && ((h & kSeen) || exhausted())) return false;
  return unordered(h, lane, side, conflict);
}

inline __attribute__((always_inline)) bool GlobalRaces::fits(std::uint32_t wr, std::uint32_t rd,
                                                             std::uint32_t lane,
                                                             const Side& side) const {
  if (!side.strong) {
    if (side.write || rd == 0) return true;
    const Record& r = at(number_of(rd));
    return !r.write && !r.strong;
  }
  if (side.acquires || side.releases ||
      (side.write && side.order->has_fenced(side.warp * 32 + lane)))
    return false;
  if (!side.write) {
    if (wr != 0) return false;
    if (rd == 0) return true;
    const Record& r = at(number_of(rd));
    return !(rd & kMany) && r.strong && !r.write && r.scope == side.scope &&
           relate(r, lane_of(rd), lane, side) == Relation::kSelf;
  }
  std::uint32_t strong = rd;
  if (rd == 0) {
    if (wr == 0 || !at(number_of(wr)).strong) return true;
    strong = wr;
  } else if (wr != 0 && of_one_thread(wr, rd) &&
             relate(at(number_of(rd)), lane_of(rd), lane, side) != Relation::kSelf) {
    return false;  // the weak write belongs to the chain that is to be continued
  }
  const Record& r = at(number_of(strong));
  if (!r.write || r.scope != side.scope || r.updates != side.updates ||
      r.observes != side.observes || !both_strong(r, side))
    return false;
  return side.updates;
}

inline __attribute__((always_inline)) void GlobalRaces::read_weakly(std::uint32_t& rd,
                                                                    std::uint32_t bytes,
                                                                    std::uint32_t lane,
                                                                    Access& me) {
  const Side& side = me.side();
  if (rd == 0) return set(rd, bytes, lane, me);
  const Record& r = at(number_of(rd));
  const auto relate_second = [&](std::uint32_t h) {
    const Conflict s = second(h);
    return relate(s.other, s.other_lane, lane, side);
  };
  switch (relate(r, lane_of(rd), lane, side)) {
    case Relation::kSelf:
      if (now(r, side)) return;
      [[fallthrough]];
    case Relation::kOrdered: {
      // What ordered somebody after the reading before does not order it after this one. Another
      // reader stays.
      const std::uint32_t before = rd;
      set(rd, bytes, lane, me);
      if ((before & kMany) && rd != before && relate_second(before) == Relation::kUnordered)
        keep_second(rd, before, me);
      return;
    }
    case Relation::kUnordered:
      // Readers that nothing orders: two are kept.
      if (!(rd & kMany) || reads_again(rd, lane, side) || relate_second(rd) == Relation::kOrdered)
        add_to(rd, me.number(), lane, me);
  }
}

inline __attribute__((always_inline)) void GlobalRaces::write_strongly(std::uint32_t& h,
                                                                       std::uint32_t bytes,
                                                                       std::uint32_t lane,
                                                                       Access& me) {
  const Side& side = me.side();
  if (h == 0 || side.observes) return set(h, bytes, lane, me);
  const auto is_me = [&](const Conflict& c) {
    return c.other.block == side.block && c.other.warp == side.warp && c.other_lane == lane;
  };
  if (relate(at(number_of(h)), lane_of(h), lane, side) != Relation::kUnordered) {
    const std::uint32_t before = h;
    set(h, bytes, lane, me);
    if ((before & kMany) && h != before && !is_me(second(before))) keep_second(h, before, me);
  } else if (!(h & kMany) || is_me(second(h))) {
    add_to(h, me.number(), lane, me);
  }
}

inline __attribute__((always_inline)) bool GlobalRaces::access_all(RaceCell& cell,
                                                                   std::uint32_t bytes,
                                                                   std::uint32_t lane, Access& me,
                                                                   Conflict& conflict) {
  const Side& side = me.side();
  std::uint32_t wr = static_cast<std::uint32_t>(cell >> 32), rd = static_cast<std::uint32_t>(cell);
  const bool found = (wr != 0 && races_with(wr, lane, side, conflict)) ||
                     (rd != 0 && races_with(rd, lane, side, conflict));
  if (!side.write) {
    side.strong ? set(rd, bytes, lane, me) : read_weakly(rd, bytes, lane, me);
  } else if (side.strong) {
    write_strongly(rd != 0 || (wr != 0 && !at(number_of(wr)).strong) ? rd : wr, bytes, lane, me);
  } else if (me.number() != 0) {
    set(wr, bytes, lane, me);
    rd = 0;
  }
  const RaceCell after = RaceCell{wr} << 32 | rd;
  if (after != cell) cell = after;
  return found;
}

__attribute__((noinline)) bool GlobalRaces::access_as_story(RaceCell& cell, std::uint32_t lane,
                                                            Access& me, Conflict& conflict) {
  if (is_story(cell) || make_story(cell, me.memo_)) return access_story(cell, lane, me, conflict);
  note_exhausted(record_of(me.side()));
  return false;
}

__attribute__((noinline)) bool GlobalRaces::access_bytes(RaceCell& cell, std::uint32_t mask,
                                                         std::uint32_t lane, Access& me,
                                                         Conflict& conflict) {
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
    if (is_story(here) || !fits(static_cast<std::uint32_t>(here >> 32),
                                static_cast<std::uint32_t>(here), lane, me.side())) {
      found |= access_as_story(here, lane, me, conflict);
      any = false;  // each story is of one byte
      continue;
    }
    found |= access_all(here, kAllBytes, lane, me, conflict);
    after = here;
    any = true;
  }
  if (mask == 15 && s.byte[0] == s.byte[1] && s.byte[0] == s.byte[2] && s.byte[0] == s.byte[3])
    join(cell, s.byte[0], me.memo_);
  return found;
}

bool GlobalRaces::access(RaceCell& cell, std::uint32_t mask, std::uint32_t lane, Access& me,
                         Conflict& conflict) {
  auto wr = static_cast<std::uint32_t>(cell >> 32), rd = static_cast<std::uint32_t>(cell);
  bool story = false;
  if (!valid(wr)) {
    if (wr != 0 && bytes_of(wr) == 0) rd = 0;
    wr = 0;
  } else if (bytes_of(wr) == 0) {
    if (is_split(cell)) return access_bytes(cell, mask, lane, me, conflict);
    if (mask == 15) return access_story(cell, lane, me, conflict);
    story = true;
  }
  if (!story && !valid(rd)) rd = 0;
  RaceCell known = RaceCell{wr} << 32 | rd;
  const std::uint32_t bytes = kBytesOf[mask];
  const bool fit = !story && fits(wr, rd, lane, me.side());
  if (story || bytes == 0 || (wr != 0 && bytes_of(wr) != bytes) ||
      (rd != 0 && bytes_of(rd) != bytes) || (!fit && mask != 15)) {
    const bool apart = split(known, me.memo_);
    cell = known;
    if (apart) return access_bytes(cell, mask, lane, me, conflict);
    note_exhausted(record_of(me.side()));
    return false;
  }
  if (!fit) {
    cell = known;
    return access_as_story(cell, lane, me, conflict);
  }
  const bool found = access_all(known, bytes, lane, me, conflict);
  if (known != cell) cell = known;
  return found;
}

void GlobalRaces::observe(RaceCell& cell, std::uint32_t lane, const Side& side) {
  const auto seen = [&](RaceCell& of) {
    if (is_story(of))
      return story_of(of).observe(side, lane, reinterpret_cast<std::uintptr_t>(&of));
    auto wr = static_cast<std::uint32_t>(of >> 32), rd = static_cast<std::uint32_t>(of);
    for (std::uint32_t* const write : {&wr, &rd}) {
      if (!valid(*write)) continue;
      const Record& w = at(number_of(*write));
      if (w.write && w.strong && relate(w, lane_of(*write), lane, side) == Relation::kUnordered)
        *write |= kSeen;
    }
    of = RaceCell{wr} << 32 | rd;
  };
  if (is_apart(cell) && !valid(static_cast<std::uint32_t>(cell >> 32))) return;
  if (is_split(cell)) {
    for (RaceCell& byte : split_of(cell).byte) seen(byte);
  } else {
    seen(cell);
  }
}

bool GlobalRaces::of_warp(std::uint32_t h, const Side& side) const {
  return valid(h) && at(number_of(h)).block == side.block && at(number_of(h)).warp == side.warp;
}

template <std::uint32_t kWidth>
bool GlobalRaces::row_of(RaceCell* __restrict cells, std::uint32_t lane, std::uint32_t count,
                         Access& me) {
  if (has_messages(me.side())) return false;
  const std::uint32_t n = kWidth * count;
  // Nothing of this launch: the common case.
  const std::uint32_t base = base_ << kNumberShift;
  std::uint32_t known = 0;
  for (std::uint32_t i = 0; i < n; ++i) {
    const std::uint32_t wr = static_cast<std::uint32_t>(cells[i] >> 32),
                        rd = static_cast<std::uint32_t>(cells[i]);
    known |= (wr >= base) | (rd >= base);
  }
  if (!known) {
    if (me.number() == 0) return true;
    const std::uint32_t mine = half(me.number(), kAllBytes, lane);
    const int shift = me.side().write ? 32 : 0;
    for (std::uint32_t i = 0; i < n; ++i)
      cells[i] = RaceCell{mine + (i / kWidth << kLaneShift)} << shift;
    return true;
  }
  // All alike, but for the lane: what holds of the first holds of all. Not where other lanes of
  // this very warp were here.
  const RaceCell first = cells[0];
  const std::uint32_t first_wr = static_cast<std::uint32_t>(first >> 32),
                      first_rd = static_cast<std::uint32_t>(first);
  const bool has_wr = valid(first_wr), has_rd = valid(first_rd);
  // Nor where bytes have cells of their own, now or in a launch before this one.
  if (is_apart(first) || (has_wr && bytes_of(first_wr) != kAllBytes) ||
      (has_rd && bytes_of(first_rd) != kAllBytes))
    return false;
  const auto shifted = [&](std::uint32_t h) {
    if (!of_warp(h, me.side())) return false;
    return lane_of(h) != lane ||
           ((h & kMany) && me.side().write && second(h).other.block == me.side().block &&
            second(h).other.warp == me.side().warp);
  };
  if (shifted(first_wr) || shifted(first_rd)) return false;
  // Nor where lanes of another warp have not released alike.
  if ((has_wr && lanes_apart(first_wr, me.side())) || (has_rd && lanes_apart(first_rd, me.side())))
    return false;
  const RaceCell step =
      (has_wr ? RaceCell{1} << (32 + kLaneShift) : 0) | (has_rd ? RaceCell{1} << kLaneShift : 0);
  RaceCell differ = 0;
  for (std::uint32_t i = 0; i < n; ++i) differ |= cells[i] ^ (first + (i / kWidth) * step);
  if (differ != 0) return false;
  if (!fits(has_wr ? first_wr : 0, has_rd ? first_rd : 0, lane, me.side())) return false;
  RaceCell changed = first;
  Conflict conflict;
  if (access(changed, 15, lane, me, conflict)) return false;
  if (changed == first) return true;
  const RaceCell new_step =
      ((changed >> 32) != 0 ? RaceCell{1} << (32 + kLaneShift) : 0) |
      (static_cast<std::uint32_t>(changed) != 0 ? RaceCell{1} << kLaneShift : 0);
  for (std::uint32_t i = 0; i < n; ++i) cells[i] = changed + (i / kWidth) * new_step;
  return true;
}

bool GlobalRaces::row(RaceCell* cells, std::uint32_t width, std::uint32_t lane, std::uint32_t count,
                      Access& me) {
  switch (width) {
    case 1: return row_of<1>(cells, lane, count, me);
    case 2: return row_of<2>(cells, lane, count, me);
    default: return row_of<4>(cells, lane, count, me);
  }
}

std::uint32_t GlobalRaces::alike(const RaceCell* cells, std::uint32_t width,
                                 std::uint32_t count) const {
  const auto has_wr = [&](RaceCell cell) { return valid(static_cast<std::uint32_t>(cell >> 32)); };
  const auto has_rd = [&](RaceCell cell) { return valid(static_cast<std::uint32_t>(cell)); };
  const bool wr = has_wr(cells[0]), rd = has_rd(cells[0]), none = !wr && !rd;
  // As lanes side by side leave them.
  const RaceCell step =
      (wr ? RaceCell{1} << (32 + kLaneShift) : 0) | (rd ? RaceCell{1} << kLaneShift : 0);
  RaceCell expected = cells[0];
  for (std::uint32_t element = 0; element < count; ++element, expected += step) {
    for (std::uint32_t i = 0; i < width; ++i, ++cells) {
      if (none ? has_wr(*cells) || has_rd(*cells) : *cells != expected) return element;
    }
  }
  return count;
}

bool GlobalRaces::together(RaceCell* cells, std::uint32_t width, std::uint32_t lane,
                           std::uint32_t last, Access& me) {
  if (has_messages(me.side())) return false;
  RaceCell after[4];
  Conflict conflict;
  const auto between = [&](std::uint32_t h) {
    if (lane_of(h) > lane && lane_of(h) < last && of_warp(h, me.side())) return true;
    if (!valid(h) || !(h & kMany) || me.side().order->clock(me.side().warp) == 0) return false;
    const Conflict s = second(h);
    return s.other_lane > lane && s.other_lane < last && s.other.block == me.side().block &&
           s.other.warp == me.side().warp;
  };
  const auto apart = [&](std::uint32_t h) { return valid(h) && bytes_of(h) != kAllBytes; };
  for (std::uint32_t i = 0; i < width; ++i) {
    after[i] = cells[i];
    if (is_apart(cells[i]) || apart(static_cast<std::uint32_t>(cells[i] >> 32)) ||
        apart(static_cast<std::uint32_t>(cells[i])))
      return false;
    // What two lanes of an instruction leave behind, the lanes between them do not change; and who
    // races with one of these races with the first or with the last. Unless one of them was here
    // before.
    if (between(static_cast<std::uint32_t>(cells[i] >> 32)) ||
        between(static_cast<std::uint32_t>(cells[i])))
      return false;
    const auto is_simple = [&](std::uint32_t by) {
      const auto wr = static_cast<std::uint32_t>(after[i] >> 32),
                 rd = static_cast<std::uint32_t>(after[i]);
      return fits(valid(wr) ? wr : 0, valid(rd) ? rd : 0, by, me.side());
    };
    if (!is_simple(lane) || access(after[i], 15, lane, me, conflict)) return false;
    if (last != lane && (!is_simple(last) || access(after[i], 15, last, me, conflict)))
      return false;
  }
  for (std::uint32_t i = 0; i < width; ++i) cells[i] = after[i];
  return true;
}

}  // namespace lockstep::check
