#include "simulator/check/shared_races.h"

#include <immintrin.h>

#include <algorithm>
#include <bit>

namespace lockstep::check {
namespace {

using Vector = __m256i;  // eight words, of as many granules

Vector load(const std::uint32_t* p) {
  return _mm256_loadu_si256(reinterpret_cast<const Vector*>(p));
}
void put(std::uint32_t* p, Vector v) { _mm256_storeu_si256(reinterpret_cast<Vector*>(p), v); }
Vector all_lanes(std::uint32_t v) { return _mm256_set1_epi32(static_cast<int>(v)); }
Vector is_zero(Vector v) { return _mm256_cmpeq_epi32(v, _mm256_setzero_si256()); }
Vector choose(Vector where, Vector yes, Vector no) { return _mm256_blendv_epi8(no, yes, where); }
std::uint32_t bits_of(Vector where) {
  return static_cast<std::uint32_t>(_mm256_movemask_ps(_mm256_castsi256_ps(where)));
}
// A mask of the lanes below `count`.
Vector below(std::uint32_t count) {
  return _mm256_cmpgt_epi32(all_lanes(count), _mm256_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7));
}
Vector consecutive(std::uint32_t first) {
  return _mm256_add_epi32(all_lanes(first), _mm256_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7));
}
// At most eight granules that lanes `mine`, mine + 1, ... read: the words that these will leave,
// and those that are there.
struct Eight {
  Vector inside;  // granules that are meant
  Vector fresh, before, differ;
  Vector recent;  // of this epoch, which words have from this bit on
};
Eight look(const std::uint32_t* words, std::uint32_t count, std::uint32_t mine, int epoch) {
  const Vector inside = below(count), fresh = consecutive(mine), before = load(words),
               differ = _mm256_xor_si256(before, fresh);
  return {inside, fresh, before, differ,
          _mm256_and_si256(is_zero(_mm256_srli_epi32(differ, epoch)), inside)};
}

}  // namespace

void SharedRaces::start(std::uint32_t bytes, int shift, std::uint32_t block, std::uint32_t cluster,
                        GridOrder* grid) {
  // Whole vectors are read, so rows may be read past the last granule.
  const std::size_t granules = (static_cast<std::size_t>(bytes) >> shift) + 33;
  if (shift != shift_ || written_.size() < granules) {
    for (std::vector<std::uint32_t>* words :
         {&written_, &read_, &written_at_, &read_at_, &lane_read_, &lane_read_at_, &warp_read_,
          &warp_read_at_}) {
      words->assign(granules, 0);
    }
    epoch_ = 0;
  }
  shift_ = shift;
  start_block(block, cluster, grid);
  new_words();
  first_epoch_ = epoch_number_;
}

bool SharedRaces::block_barrier(bool is_fence) {
  const bool changed = next_epoch(is_fence);
  new_words();
  return changed;
}

void SharedRaces::new_words() {
  any_read_ = clocks_differ_ = false;
  enough_ = {};
  stories_used_ = 0;
  if (++epoch_ > kLastEpoch) {
    // Words of the latest epochs keep their age for the stamps, older ones get the epoch 0, which
    // is never used. The writer is kept for last_write().
    constexpr std::uint32_t kGone = 64;
    for (std::vector<std::uint32_t>* const words : {&written_, &read_}) {
      for (std::uint32_t& word : *words) {
        const bool kept = word >> kEpochShift > kGone;
        word = kept ? word - (kGone << kEpochShift) : word & ((1u << kEpochShift) - 1);
      }
    }
    epoch_ -= kGone;
  }
}

