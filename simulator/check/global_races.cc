#include "simulator/check/global_races.h"

#include <algorithm>
#include <bit>
#include <utility>

namespace lockstep::check {
namespace {

Story::Entry entry_of(const LaneAccess& a) {
  Story::Entry e;
  e.who = a.record.at_lane(a.lane);
  e.pc = a.record.pc;
  e.write = a.record.write;
  e.strong = a.record.strong;
  e.scope = a.record.scope;
  e.updates = a.record.updates;
  e.observes = a.record.observes;
  e.size = a.record.size();
  e.chained = a.record.write;
  return e;
}

LaneAccess access_of(const Story::Entry& e) {
  AccessRecord r;
  r.block = e.who.block;
  r.epoch = e.who.epoch;
  r.pc = e.pc;
  r.clock_and_size = e.who.clock;
  r.warp = e.who.warp;
  r.strong = e.strong;
  r.write = e.write;
  r.scope = e.scope;
  r.updates = e.updates;
  r.observes = e.observes;
  return {r, e.who.lane};
}

}  // namespace

// Whether there is room to keep what was recorded for another launch.
bool GlobalRaces::has_room(memory::DeviceMemory& memory, bool several_lanes) const {
  return records_.kept(memory) < (several_lanes ? kKeptRecords : kKeptRecordsOfOneLane) &&
         splits_.used() < kKeptOthers && stories_.used() < kKeptOthers &&
         grid_.kept() < kKeptOthers && without_cells_.size() < kKeptOthers &&
         !grid_.launches().is_full();
}

void GlobalRaces::start(memory::DeviceMemory& memory, std::uint32_t cluster, unsigned threads,
                        std::uint32_t most, const LaunchOrder::Place& place, std::uint64_t blocks,
                        const Given& given) {
  parallel_ = threads > 1;
  LaunchOrder& launches = grid_.launches();
  launches.settle(place);
  // Every launch must start with most of the numbers still unused.
  const bool numbers_end = memory.race_records() > AccessRecords::kMost / 4;
  if (numbers_end) memory.clear_race_shadow(threads);
  if (numbers_end || (!launches.remembers() && !launches.any_suspended()) ||
      !has_room(memory, place.several_lanes)) {
    ++forgotten_;
    launches.forget(memory.race_records());
    grid_.clear(launches.any_suspended());
    without_cells_.clear();
    records_.forget(memory);
    splits_.start(most == 0 ? kSplits : std::min(most, kSplits));
    stories_.start(most == 0 ? kStories : std::min(most, kStories));
  }
  records_.start(memory, cluster, most);
  launches.begin(place, blocks, cluster, records_.first_number());
  records_.count_from(launches.first_counted_record());
  // If records have been forgotten, block numbers are used again: this knowledge would be of other
  // blocks.
  grid_.begin_launch(given.times == forgotten_ ? given.what.get() : nullptr);
}

GlobalRaces::Suspended GlobalRaces::suspend() {
  const Suspended launch{parallel_, records_.suspend(), grid_.launches().first_block(), forgotten_};
  grid_.launches().suspend();
  return launch;
}

bool GlobalRaces::resume(const Suspended& launch) {
  const bool forgotten = launch.forgotten != forgotten_;
  parallel_ = launch.parallel;
  records_.resume(launch.records, forgotten);
  grid_.launches().resume(launch.first_block);
  return forgotten;
}

std::optional<GlobalRaces::PastConflict> GlobalRaces::find_unordered(
    const GlobalCell* cells, std::uint64_t first, std::uint64_t last, bool writes,
    std::span<const std::uint32_t> before) const {
  const LaunchOrder& launches = grid_.launches();
  const std::uint32_t counted = launches.first_unordered_in(before);
  if (counted == LaunchOrder::kNone) return std::nullopt;
  std::optional<PastConflict> found;
  const auto judge = [&](const LaneAccess& a, std::uint64_t address) {
    if ((writes || a.record.write) && !launches.is_among(before, a.record.block))
      found = PastConflict{a, address};
  };
  // Compares with the cell's accesses to the bytes of `mask` of the granule at `at`.
  const auto look_at = [&](GlobalCell cell, std::uint64_t at, std::uint32_t mask) {
    cell = cell.since(counted);
    if (cell.is_story()) {
      stories_[cell.index()].for_each([&](const Story::Entry& e) { judge(access_of(e), at); });
      return;
    }
    for (const CellHalf h : {cell.write(), cell.read()}) {
      if (h.empty() || (h.bytes().mask() & mask) == 0) continue;
      judge(records_.first(h), at);
      if (h.names_two()) judge(records_.second(h), at);
    }
  };
  for (std::uint64_t at = first & ~3ull; at <= last && !found; at += 4, ++cells) {
    if (!GlobalCell::any_since(cells, 1, counted)) continue;
    const std::uint64_t from = std::max(at, first), to = std::min(at + 3, last);
    const auto mask =
        static_cast<std::uint32_t>(((2u << (to - at)) - 1) & ~((1u << (from - at)) - 1));
    const GlobalCell cell = cells->since(counted);
    if (!cell.is_split()) {
      look_at(cell, from, mask);
      continue;
    }
    for (std::uint32_t byte = 0; byte < 4; ++byte) {
      if ((mask >> byte & 1) != 0) look_at(splits_[cell.index()].byte[byte], at + byte, 15);
    }
  }
  return found;
}

bool GlobalRaces::is_recorded_in(GlobalCell cell, std::uint32_t bytes, bool writes,
                                 std::uint32_t first, std::uint32_t end) const {
  // If numbering has restarted since, records with these numbers belong to this launch.
  if (end > records_.first_number()) return false;
  const auto is_in = [&](CellHalf h) {
    return h.number() >= first && h.number() < end && (h.bytes().mask() & bytes) != 0;
  };
  return !cell.is_apart() && (is_in(cell.write()) || (writes && is_in(cell.read())));
}

LaneAccess GlobalRaces::last_write(GlobalCell cell, std::uint32_t byte) const {
  return write_if_any(cell, byte).value_or(LaneAccess{});
}

std::optional<LaneAccess> GlobalRaces::write_if_any(GlobalCell cell, std::uint32_t byte) const {
  cell = cell.since(records_.first_counted());
  if (cell.is_split()) cell = splits_[cell.index()].byte[byte].since(records_.first_counted());
  const auto of_this_launch = [&](const LaneAccess& a) {
    return grid_.launches().is_of_present(a.record.block) ? std::optional(a) : std::nullopt;
  };
  if (cell.is_story()) {
    const Story::Entry* const last = stories_[cell.index()].last_write();
    return last == nullptr ? std::nullopt : of_this_launch(access_of(*last));
  }
  // Strong writes after a weak one are in the read half.
  const CellHalf wr = cell.write(), rd = cell.read();
  if (!rd.empty() && records_.of(rd).write) return of_this_launch(records_.first(rd));
  if (!wr.empty()) return of_this_launch(records_.first(wr));
  return std::nullopt;
}

std::optional<LaneAccess> GlobalRaces::read_if_any(GlobalCell cell, std::uint32_t byte) const {
  cell = cell.since(records_.first_counted());
  if (cell.is_split()) cell = splits_[cell.index()].byte[byte].since(records_.first_counted());
  if (cell.is_story() || cell.read().empty() || records_.of(cell.read()).write) return std::nullopt;
  const LaneAccess read = records_.first(cell.read());
  return grid_.launches().is_of_present(read.record.block) ? std::optional(read) : std::nullopt;
}

// A new story. nullptr if there are no more; the cell then loses what it stored.
Story* GlobalRaces::open_story(GlobalCell& cell, Memo& memo) {
  std::uint32_t i;
  if (!stories_.take(i, memo.stories)) {
    cell = {};
    return nullptr;
  }
  cell = GlobalCell::story(records_.first_number(), i);
  Story& s = stories_[i];
  s.reset();
  return &s;
}

// Turns the accesses that the halves name into a story. False if there are no more stories; the
// cell then loses its accesses.
bool GlobalRaces::make_story(GlobalCell& cell, Memo& memo) {
  const CellHalf wr = cell.write(), rd = cell.read();
  Story* const s = open_story(cell, memo);
  if (s == nullptr) return false;
  for (const CellHalf h : {wr, rd}) {
    if (h.empty()) continue;
    Story::Entry e = entry_of(records_.first(h));
    if (e.write && !e.strong && !rd.empty() && records_.of(rd).write)
      e.chained = records_.of_one_thread(wr, rd);
    e.observed_by_many = e.write && e.strong && h.may_be_observed();
    s->add(e);
    if (!h.names_two()) continue;
    e = entry_of(records_.second(h));
    e.observed_by_many = e.write && e.strong && h.may_be_observed();
    s->add(e);
  }
  return true;
}

bool GlobalRaces::access_story(GlobalCell& cell, std::uint32_t lane, Access& me,
                               LaneAccess& conflict) {
  Story& s = stories_[cell.index()];
  Story::Entry other;
  const bool found =
      s.access(me.side(), lane, reinterpret_cast<std::uintptr_t>(&cell), !exhausted(), other);
  if (found) conflict = access_of(other);
  if (me.side().write && !me.side().strong && s.is_one_weak_write() && me.number() != 0) {
    me.memo_.stories.give_back(cell.index());
    cell = {CellHalf(me.number(), ByteSet::all(), lane), {}};
  }
  return found;
}

void GlobalRaces::access_without_cell(std::uint64_t address, std::uint32_t lane, const Side& side) {
  const std::lock_guard lock(without_cells_mutex_);
  Story::Entry other;
  without_cells_[address].access(side, lane, address, false, other);
}

// Gives each byte a cell of its own. False if there are no more split cells; the cell then loses
// what it stored.
bool GlobalRaces::split(GlobalCell& cell, Memo& memo) {
  std::uint32_t i;
  if (!splits_.take(i, memo.splits)) {
    cell = {};
    return false;
  }
  const GlobalCell before = cell;
  cell = GlobalCell::split(records_.first_number(), i);
  Split& s = splits_[i];
  if (before.is_story()) {
    s.byte[0] = before;
    for (int byte = 1; byte < 4; ++byte) {
      Story* const copy = open_story(s.byte[byte], memo);
      if (copy != nullptr) *copy = stories_[before.index()];
    }
    return true;
  }
  for (int byte = 0; byte < 4; ++byte)
    s.byte[byte] = {before.write().of_byte(byte), before.read().of_byte(byte)};
  return true;
}

// The half for this access, or `otherwise` if there are no more records.
inline CellHalf GlobalRaces::half(Access& me, ByteSet bytes, std::uint32_t lane,
                                  CellHalf otherwise) const {
  return me.number() == 0 ? otherwise : CellHalf(me.number(), bytes, lane);
}

inline __attribute__((always_inline)) void GlobalRaces::read_weakly(CellHalf& rd, ByteSet bytes,
                                                                    std::uint32_t lane,
                                                                    Access& me) {
  if (rd.empty()) {
    rd = half(me, bytes, lane, rd);
    return;
  }
  const CellQuestions ask(records_, me.side(), lane);
  switch (ask.relate_first(rd)) {
    case Relation::kSelf:
      if (records_.of(rd).is_now(me.side())) return;
      [[fallthrough]];
    case Relation::kOrdered: {
      // An order after the earlier read does not order after this one. A different reader is kept.
      const CellHalf before = rd;
      rd = half(me, bytes, lane, rd);
      if (before.names_two() && rd != before && ask.relate_second(before) == Relation::kUnordered)
        rd = records_.with_second_of(rd, before, me.memo_.records);
      return;
    }
    case Relation::kUnordered:
      // Unordered readers: two are kept, of two launches if possible.
      if (!rd.names_two() || ask.reads_again(rd) || ask.both_of_an_earlier_launch(rd) ||
          ask.relate_second(rd) == Relation::kOrdered)
        rd = records_.with_second(rd, me.number(), lane, me.memo_.records);
  }
}

// Adds a strong write to the strong writes of its kind that `h` names, or starts such a half.
inline __attribute__((always_inline)) void GlobalRaces::write_strongly(CellHalf& h, ByteSet bytes,
                                                                       std::uint32_t lane,
                                                                       Access& me) {
  const Side& side = me.side();
  if (h.empty() || side.observes) {
    h = half(me, bytes, lane, h);
    return;
  }
  if (CellQuestions(records_, side, lane).relate_first(h) != Relation::kUnordered) {
    const CellHalf before = h;
    h = half(me, bytes, lane, h);
    if (before.names_two() && h != before && !records_.second(before).is_of_thread(lane, side))
      h = records_.with_second_of(h, before, me.memo_.records);
  } else if (!h.names_two() || records_.second(h).is_of_thread(lane, side)) {
    h = records_.with_second(h, me.number(), lane, me.memo_.records);
  }
}

// Whether `side` reads weakly, and the read half names nothing but weak reads, as with most reads.
// Then the access races with nothing but the write half, which stays, and needs no story. `cell`
// must be neither split nor a story, and its halves must count or be empty.
inline __attribute__((always_inline)) bool GlobalRaces::adds_a_weak_read(GlobalCell cell,
                                                                         const Side& side) const {
  return !side.write && !side.strong && !records_.counts_earlier_launches() &&
         (cell.read().empty() || records_.of(cell.read()).reads_weakly());
}

// access() if all bytes that the cell describes are accessed, or the cell is untouched. `next`: the
// next state, not kStory.
inline __attribute__((always_inline)) bool GlobalRaces::access_halves(GlobalCell& cell,
                                                                      CellState next, ByteSet bytes,
                                                                      std::uint32_t lane,
                                                                      Access& me,
                                                                      LaneAccess& conflict) {
  const CellQuestions ask(records_, me.side(), lane);
  CellHalf wr = cell.write(), rd = cell.read();
  const bool found = (!wr.empty() && ask.races_with(wr, conflict)) ||
                     (!rd.empty() && ask.races_with(rd, conflict));
  switch (next) {
    case CellState::kRead:
    case CellState::kWrittenRead:
    case CellState::kUpdatedRead: read_weakly(rd, bytes, lane, me); break;
    case CellState::kPolled: rd = half(me, bytes, lane, rd); break;
    case CellState::kWritten:
      if (me.number() != 0) {
        wr = CellHalf(me.number(), bytes, lane);
        rd = {};
      }
      break;
    case CellState::kUpdated: write_strongly(wr, bytes, lane, me); break;
    case CellState::kWrittenUpdated: write_strongly(rd, bytes, lane, me); break;
    case CellState::kUntouched:
    case CellState::kStory: break;
  }
  const GlobalCell after(wr, rd);
  if (after != cell) cell = after;
  return found;
}

__attribute__((noinline)) bool GlobalRaces::access_as_story(GlobalCell& cell, std::uint32_t lane,
                                                            Access& me, LaneAccess& conflict) {
  if (cell.is_story() || make_story(cell, me.memo_)) return access_story(cell, lane, me, conflict);
  records_.note_exhausted(AccessRecord::of(me.side()));
  return false;
}

// access() for a split cell.
__attribute__((noinline)) bool GlobalRaces::access_bytes(GlobalCell& cell, std::uint32_t mask,
                                                         std::uint32_t lane, Access& me,
                                                         LaneAccess& conflict) {
  Split& s = splits_[cell.index()];
  const CellQuestions ask(records_, me.side(), lane);
  bool found = false;
  // A byte whose record equals that of the byte before it gets the same new record.
  GlobalCell before, after;
  bool any = false;
  for (int byte = 0; byte < 4; ++byte) {
    if (!(mask >> byte & 1)) continue;
    GlobalCell& here = s.byte[byte];
    if (any && here == before) {
      here = after;
      continue;
    }
    here = here.since(records_.first_counted());
    before = here;
    if (!here.is_story() && adds_a_weak_read(here, me.side())) {
      const CellHalf wr = here.write();
      CellHalf rd = here.read();
      found |= !wr.empty() && ask.races_with(wr, conflict);
      read_weakly(rd, ByteSet::all(), lane, me);
      here = after = {wr, rd};
      any = true;
      continue;
    }
    const CellState next =
        here.is_story() ? CellState::kStory : ask.next(here.write(), here.read());
    if (next == CellState::kStory) {
      found |= access_as_story(here, lane, me, conflict);
      any = false;  // each byte has a story of its own
      continue;
    }
    found |= access_halves(here, next, ByteSet::all(), lane, me, conflict);
    after = here;
    any = true;
  }
  if (mask == 15 && s.byte[0] == s.byte[1] && s.byte[0] == s.byte[2] && s.byte[0] == s.byte[3]) {
    me.memo_.splits.give_back(cell.index());
    cell = s.byte[0];
  }
  return found;
}

// What a launch adds to a split cell or story counts as long as the launch. What it already holds
// counts as long as its own launch.
void GlobalRaces::renew(GlobalCell& cell) const {
  const std::uint32_t since = std::max(cell.write().number(), records_.first_number());
  if (cell.is_story()) cell = GlobalCell::story(since, cell.index());
  if (cell.is_split()) cell = GlobalCell::split(since, cell.index());
}

// access() for a cell that is split or a story, or must be split.
__attribute__((noinline)) bool GlobalRaces::access_apart(GlobalCell& cell, std::uint32_t mask,
                                                         std::uint32_t lane, Access& me,
                                                         LaneAccess& conflict) {
  renew(cell);
  if (cell.is_story() && mask == 15) return access_story(cell, lane, me, conflict);
  if (cell.is_split() || split(cell, me.memo_)) return access_bytes(cell, mask, lane, me, conflict);
  records_.note_exhausted(AccessRecord::of(me.side()));
  return false;
}

bool GlobalRaces::access(GlobalCell& cell, std::uint32_t mask, std::uint32_t lane, Access& me,
                         LaneAccess& conflict) {
  me.touch(&cell);
  GlobalCell known = cell.since(records_.first_counted());
  const CellHalf wr = known.write(), rd = known.read();
  const ByteSet bytes = ByteSet::of_mask(mask);
  if (known.is_apart() || bytes == ByteSet::none() || (!wr.empty() && wr.bytes() != bytes) ||
      (!rd.empty() && rd.bytes() != bytes)) {
    cell = known;
    return access_apart(cell, mask, lane, me, conflict);
  }
  const CellQuestions ask(records_, me.side(), lane);
  if (adds_a_weak_read(known, me.side())) {
    CellHalf after = rd;
    const bool found = !wr.empty() && ask.races_with(wr, conflict);
    read_weakly(after, bytes, lane, me);
    known = {wr, after};
    if (known != cell) cell = known;
    return found;
  }
  const CellState next = ask.next(wr, rd);
  if (next == CellState::kStory) {
    cell = known;
    return mask == 15 ? access_as_story(cell, lane, me, conflict)
                      : access_apart(cell, mask, lane, me, conflict);
  }
  const bool found = access_halves(known, next, bytes, lane, me, conflict);
  if (known != cell) cell = known;
  return found;
}

bool GlobalRaces::read_as_one(GlobalCell& cell, std::uint32_t lanes, Access& me) {
  me.touch(&cell);
  const GlobalCell known = cell.since(records_.first_counted());
  if (known.is_split()) return false;
  if (!known.is_story()) {
    const CellHalf wr = known.write(), rd = known.read();
    const auto lane = static_cast<std::uint32_t>(std::countr_zero(lanes));
    if ((!wr.empty() && wr.bytes() != ByteSet::all()) ||
        (!rd.empty() && rd.bytes() != ByteSet::all()) ||
        CellQuestions(records_, me.side(), lane).next(wr, rd) != CellState::kStory)
      return false;
    cell = known;
    if (!make_story(cell, me.memo_)) return false;
  }
  renew(cell);
  return stories_[cell.index()].read_as_one(me.side(), lanes);
}

void GlobalRaces::observe(GlobalCell& cell, std::uint32_t lane, const Side& side) {
  const CellQuestions ask(records_, side, lane);
  const auto observed = [&](CellHalf h) {
    if (!records_.counts(h)) return h;
    const AccessRecord& w = records_.of(h);
    return w.write && w.strong && ask.relate_first(h) == Relation::kUnordered ? h.observed() : h;
  };
  const auto see = [&](GlobalCell& of) {
    if (of.is_story()) {
      stories_[of.index()].observe(side, lane, reinterpret_cast<std::uintptr_t>(&of));
    } else {
      of = {observed(of.write()), observed(of.read())};
    }
  };
  if (cell.is_apart() && !records_.counts(cell.write())) return;
  if (cell.is_split()) {
    for (GlobalCell& byte : splits_[cell.index()].byte) see(byte);
  } else {
    see(cell);
  }
}

}  // namespace lockstep::check
