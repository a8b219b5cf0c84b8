#include "simulator/check/story.h"

#include <algorithm>
#include <atomic>
#include <bit>

namespace lockstep::check {
namespace {

// The number of a location to BlockOrder: that of its granule, with the size above it.
constexpr int kSizeShift = 56;

bool same_thread(const Stamp& a, const Stamp& b) {
  return a.block == b.block && a.warp == b.warp && a.lane == b.lane;
}

// Whether both are of one warp at one time. Their lanes may differ.
bool same_time(const Stamp& a, const Stamp& b) {
  return a.block == b.block && a.epoch == b.epoch && a.clock == b.clock && a.warp == b.warp;
}

// The bit of a warp among 256.
std::size_t mark_of(const Stamp& s) { return (s.block * 64u + s.warp) * 0x9e3779b1u >> 24; }

// The lanes of an entry whose access nothing orders before the present one.
std::uint32_t unordered_lanes(const Story::Entry& e, std::uint32_t lane, const Side& side) {
  if (e.others == 0) return relate(e.who, lane, side) == Relation::kUnordered ? e.lanes() : 0;
  return e.lanes() & ~lanes_not_unordered(e.who, lane, side);
}

Stamp stamp_of(const Side& side, std::uint32_t lane) {
  return {side.block, side.order->epoch(), static_cast<std::uint16_t>(side.order->clock(side.warp)),
          static_cast<std::uint8_t>(side.warp), static_cast<std::uint8_t>(lane)};
}

// An access as the story records it.
Story::Entry entry_of(const Side& side, const Stamp& who) {
  Story::Entry e;
  e.who = who;
  e.pc = side.pc;
  e.write = side.write;
  e.strong = side.strong;
  e.scope = side.scope;
  e.updates = side.updates;
  e.observes = side.observes;
  e.size = side.size;
  e.chained = side.write;
  return e;
}

}  // namespace

bool both_strong(const Story::Entry& e, const Side& side) {
  return e.strong && side.strong &&
         reaches(e.scope, e.who.block, side.block, side.order->cluster()) &&
         reaches(side.scope, side.block, e.who.block, side.order->cluster());
}

void Story::reset() {
  // Versions are never reused: a thread may remember the version of a location after its story has
  // ended.
  static std::atomic<std::uint64_t> stories{0};
  version_ = (stories.fetch_add(1, std::memory_order_relaxed) + 1) << 32;
  entries_.clear();
  messages_.clear();
  released_.clear();
  readers_.reset();
  written_ = false;
}

void Story::push(const Entry& e) {
  entries_.push_back(e);
  if (!e.write && e.strong) readers_.set(mark_of(e.who));
}

void Story::next_version() {
  ++version_;
  readers_.reset();
}

void Story::add(const Entry& e) {
  push(e);
  if (!e.write) return;
  written_ = true;
  last_write_ = e;
  next_version();
}

// Whether the last write precedes this read or atomic in observation order, or would if the access
// were made now. The size of a weak write is not known; any observer of an atomic that does not
// continue it races with the weak write itself.
bool Story::linked(const Side& side, std::uint32_t lane) const {
  if (!written_) return false;
  if (same_thread(last_write_.who, stamp_of(side, lane)))
    return !last_write_.strong || last_write_.size == side.size;
  return both_strong(last_write_, side);
}

bool Story::excused(const Entry& e, std::uint32_t lane, const Side& side) const {
  if (e.observed_by_many) return true;
  return std::any_of(e.observer, e.observer + e.observers,
                     [&](const Stamp& z) { return relate(z, lane, side) != Relation::kUnordered; });
}

void Story::see_messages(const Side& side, std::uint32_t lane, std::uint64_t location) {
  const std::uint32_t thread = side.warp * 32 + lane;
  location ^= std::uint64_t{side.size} << kSizeShift;
  if (side.acquires && side.order->remembers())
    side.order->acquire_remembered(thread, location, side.scope);
  if (messages_.empty() || !linked(side, lane)) return;
  if (side.acquires && side.order->acquire(thread, messages_, side.scope)) return;
  // Kept because a fence of a wider scope may follow.
  side.order->remember(thread, location, version_, messages_);
}

void Story::note_observer(const Stamp& who) {
  std::size_t left = entries_.writes();
  for (Entry* at = entries_.begin(); left != 0; ++at) {
    Entry& e = *at;
    left -= e.write;
    if (!e.write || !e.chained || e.observed_by_many || same_thread(e.who, who)) continue;
    // A thread ordered after a later read of a thread is ordered after its first read, too.
    if (std::any_of(e.observer, e.observer + e.observers,
                    [&](const Stamp& z) { return same_thread(z, who); }))
      continue;
    if (e.observers == Entry::kObservers) {
      e.observed_by_many = true;
    } else {
      e.observer[e.observers++] = who;
    }
  }
}

void Story::leave(const Side& side, std::uint32_t lane, bool continues, const Stamp& who) {
  if (!continues) messages_.clear();
  const GridOrder& grid = side.order->grid();
  const std::uint32_t thread = side.warp * 32 + lane;
  if (side.releases) {
    const Message mine = side.order->message_of(side.warp, 1u << lane, false, side.scope);
    messages_.add(mine, grid);
    std::erase_if(released_, [&](const Released& r) {
      return same_thread(r.who, who) && r.message.scope == side.scope;
    });
    if (released_.size() == kMostReleased) released_.erase(released_.begin());
    released_.push_back({who, mine});
  } else {
    for (const Released& r : released_) {
      if (same_thread(r.who, who)) messages_.add(r.message, grid);
    }
  }
  if (side.order->has_fenced(thread)) side.order->leave(thread, messages_);
}

// Removes the entries whose bits are set.
void Story::remove(std::uint64_t entries) {
  static_assert(kMost <= 64);
  if (entries == 0) return;
  if (std::has_single_bit(entries)) {
    entries_.erase(entries_.begin() + std::countr_zero(entries));
  } else {
    entries_.erase_all(entries);
  }
}

// The writes that a strong write covers: strong writes whose observers are among its own, or that
// nobody has observed and nobody can observe.
std::uint64_t Story::covered_by_write(const Side& side, std::uint32_t lane, bool continues) const {
  std::uint64_t covered = 0;
  if (!continues) return covered;
  for (std::size_t i = 0; i < entries_.size(); ++i) {
    const Entry& e = entries_[i];
    const bool is_covered = e.write && e.strong && e.chained && side.scope <= e.scope &&
                            reaches(side.scope, side.block, e.who.block, side.order->cluster()) &&
                            (side.observes || relate(e.who, lane, side) != Relation::kUnordered);
    covered |= std::uint64_t{is_covered} << i;
  }
  return covered;
}

// Removes the earlier reads that a read by some lanes covers; nothing but self may order these
// lanes differently. The reads of one warp at one time lie side by side, so that the order is asked
// for once for all of them.
void Story::remove_covered_by_read(const Side& side, std::uint32_t lanes) {
  const auto lane = static_cast<std::uint32_t>(std::countr_zero(lanes));
  const auto may_be_covered = [&](const Entry& e) {
    return !e.write && (!side.strong || (e.strong && side.scope <= e.scope));
  };
  std::uint64_t covered = 0;
  Entry *const first = entries_.begin(), *const end = entries_.end();
  for (Entry* e = first; e != end;) {
    if (!may_be_covered(*e)) {
      ++e;
      continue;
    }
    const Stamp of = e->who;
    const bool own = of.block == side.block && of.warp == side.warp;
    const std::uint32_t before = lanes_not_unordered(of, lane, side) | (own ? lanes : 0);
    do {
      const std::uint32_t left = may_be_covered(*e) ? e->lanes() & ~before : e->lanes();
      if (left == 0) {
        covered |= std::uint64_t{1} << (e - first);
      } else {
        e->set_lanes(left);
      }
    } while (++e != end && same_time(of, e->who));
  }
  remove(covered);
}

// Removes the entries that `side`'s access, which is about to be added, covers.
void Story::remove_covered(const Side& side, std::uint32_t lane, bool continues) {
  if (!side.write) {
    remove_covered_by_read(side, 1u << lane);
  } else if (side.strong) {
    remove(covered_by_write(side, lane, continues));
  } else {
    entries_.clear();
  }
}

// Ends the chain: no thread observes its writes any more. A later write of a thread covers an
// earlier one if all observers of the later one have observed the earlier one, too.
void Story::end_chain() {
  for (Entry& e : entries_) e.chained = false;
  const auto strong_write = [](const Entry& e) { return e.write && e.strong; };
  const auto stands_for = [&](const Entry& late, const Entry& e) {
    if (!strong_write(late) || late.observed_by_many || late.scope > e.scope ||
        !same_thread(late.who, e.who))
      return false;
    return std::all_of(late.observer, late.observer + late.observers, [&](const Stamp& z) {
      return std::any_of(e.observer, e.observer + e.observers,
                         [&](const Stamp& y) { return same_thread(y, z); });
    });
  };
  for (std::size_t i = entries_.size(); i-- > 0;) {
    const Entry& e = entries_[i];
    if (!strong_write(e)) continue;
    Entry* const later = entries_.begin() + i + 1;
    if (e.observed_by_many || std::any_of(later, entries_.end(),
                                          [&](const Entry& late) { return stands_for(late, e); })) {
      entries_.erase(entries_.begin() + i);
    }
  }
}

void Story::make_room(const Side& side) {
  if (entries_.size() < kMost) return;
  if (entries_.count(kStrongWrite) != 0 && remove_idle_write(side)) return;
  // Removes the oldest entry of the kind with the most entries, but never the weak write.
  Kind most = kStrongWrite;
  for (const Kind k : {kRead, kStrongRead})
    most = entries_.count(k) > entries_.count(most) ? k : most;
  Entry* const oldest = std::find_if(entries_.begin(), entries_.end(),
                                     [&](const Entry& e) { return kind_of(e) == most; });
  if (oldest != entries_.end()) entries_.erase(oldest);
}

// Nothing is reported against a strong write that many have observed. But one write of the launch
// stays, for operations that nothing orders with it.
bool Story::remove_idle_write(const Side& side) {
  const auto of_launch = [&](const Entry& e) {
    return e.write && side.order->is_of_launch(e.who.block);
  };
  Entry* end = entries_.end();
  do {
    if (end == entries_.begin()) return false;
    --end;
  } while (!of_launch(*end));
  Entry* const idle = std::find_if(entries_.begin(), end, [&](const Entry& e) {
    return of_launch(e) && e.strong && e.observed_by_many;
  });
  if (idle == end) return false;
  entries_.erase(idle);
  return true;
}

// Whether a strong read is one that the story has already. A waiting thread repeats its reads many
// times. By another operation it may acquire what the earlier one has not, and a race is reported
// at each operation.
bool Story::repeats_read(const Side& side, const Stamp& who) {
  if (!readers_.test(mark_of(who))) return false;
  const auto is_same = [&](const Entry& e) {
    return same_time(e.who, who) && (e.lanes() >> who.lane & 1) != 0 && !e.write && e.strong &&
           e.version == version_ && e.scope == side.scope && e.size == side.size;
  };
  // Mostly the lanes of a warp read again together.
  if (last_repeated_ >= entries_.size() || !is_same(entries_[last_repeated_])) {
    const auto same = std::find_if(entries_.begin(), entries_.end(), is_same);
    if (same == entries_.end()) return false;
    last_repeated_ = static_cast<std::size_t>(same - entries_.begin());
  }
  Entry& e = entries_[last_repeated_];
  if (e.pc != side.pc && (e.raced || side.acquires || e.others != 0)) return false;
  e.pc = side.pc;
  return true;
}

// Adds a read to the last entry, if that is a read like it by another lane of its warp at that
// time.
bool Story::joins_last(const Entry& read) {
  if (entries_.empty()) return false;
  Entry& last = *(entries_.end() - 1);
  if (last.write || !same_time(last.who, read.who) || last.pc != read.pc ||
      last.strong != read.strong || last.scope != read.scope || last.size != read.size ||
      last.raced != read.raced || last.version != read.version)
    return false;
  last.set_lanes(last.lanes() | read.lanes());
  if (read.strong) readers_.set(mark_of(read.who));
  return true;
}

void Story::add_read(const Side& side, const Entry& read) {
  if (joins_last(read)) return;
  make_room(side);
  push(read);
}

// Whether linked() may hold for some lane, and have an effect on a read.
bool Story::may_link(const Side& side) const {
  if (!written_) return false;
  if (!last_write_.strong) return entries_.writes() > 1 || !messages_.empty();
  return (last_write_.who.block == side.block && last_write_.who.warp == side.warp) ||
         both_strong(last_write_, side);
}

// The lanes of a warp that wait for an mbarrier read it together, again and again.
bool Story::read_as_one(const Side& side, std::uint32_t lanes) {
  if (!side.strong || side.write || !side.order->orders_lanes_alike(side.warp) || may_link(side) ||
      (side.acquires && side.order->remembers()))
    return false;
  const auto lane = static_cast<std::uint32_t>(std::countr_zero(lanes));
  Entry read = entry_of(side, stamp_of(side, lane));
  read.set_lanes(lanes);
  read.version = version_;
  for (const Entry& e : entries_) {
    if (e.write) {
      if (!both_strong(e, side) && relate(e.who, lane, side) != Relation::kOrdered) return false;
    } else if (e.strong && same_time(e.who, read.who) && (e.lanes() & lanes) != 0) {
      return (lanes & ~e.lanes()) == 0 && e.pc == side.pc && e.version == version_ &&
             e.scope == side.scope && e.size == side.size;
    }
  }
  remove_covered_by_read(side, lanes);
  add_read(side, read);
  return true;
}

bool Story::access(const Side& side, std::uint32_t lane, std::uint64_t location, bool certain,
                   Entry& other) {
  const Stamp who = stamp_of(side, lane);
  if (!side.write && side.strong && repeats_read(side, who)) return false;
  const bool link = side.strong && linked(side, lane);
  if (side.strong && side.reads()) see_messages(side, lane, location);
  const Entry* races = nullptr;
  // A read races with writes alone. Most stories have one write and many reads.
  std::size_t left = side.write ? entries_.size() : entries_.writes();
  for (const Entry* e = entries_.begin(); left != 0; ++e) {
    if (!e->write && !side.write) continue;
    --left;
    if (both_strong(*e, side)) continue;
    const std::uint32_t lanes = unordered_lanes(*e, lane, side);
    if (lanes == 0) continue;
    if (e->write && ((e->strong && !certain) || excused(*e, lane, side))) continue;
    races = e;
    other = *e;
    other.set_lanes(lanes);
    break;
  }
  const bool continues = side.updates && link;
  if (side.strong && side.reads() && link) note_observer(who);
  if (side.write && side.strong && !continues) {
    end_chain();
  }
  remove_covered(side, lane, continues);
  Entry fresh = entry_of(side, who);
  fresh.raced = races != nullptr;
  if (side.write) {
    next_version();
    if (side.strong) {
      leave(side, lane, continues, who);
    } else {
      messages_.clear();
    }
    written_ = true;
    last_write_ = fresh;
  }
  fresh.version = version_;
  if (side.write) {
    make_room(side);
    push(fresh);
  } else {
    add_read(side, fresh);
  }
  return races != nullptr;
}

void Story::observe(const Side& side, std::uint32_t lane, std::uint64_t location) {
  see_messages(side, lane, location);
  if (linked(side, lane)) note_observer(stamp_of(side, lane));
}

}  // namespace lockstep::check