Story::Entry SharedRaces::entry_of(std::uint32_t word, std::uint32_t at, bool write) const {
  Story::Entry e;
  e.who = {block(), epoch(), static_cast<std::uint16_t>(clock_of(word)),
           static_cast<std::uint8_t>(thread_of(word) >> 5),
           static_cast<std::uint8_t>(thread_of(word) & 31)};
  e.pc = at & kPc;
  e.write = write;
  e.strong = write && (word & kStrong) != 0;
  e.scope = Scope::kBlock;
  e.updates = e.strong;
  e.observes = e.strong && (word & kObserves) != 0;
  e.size = static_cast<std::uint8_t>(at >> kSizeShift);
  e.chained = write;
  return e;
}

Story& SharedRaces::make_story(std::uint32_t granule) {
  any_read_ = true;
  if (stories_used_ == stories_.size()) stories_.emplace_back();
  Story& story = stories_[stories_used_];
  story.reset();
  const std::uint32_t wr = written_[granule], rd = read_[granule];
  if (now(wr)) {
    if (wr & kManyWarps) story.add(entry_of(warp_read_[granule], warp_read_at_[granule], true));
    story.add(entry_of(wr, written_at_[granule], true));
  }
  if (now(rd)) {
    story.add(entry_of(rd, read_at_[granule], false));
    if (rd & kManyLanes) story.add(entry_of(lane_read_[granule], lane_read_at_[granule], false));
    if ((rd & kManyWarps) && !(now(wr) && (wr & kManyWarps)))
      story.add(entry_of(warp_read_[granule], warp_read_at_[granule], false));
  }
  read_[granule] = epoch_ << kEpochShift | kStrong | stories_used_++;
  return story;
}

bool SharedRaces::joins_strong_writes(std::uint32_t granule, std::uint32_t thread,
                                      const Side& side) const {
  if (!side.write || !side.updates || side.acquires || side.releases || now(read_[granule]) ||
      has_fenced(thread))
    return false;
  const std::uint32_t wr = written_[granule];
  return !now(wr) || ((wr & kStrong) != 0 && written_at_[granule] >> kSizeShift == side.size);
}

// If results are used, the last write represents all before it. Otherwise two threads are named,
// and a third changes nothing.
inline __attribute__((always_inline)) void SharedRaces::write_strongly(const WriteWords& of,
                                                                       std::uint64_t granule,
                                                                       std::uint32_t mine,
                                                                       std::uint32_t at) const {
  const std::uint32_t before = of.written[granule];
  const bool joins = !(mine & kObserves) & now(before),
             again = thread_of(before) == thread_of(mine), two = (before & kManyWarps) != 0;
  if (__builtin_expect(joins & (again | two), 0)) {
    if (again) {
      of.written[granule] = mine | (before & kManyWarps);
      of.written_at[granule] = at;
    } else if (thread_of(of.second[granule]) == thread_of(mine)) {
      of.second[granule] = mine;
      of.second_at[granule] = at;
    }
    return;
  }
  // Names the first of two threads, or the only one. There is no branch, since the choice depends
  // on the data. Without kManyWarps the words of a second thread are ignored, as nobody reads in
  // this epoch.
  of.second[granule] = before;
  of.second_at[granule] = of.written_at[granule];
  of.written[granule] = mine | std::uint32_t{joins} * kManyWarps;
  of.written_at[granule] = at;
}

bool SharedRaces::one_of_any(std::uint32_t granule, std::uint32_t thread, const Side& side,
                             Conflict& conflict) {
  if (!is_story(read_[granule]) && joins_strong_writes(granule, thread, side)) {
    write_strongly(write_words(), granule, word(thread) | strong_kind(side), at_of_strong(side));
    return false;
  }
  Story& story = story_of(granule);
  Story::Entry other;
  const bool found = story.access(side, thread & 31, std::uint64_t{1} << 63 | granule, true, other);
  if (found)
    conflict = {other.who.warp * 32u + other.who.lane, other.pc, other.write, other.strong};
  if (side.write) {
    written_[granule] = word(thread) | (side.strong ? kStrong : 0);
    written_at_[granule] = side.strong ? at_of_strong(side) : side.pc;
    if (!side.strong && story.is_one_weak_write()) read_[granule] = 0;
  }
  return found;
}

bool SharedRaces::read_as_one(std::uint32_t offset, std::uint32_t size, std::uint32_t lanes,
                              const Side& side) {
  enough_ = {};
  const std::uint32_t last = (offset + size - 1) >> shift_;
  for (std::uint32_t g = offset >> shift_; g <= last; ++g)
    if (!story_of(g).read_as_one(side, lanes)) return false;
  return true;
}

bool SharedRaces::after_reads(std::uint32_t granule, std::uint32_t thread,
                              Conflict& conflict) const {
  const auto races = [&](std::uint32_t reader, std::uint32_t at) {
    const std::uint32_t other = thread_of(reader);
    if (other == thread || ordered(other, clock_of(reader), thread)) return false;
    conflict = {other, at, false, (reader & kStrong) != 0};
    return true;
  };
  const std::uint32_t rd = read_[granule];
  return races(rd, read_at_[granule]) ||
         ((rd & kManyLanes) && races(lane_read_[granule], lane_read_at_[granule])) ||
         ((rd & kManyWarps) && races(warp_read_[granule], warp_read_at_[granule]));
}

inline void SharedRaces::set_readers(std::uint32_t first, std::uint32_t count, std::uint32_t mine,
                                     std::uint32_t pc) {
  std::uint32_t *const rd = &read_[first], *const at = &read_at_[first];
  const Vector inside = below(count);
  put(rd, choose(inside, consecutive(mine), load(rd)));
  put(at, choose(inside, all_lanes(pc), load(at)));
}

inline std::uint32_t SharedRaces::add_second_readers(std::uint32_t first, std::uint32_t count,
                                                     std::uint32_t mine, std::uint32_t pc) {
  std::uint32_t *const rd = &read_[first], *const at = &read_at_[first],
                       *const second = &lane_read_[first], *const second_at = &lane_read_at_[first];
  const Vector inside = below(count), before = load(rd), before_at = load(at);
  put(second, choose(inside, before, load(second)));
  put(second_at, choose(inside, before_at, load(second_at)));
  const Vector merged = _mm256_or_si256(consecutive(mine | kManyLanes),
                                        _mm256_and_si256(before, all_lanes(kManyWarps)));
  put(rd, choose(inside, merged, before));
  put(at, choose(inside, all_lanes(pc), before_at));
  return bits_of(inside);
}

bool SharedRaces::read_part(std::uint32_t first, std::uint32_t count, std::uint32_t mine,
                            std::uint32_t pc) {
  const std::uint32_t *const rd = &read_[first], *const wr = &written_[first];
  // Two readers of this warp at this clock are known, or readers of two warps that nothing orders.
  // Any thread that writes races with one of the two.
  const Vector of_lanes = all_lanes(~(kLane | kManyWarps)),
               by_lanes = all_lanes(clocks_differ_ ? ~0u : enough_.readers);
  const Vector of_warps = all_lanes(kOfAll & ~kManyLanes),
               by_warps = all_lanes(readers_of_all_suffice(thread_of(mine) >> 5)
                                        ? read_by_all() & ~kManyLanes
                                        : ~0u);
  const Vector story = all_lanes(kStrong);
  Vector suspicious = _mm256_setzero_si256();
  // Bits by granule: `enough` has two recorded lanes, `unwritten` has no writer. Bits by the first
  // of eight granules: `unread` if nobody has read them, `by_one` if one other lane of this warp
  // has read each, `mixed` otherwise.
  std::uint32_t enough = 0, unwritten = 0, unread = 0, by_one = 0, mixed = 0;
  for (std::uint32_t i = 0; i < count; i += 8) {
    const Eight e = look(rd + i, count - i, mine + i, kEpochShift);
    const Vector written = _mm256_xor_si256(load(wr + i), e.fresh),
                 is_written =
                     _mm256_and_si256(is_zero(_mm256_srli_epi32(written, kEpochShift)), e.inside);
    if (_mm256_testz_si256(is_written, is_written)) {
      unwritten |= 0xffu << i;
    } else {
      suspicious = _mm256_or_si256(
          suspicious,
          _mm256_and_si256(is_written, _mm256_and_si256(written, all_lanes(kThread | kStrong))));
    }
    if (_mm256_testz_si256(e.recent, e.recent)) {
      unread |= 1u << i;
      continue;
    }
    const Vector two_lanes = _mm256_cmpeq_epi32(_mm256_and_si256(e.before, of_lanes), by_lanes);
    if (_mm256_testc_si256(
            _mm256_or_si256(two_lanes,
                            _mm256_cmpeq_epi32(_mm256_and_si256(e.before, of_warps), by_warps)),
            e.inside)) {
      enough |= bits_of(_mm256_and_si256(two_lanes, e.inside)) << i;
      continue;
    }
    suspicious =
        _mm256_or_si256(suspicious, _mm256_and_si256(e.recent, _mm256_and_si256(e.before, story)));
    const Vector same_warp = is_zero(_mm256_and_si256(e.differ, of_lanes)),
                 self = is_zero(_mm256_and_si256(e.differ, all_lanes(kLane)));
    (_mm256_testc_si256(_mm256_andnot_si256(self, same_warp), e.inside) ? by_one : mixed) |= 1u
                                                                                             << i;
  }
  if (clock_of(mine) != 0 && may_be_unmet(first, count, mine)) return false;
  if (!_mm256_testz_si256(suspicious, suspicious)) return false;
  for (; unread != 0; unread &= unread - 1) {
    const auto i = static_cast<std::uint32_t>(__builtin_ctz(unread));
    set_readers(first + i, count - i, mine + i, pc);
  }
  for (; by_one != 0; by_one &= by_one - 1) {
    const auto i = static_cast<std::uint32_t>(__builtin_ctz(by_one));
    enough |= add_second_readers(first + i, count - i, mine + i, pc) << i;
  }
  for (; mixed != 0; mixed &= mixed - 1) {
    const auto i = static_cast<std::uint32_t>(__builtin_ctz(mixed));
    enough |= add_readers(first + i, count - i, mine + i, pc) << i;
  }
  if (!clocks_differ_) enough_.add(first, count, enough & unwritten);
  return true;
}

void SharedRaces::Enough::add(std::uint32_t first, std::uint32_t count, std::uint32_t granules) {
  if (granules == 0) return;
  if (first == end) {
    end += static_cast<std::uint32_t>(std::countr_one(granules));
  } else if (first + count == begin) {
    begin -= static_cast<std::uint32_t>(std::countl_one(granules << (32 - count)));
  } else {
    begin = first + static_cast<std::uint32_t>(std::countr_zero(granules));
    end = begin + static_cast<std::uint32_t>(std::countr_one(granules >> (begin - first)));
  }
}

// Whether the row meets readers of this warp at another clock: lanes that have not synchronised
// since, or the same lane if another reader is known beside it.
bool SharedRaces::may_be_unmet(std::uint32_t first, std::uint32_t count, std::uint32_t mine) const {
  const std::uint32_t warp = thread_of(mine) >> 5;
  const Vector clock = all_lanes(kClock), met = all_lanes(all_lanes_[warp] << kClockShift);
  Vector unmet = _mm256_setzero_si256();
  for (std::uint32_t i = 0; i < count; i += 8) {
    const Vector before = load(&read_[first + i]),
                 differ = _mm256_xor_si256(before, consecutive(mine + i));
    const Vector recent =
        _mm256_and_si256(is_zero(_mm256_srli_epi32(differ, kEpochShift)), below(count - i));
    const Vector here = _mm256_andnot_si256(
        is_zero(_mm256_and_si256(differ, clock)),
        _mm256_and_si256(recent, is_zero(_mm256_and_si256(differ, all_lanes(kWarp)))));
    const Vector self = is_zero(_mm256_and_si256(differ, all_lanes(kThread))),
                 many = _mm256_and_si256(before, all_lanes(kManyLanes));
    const Vector since = _mm256_andnot_si256(
        _mm256_cmpgt_epi32(met, _mm256_and_si256(before, clock)), all_lanes(~0u));
    unmet = _mm256_or_si256(unmet, _mm256_and_si256(here, choose(self, many, since)));
  }
  return !_mm256_testz_si256(unmet, unmet);
}

std::uint32_t SharedRaces::add_readers(std::uint32_t first, std::uint32_t count, std::uint32_t mine,
                                       std::uint32_t pc) {
  std::uint32_t *const rd = &read_[first], *const at = &read_at_[first];
  const Eight e = look(rd, count, mine, kEpochShift);
  const Vector inside = e.inside, fresh = e.fresh, before = e.before, differ = e.differ,
               recent = e.recent;
  const Vector before_at = load(at);
  const Vector self = is_zero(_mm256_and_si256(differ, all_lanes(kThread)));
  const Vector together = is_zero(_mm256_and_si256(differ, all_lanes(kWarp | kClock)));
  const Vector same_warp = is_zero(_mm256_and_si256(differ, all_lanes(kWarp)));
  const Vector others =
      choose(same_warp, _mm256_and_si256(before, all_lanes(kManyWarps)), all_lanes(kManyWarps));
  Vector merged = _mm256_or_si256(fresh, others);
  merged = _mm256_or_si256(merged, _mm256_and_si256(together, all_lanes(kManyLanes)));
  const Vector later = all_lanes(kClock);  // the same thread reads again
  const Vector again =
      _mm256_or_si256(_mm256_andnot_si256(later, before), _mm256_and_si256(fresh, later));
  merged = choose(recent, choose(self, again, merged), fresh);
  const Vector kept = _mm256_and_si256(_mm256_and_si256(recent, self), together);
  const Vector of_others = _mm256_andnot_si256(self, recent);
  const auto also_read = [&](std::uint32_t* word, std::uint32_t* word_at, Vector where,
                             std::uint32_t many, std::uint32_t who) {
    if (_mm256_testz_si256(where, where)) return;
    const Vector known = load(word), none = is_zero(_mm256_and_si256(before, all_lanes(many)));
    const Vector same = is_zero(_mm256_and_si256(_mm256_xor_si256(known, fresh), all_lanes(who)));
    const Vector here = _mm256_and_si256(where, _mm256_or_si256(none, same));
    put(word, choose(here, before, known));
    put(word_at, choose(here, before_at, load(word_at)));
  };
  also_read(&lane_read_[first], &lane_read_at_[first], _mm256_and_si256(together, of_others),
            kManyLanes, kThread);
  also_read(&warp_read_[first], &warp_read_at_[first], _mm256_andnot_si256(same_warp, of_others),
            kManyWarps, kWarp);
  put(rd, choose(inside, merged, before));
  put(at, choose(_mm256_andnot_si256(kept, inside), all_lanes(pc), before_at));
  const Vector two_lanes = _mm256_cmpeq_epi32(
      _mm256_and_si256(merged, all_lanes(~(kLane | kManyWarps))), all_lanes(enough_.readers));
  return bits_of(_mm256_and_si256(two_lanes, inside));
}

bool SharedRaces::read_lanes(const std::uint32_t* offsets, std::uint32_t lanes, std::uint32_t warp,
                             std::uint32_t pc, bool strong) {
  if (strong) return false;
  // A granule that several lanes of this warp have read at this clock needs nothing more, whichever
  // lane reads it again.
  const std::uint32_t recorded = read_by_lanes(warp);
  // A granule that several lanes of several warps have read needs nothing more, as long as nothing
  // orders warps: no read can change the verdict on a later write.
  const bool unordered = readers_of_all_suffice(warp);
  const std::uint32_t all = read_by_all();
  const Side reader = side(warp, pc, false, false);
  Conflict conflict;
  for (; lanes != 0; lanes &= lanes - 1) {
    const auto lane = static_cast<std::uint32_t>(__builtin_ctz(lanes));
    const std::uint32_t g = offsets[lane] >> shift_;
    const std::uint32_t rd = read_[g];
    if (!now(written_[g]) && ((!clocks_differ_ && (rd & ~(kLane | kManyWarps)) == recorded) ||
                              (unordered && (rd & kOfAll) == all))) {
      continue;
    }
    if (one(g, lane, reader, conflict)) return false;
  }
  return true;
}

namespace {

__m128i four(const std::uint32_t* p) {
  return _mm_loadu_si128(reinterpret_cast<const __m128i*>(p));
}
void put_four(std::uint32_t* p, __m128i v) { _mm_storeu_si128(reinterpret_cast<__m128i*>(p), v); }
__m128i all(std::uint32_t v) { return _mm_set1_epi32(static_cast<int>(v)); }
bool alike(const std::uint32_t* p) {
  const __m128i differ = _mm_xor_si128(four(p), all(*p));
  return _mm_testz_si128(differ, differ) != 0;
}

}  // namespace

// Most tiles were written by the lanes of a warp side by side, or by one thread.
inline bool SharedRaces::four_written_before(std::uint32_t first, std::uint32_t thread) const {
  const std::uint32_t* const wr = &written_[first];
  if (alike(wr)) return written_before(*wr, thread);
  const __m128i apart = _mm_andnot_si128(all(kLane), _mm_xor_si128(four(wr), all(*wr)));
  if (!_mm_testz_si128(apart, apart)) {
    return std::all_of(wr, wr + 4,
                       [&](std::uint32_t w) { return !now(w) || written_before(w, thread); });
  }
  const std::uint32_t warp = thread_of(*wr) >> 5,
                      self = warp == thread >> 5 ? 1u << (thread & kLane) : 0,
                      lanes = self | ordered_lanes(warp, clock_of(*wr), thread);
  return !(*wr & kStrong) &&
         std::all_of(wr, wr + 4, [&](std::uint32_t w) { return (lanes >> (w & kLane) & 1) != 0; });
}

// Has one case for each case of one().
bool SharedRaces::read_four(std::uint32_t first, std::uint32_t thread, std::uint32_t pc) {
  any_read_ = true;
  const auto recent = [&](__m128i words) {
    return _mm_cmpeq_epi32(_mm_srli_epi32(words, kEpochShift), all(epoch_));
  };
  std::uint32_t *const rd = &read_[first], *const wr = &written_[first];
  const __m128i written = recent(four(wr)), words = four(rd), read = recent(words);
  if (!_mm_testz_si128(written, written) && !four_written_before(first, thread)) return false;
  const std::uint32_t mine = word(thread), before = rd[0];
  std::uint32_t after = mine;
  if (!_mm_testz_si128(read, read)) {
    const __m128i differ = _mm_xor_si128(words, all(before));
    if (!_mm_testz_si128(differ, differ) || (before & kStrong)) return false;
    const std::uint32_t other = thread_of(before);
    if (other == thread) return clock_of(before) == clock_of(mine);
    const bool same_warp = (other >> 5) == (thread >> 5),
               is_ordered = ordered(other, clock_of(before), thread);
    if (same_warp || !is_ordered) {
      const bool unmet = same_warp && (clock_of(before) == clock_of(mine) || !is_ordered);
      clocks_differ_ = clocks_differ_ || (unmet && clock_of(before) != clock_of(mine));
      after |= same_warp ? (before & kManyWarps) | (unmet ? kManyLanes : 0) : kManyWarps;
      if (unmet || !same_warp) {
        std::uint32_t* const second = same_warp ? &lane_read_[first] : &warp_read_[first];
        std::uint32_t* const second_at = same_warp ? &lane_read_at_[first] : &warp_read_at_[first];
        // A second reader stays unless it is this reader.
        const std::uint32_t who = same_warp ? kThread : kWarp;
        const __m128i known = four(second),
                      stays = (before & (same_warp ? kManyLanes : kManyWarps)) == 0
                                  ? _mm_setzero_si128()
                                  : _mm_xor_si128(_mm_cmpeq_epi32(_mm_and_si128(known, all(who)),
                                                                  all(thread & who)),
                                                  all(~0u));
        put_four(second, _mm_blendv_epi8(words, known, stays));
        put_four(second_at, _mm_blendv_epi8(four(&read_at_[first]), four(second_at), stays));
      }
    }
  }
  enough_ = {};
  put_four(rd, all(after));
  put_four(&read_at_[first], all(pc));
  return true;
}

// As read_four(), this has one case for each case of one().
bool SharedRaces::write_four(std::uint32_t first, std::uint32_t thread, std::uint32_t pc) {
  std::uint32_t *const wr = &written_[first], *const rd = &read_[first];
  // Words of earlier epochs are ignored, whatever they are.
  const auto recent = [&](const std::uint32_t* p) {
    return _mm_cmpeq_epi32(_mm_srli_epi32(four(p), kEpochShift), all(epoch_));
  };
  const __m128i written = recent(wr), read = recent(rd);
  if (!_mm_testz_si128(written, written) && !four_written_before(first, thread)) return false;
  if (!_mm_testz_si128(read, read)) {
    if (!alike(rd) || (*rd & kStrong) || ((*rd & kManyLanes) && !alike(&lane_read_[first])) ||
        ((*rd & kManyWarps) && !alike(&warp_read_[first])))
      return false;
    Conflict conflict;
    if (after_reads(first, thread, conflict)) return false;
  }
  enough_ = {};
  put_four(wr, all(word(thread)));
  put_four(&written_at_[first], all(pc));
  put_four(rd, _mm_setzero_si128());
  return true;
}

bool SharedRaces::write_row(std::uint32_t first, std::uint32_t lane, std::uint32_t count,
                            std::uint32_t warp, std::uint32_t pc, bool strong) {
  if (strong) return false;
  std::uint32_t *wr = &written_[first], *rd = &read_[first], *at = &written_at_[first];
  const std::uint32_t mine = word(warp * 32 + lane);
  Vector suspicious = _mm256_setzero_si256();
  for (std::uint32_t i = 0; i < count; i += 8) {
    const Vector fresh = consecutive(mine + i), inside = below(count - i);
    const auto add = [&](Vector word, Vector bad) {
      const Vector recent = _mm256_and_si256(
          is_zero(_mm256_srli_epi32(_mm256_xor_si256(word, fresh), kEpochShift)), inside);
      suspicious = _mm256_or_si256(suspicious, _mm256_and_si256(recent, bad));
    };
    const Vector written = load(wr + i), read = load(rd + i), thread = all_lanes(kThread);
    add(written, _mm256_or_si256(_mm256_and_si256(_mm256_xor_si256(written, fresh), thread),
                                 _mm256_and_si256(written, all_lanes(kStrong))));
    add(read,
        _mm256_or_si256(_mm256_and_si256(_mm256_xor_si256(read, fresh), thread),
                        _mm256_and_si256(read, all_lanes(kManyLanes | kManyWarps | kStrong))));
  }
  if (!_mm256_testz_si256(suspicious, suspicious)) return false;
  enough_ = {};
  for (std::uint32_t i = 0; i < count; i += 8) {
    const Vector inside = below(count - i);
    put(wr + i, choose(inside, consecutive(mine + i), load(wr + i)));
    put(rd + i, _mm256_andnot_si256(inside, load(rd + i)));
    put(at + i, choose(inside, all_lanes(pc), load(at + i)));
  }
  return true;
}

bool SharedRaces::write_lanes_strongly(const std::uint64_t* offsets, std::uint32_t lanes,
                                       const Side& side) {
  if (side.acquires || side.releases || !side.updates || has_fenced_in(side.warp)) return false;
  const std::uint32_t kind = strong_kind(side), mine = word(side.warp * 32) | kind,
                      my_at = at_of_strong(side);
  const auto gather = [](const std::vector<std::uint32_t>& words, Vector at) {
    return _mm256_i32gather_epi32(reinterpret_cast<const int*>(words.data()), at, 4);
  };
  const auto now = [&](Vector words) {
    return _mm256_cmpeq_epi32(_mm256_srli_epi32(words, kEpochShift), all_lanes(epoch_));
  };
  const auto has = [](Vector words, std::uint32_t mask, std::uint32_t bits) {
    return _mm256_cmpeq_epi32(_mm256_and_si256(words, all_lanes(mask)), all_lanes(bits));
  };
  // Lanes that change nothing: a third thread at its granule, or one of two that writes again as
  // before. Most accesses to counters that many threads share are of this kind.
  std::uint32_t fit = 0, unchanged = 0;
  for (std::uint32_t i = 0; i < 32; i += 8) {
    if ((lanes >> i & 0xff) == 0) continue;
    const Vector low = load(reinterpret_cast<const std::uint32_t*>(offsets + i)),
                 high = load(reinterpret_cast<const std::uint32_t*>(offsets + i + 4));
    const Vector even = _mm256_setr_epi32(0, 2, 4, 6, 0, 2, 4, 6);
    const Vector both = _mm256_blend_epi32(_mm256_permutevar8x32_epi32(low, even),
                                           _mm256_permutevar8x32_epi32(high, even), 0xf0);
    const Vector active =
        _mm256_sllv_epi32(all_lanes(lanes >> i), _mm256_setr_epi32(31, 30, 29, 28, 27, 26, 25, 24));
    const Vector at = _mm256_and_si256(_mm256_srli_epi32(both, 2), _mm256_srai_epi32(active, 31));
    const Vector wr = gather(written_, at), current = now(wr), me = consecutive(mine + i);
    const Vector alike = has(wr, kStrong | kNoWord, kStrong);
    const Vector read = any_read_ ? now(gather(read_, at)) : _mm256_setzero_si256();
    fit |= bits_of(_mm256_andnot_si256(
               read, _mm256_or_si256(_mm256_xor_si256(current, all_lanes(~0u)), alike)))
           << i;
    if (side.observes) continue;
    const Vector second = gather(warp_read_, at);
    const auto of_me = [&](Vector word, std::uint32_t but_for, const auto& made_at) {
      const Vector differ = _mm256_xor_si256(word, me);
      const Vector same = has(differ, ~but_for, 0);
      return std::pair(
          has(differ, kThread, 0),
          _mm256_and_si256(same, _mm256_cmpeq_epi32(gather(made_at, at), all_lanes(my_at))));
    };
    const auto [is_first, first_again] = of_me(wr, kManyWarps, written_at_);
    const auto [is_second, second_again] = of_me(second, 0, warp_read_at_);
    const Vector of_two = _mm256_or_si256(
        _mm256_andnot_si256(_mm256_or_si256(is_first, is_second), all_lanes(~0u)), second_again);
    unchanged |=
        bits_of(_mm256_or_si256(
            first_again,
            _mm256_and_si256(_mm256_and_si256(current, has(wr, kManyWarps, kManyWarps)), of_two)))
        << i;
  }
  if ((lanes & ~fit) != 0) return false;
  enough_ = {};
  const WriteWords words = write_words();
  for (std::uint32_t todo = lanes & ~unchanged; todo != 0; todo &= todo - 1) {
    const auto lane = static_cast<std::uint32_t>(__builtin_ctz(todo));
    write_strongly(words, offsets[lane] >> 2, mine + lane, my_at);
  }
  return true;
}

}  // namespace lockstep::check
