#include "simulator/check/shared_races.h"

#include <immintrin.h>

#include <algorithm>

namespace lockstep::check {
namespace {

using Vector = __m256i;  // eight words, of as many granules

Vector load(const std::uint32_t* p) { return _mm256_loadu_si256(reinterpret_cast<const Vector*>(p)); }
void put(std::uint32_t* p, Vector v) { _mm256_storeu_si256(reinterpret_cast<Vector*>(p), v); }
Vector all_lanes(std::uint32_t v) { return _mm256_set1_epi32(static_cast<int>(v)); }
Vector is_zero(Vector v) { return _mm256_cmpeq_epi32(v, _mm256_setzero_si256()); }
Vector choose(Vector where, Vector yes, Vector no) { return _mm256_blendv_epi8(no, yes, where); }
// Lanes below `count`.
Vector below(std::uint32_t count) { return _mm256_cmpgt_epi32(all_lanes(count), _mm256_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7)); }
Vector consecutive(std::uint32_t first) { return _mm256_add_epi32(all_lanes(first), _mm256_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7)); }

}  // namespace

void SharedRaces::start(std::uint32_t bytes, int shift) {
  // Rows are read past the last granule by whole vectors.
  const std::size_t granules = (static_cast<std::size_t>(bytes) >> shift) + 33;
  if (shift != shift_ || written_.size() < granules) {
    for (std::vector<std::uint32_t>* words : {&written_, &read_, &written_at_, &read_at_, &lane_read_, &lane_read_at_, &warp_read_, &warp_read_at_}) {
      words->assign(granules, 0);
    }
    epoch_ = 0;
  }
  shift_ = shift;
  block_barrier();
  first_epoch_ = epoch_number_;
}

void SharedRaces::block_barrier() {
  next_epoch();
  if (++epoch_ > kLastEpoch) {
    // Epoch 0 never comes. Who wrote stays known (last_write).
    for (std::uint32_t& word : written_) word &= (1u << kEpochShift) - 1;
    std::fill(read_.begin(), read_.end(), 0);
    epoch_ = 1;
  }
}

bool SharedRaces::after_reads(std::uint32_t granule, std::uint32_t thread, bool strong, Conflict& conflict) const {
  const auto races = [&](std::uint32_t reader, std::uint32_t at) {
    const std::uint32_t other = thread_of(reader);
    if (other == thread || (strong && (reader & kStrong)) || ordered(other, clock_of(reader), thread)) return false;
    conflict = {other, at, false, (reader & kStrong) != 0};
    return true;
  };
  const std::uint32_t rd = read_[granule];
  return races(rd, read_at_[granule]) || ((rd & kManyLanes) && races(lane_read_[granule], lane_read_at_[granule])) ||
         ((rd & kManyWarps) && races(warp_read_[granule], warp_read_at_[granule]));
}

bool SharedRaces::read_row(std::uint32_t first, std::uint32_t lane, std::uint32_t count, std::uint32_t warp, std::uint32_t pc, bool strong) {
  const std::uint32_t* wr = &written_[first];
  std::uint32_t *rd = &read_[first], *at = &read_at_[first];
  const std::uint32_t mine = word(warp * 32 + lane, strong);
  const Vector thread = all_lanes(kThread);
  // Other writers; and readers who are not as strong as this one, but for its own readings, are summarised one by one.
  const Vector unlike = all_lanes(strong ? kThread | kStrong : kStrong);
  // Two readers of this warp at this clock are known, or of two warps where nothing orders warps: whoever writes, one of them races.
  const Vector of_lanes = all_lanes(~(kLane | kManyWarps)), by_lanes = all_lanes(read_by_lanes(warp, strong));
  const Vector of_warps = all_lanes(kOfAll & ~kManyLanes), by_warps = all_lanes(partial_ ? ~0u : read_by_all(strong) & ~kManyLanes);
  const auto is_enough = [&](Vector before) {
    return _mm256_or_si256(_mm256_cmpeq_epi32(_mm256_and_si256(before, of_lanes), by_lanes), _mm256_cmpeq_epi32(_mm256_and_si256(before, of_warps), by_warps));
  };
  const Vector epoch = all_lanes(epoch_);
  Vector suspicious = _mm256_setzero_si256();
  std::uint32_t todo = 0;  // which eights of granules are to be looked at below
  for (std::uint32_t i = 0; i < count; i += 8) {
    const Vector inside = below(count - i), before = load(rd + i), written = load(wr + i);
    const auto recent = [&](Vector word) { return _mm256_and_si256(_mm256_cmpeq_epi32(_mm256_srli_epi32(word, kEpochShift), epoch), inside); };
    const auto add = [&](Vector word, Vector bits) {
      const Vector differ = _mm256_xor_si256(word, consecutive(mine + i));
      suspicious = _mm256_or_si256(suspicious, _mm256_and_si256(recent(word), _mm256_and_si256(differ, bits)));
    };
    const Vector is_written = recent(written);
    if (!_mm256_testz_si256(is_written, is_written)) add(written, thread);
    if (_mm256_testc_si256(is_enough(before), inside)) continue;
    add(before, unlike);
    todo |= 1u << i / 8;
  }
  // And readers of this warp at another clock: lanes that have not met since, or this one where another is known beside it.
  const Vector same_warp_only = all_lanes(kWarp), clock = all_lanes(kClock), met = all_lanes(all_lanes_[warp] << kClockShift);
  for (std::uint32_t i = 0; i < count && clock_[warp] != 0; i += 8) {
    const Vector before = load(rd + i), differ = _mm256_xor_si256(before, consecutive(mine + i));
    const Vector recent = _mm256_and_si256(is_zero(_mm256_srli_epi32(differ, kEpochShift)), below(count - i));
    const Vector here =
        _mm256_andnot_si256(is_zero(_mm256_and_si256(differ, clock)), _mm256_and_si256(recent, is_zero(_mm256_and_si256(differ, same_warp_only))));
    const Vector self = is_zero(_mm256_and_si256(differ, thread)), many = _mm256_and_si256(before, all_lanes(strong ? 0 : kManyLanes));
    const Vector unmet = _mm256_andnot_si256(_mm256_cmpgt_epi32(met, _mm256_and_si256(before, clock)), all_lanes(~0u));
    suspicious = _mm256_or_si256(suspicious, _mm256_and_si256(here, choose(self, many, unmet)));
  }
  if (!_mm256_testz_si256(suspicious, suspicious)) return false;
  for (; todo != 0; todo &= todo - 1) {
    const std::uint32_t i = 8 * static_cast<std::uint32_t>(__builtin_ctz(todo));
    const Vector before = load(rd + i), inside = below(count - i);
    // Readers of this warp at this clock differ from `fresh` in lane only.
    const Vector fresh = consecutive(mine + i), differ = _mm256_xor_si256(before, fresh);
    const Vector recent = is_zero(_mm256_srli_epi32(differ, kEpochShift)), self = is_zero(_mm256_and_si256(differ, thread));
    const Vector together = is_zero(_mm256_and_si256(differ, all_lanes(kWarp | kClock)));
    const Vector same_warp = is_zero(_mm256_and_si256(differ, all_lanes(kWarp)));
    const Vector others = choose(same_warp, _mm256_and_si256(before, all_lanes(kManyWarps)), all_lanes(kManyWarps));
    Vector merged = _mm256_or_si256(_mm256_or_si256(fresh, others), _mm256_and_si256(before, all_lanes(kSeen)));
    merged = _mm256_or_si256(merged, _mm256_and_si256(together, all_lanes(kManyLanes)));
    const Vector later = strong ? _mm256_setzero_si256() : clock;  // reading again
    const Vector again = _mm256_or_si256(_mm256_andnot_si256(later, before), _mm256_and_si256(fresh, later));
    merged = choose(recent, choose(self, again, merged), fresh);
    const Vector kept = _mm256_and_si256(_mm256_and_si256(recent, self), strong ? all_lanes(~0u) : together), before_at = load(at + i);
    const Vector of_others = _mm256_and_si256(_mm256_andnot_si256(self, recent), inside);
    if (!_mm256_testz_si256(of_others, of_others)) {
      const auto also_read = [&](std::uint32_t* word, std::uint32_t* word_at, Vector where, std::uint32_t many, std::uint32_t who) {
        const Vector known = load(word), none = is_zero(_mm256_and_si256(before, all_lanes(many)));
        const Vector same = is_zero(_mm256_and_si256(_mm256_xor_si256(known, fresh), all_lanes(who)));
        const Vector here = _mm256_and_si256(where, _mm256_or_si256(none, same));
        if (_mm256_testz_si256(here, here)) return;
        put(word, choose(here, before, known));
        put(word_at, choose(here, before_at, load(word_at)));
      };
      also_read(&lane_read_[first + i], &lane_read_at_[first + i], _mm256_and_si256(together, of_others), kManyLanes, kThread);
      also_read(&warp_read_[first + i], &warp_read_at_[first + i], _mm256_andnot_si256(same_warp, of_others), kManyWarps, kWarp);
    }
    put(rd + i, choose(inside, merged, before));
    put(at + i, choose(_mm256_andnot_si256(kept, inside), all_lanes(pc), before_at));
  }
  return true;
}

bool SharedRaces::read_lanes(const std::uint32_t* offsets, std::uint32_t lanes, std::uint32_t warp, std::uint32_t pc, bool strong) {
  // A granule that several lanes of this warp have read at this clock needs nothing more, whichever lane reads it again.
  const std::uint32_t recorded = read_by_lanes(warp, strong);
  // Nor does one that several lanes of several warps have read, as long as nothing orders some warps before others: no read can change what a
  // later write would be told.
  const bool unordered = !partial_ && !lanes_used_;
  const std::uint32_t all = read_by_all(strong);
  Conflict conflict;
  for (; lanes != 0; lanes &= lanes - 1) {
    const auto lane = static_cast<std::uint32_t>(__builtin_ctz(lanes));
    const std::uint32_t g = offsets[lane] >> shift_;
    const std::uint32_t rd = read_[g];
    if (!now(written_[g]) && ((rd & ~(kLane | kManyWarps)) == recorded || (unordered && (rd & kOfAll) == all))) {
      continue;
    }
    if (one(g, warp * 32 + lane, pc, false, strong, conflict)) return false;
  }
  return true;
}

namespace {

__m128i four(const std::uint32_t* p) { return _mm_loadu_si128(reinterpret_cast<const __m128i*>(p)); }
void put_four(std::uint32_t* p, __m128i v) { _mm_storeu_si128(reinterpret_cast<__m128i*>(p), v); }
__m128i all(std::uint32_t v) { return _mm_set1_epi32(static_cast<int>(v)); }
bool alike(const std::uint32_t* p) {
  const __m128i differ = _mm_xor_si128(four(p), all(*p));
  return _mm_testz_si128(differ, differ) != 0;
}

}  // namespace

// Where one() has a case, so has this.
bool SharedRaces::read_four(std::uint32_t first, std::uint32_t thread, std::uint32_t pc) {
  const auto recent = [&](__m128i words) { return _mm_cmpeq_epi32(_mm_srli_epi32(words, kEpochShift), all(epoch_)); };
  std::uint32_t* const rd = &read_[first];
  const __m128i written = recent(four(&written_[first])), words = four(rd), read = recent(words);
  if (!_mm_testz_si128(written, written)) return false;
  const std::uint32_t mine = word(thread, false), before = rd[0];
  std::uint32_t after = mine;
  if (!_mm_testz_si128(read, read)) {
    const __m128i differ = _mm_xor_si128(words, all(before));
    if (!_mm_testz_si128(differ, differ) || (before & kStrong)) return false;
    const std::uint32_t other = thread_of(before);
    if (other == thread) return clock_of(before) == clock_of(mine);
    const bool same_warp = (other >> 5) == (thread >> 5), is_ordered = ordered(other, clock_of(before), thread);
    after |= before & kSeen;
    if (same_warp || !is_ordered) {
      const bool unmet = same_warp && (clock_of(before) == clock_of(mine) || !is_ordered);
      after |= same_warp ? (before & kManyWarps) | (unmet ? kManyLanes : 0) : kManyWarps;
      if (unmet || !same_warp) {
        std::uint32_t* const second = same_warp ? &lane_read_[first] : &warp_read_[first];
        std::uint32_t* const second_at = same_warp ? &lane_read_at_[first] : &warp_read_at_[first];
        // A second reader stays as long as it is another one than this.
        const std::uint32_t who = same_warp ? kThread : kWarp;
        const __m128i known = four(second), stays = (before & (same_warp ? kManyLanes : kManyWarps)) == 0
                                                        ? _mm_setzero_si128()
                                                        : _mm_xor_si128(_mm_cmpeq_epi32(_mm_and_si128(known, all(who)), all(thread & who)), all(~0u));
        put_four(second, _mm_blendv_epi8(words, known, stays));
        put_four(second_at, _mm_blendv_epi8(four(&read_at_[first]), four(second_at), stays));
      }
    }
  }
  put_four(rd, all(after));
  put_four(&read_at_[first], all(pc));
  return true;
}

// Likewise.
bool SharedRaces::write_four(std::uint32_t first, std::uint32_t thread, std::uint32_t pc) {
  std::uint32_t *const wr = &written_[first], *const rd = &read_[first];
  // Words of epochs before this one say nothing, whatever they are.
  const auto recent = [&](const std::uint32_t* p) { return _mm_cmpeq_epi32(_mm_srli_epi32(four(p), kEpochShift), all(epoch_)); };
  const __m128i written = recent(wr), read = recent(rd);
  if (!_mm_testz_si128(written, written)) {
    if (!alike(wr) || (*wr & kStrong)) return false;
    const std::uint32_t other = thread_of(*wr);
    if (other != thread && !ordered(other, clock_of(*wr), thread)) return false;
  }
  if (!_mm_testz_si128(read, read)) {
    if (!alike(rd) || ((*rd & kManyLanes) && !alike(&lane_read_[first])) || ((*rd & kManyWarps) && !alike(&warp_read_[first]))) return false;
    Conflict conflict;
    if (after_reads(first, thread, false, conflict)) return false;
  }
  put_four(wr, all(word(thread, false)));
  put_four(&written_at_[first], all(pc));
  put_four(rd, _mm_setzero_si128());
  return true;
}

bool SharedRaces::write_row(std::uint32_t first, std::uint32_t lane, std::uint32_t count, std::uint32_t warp, std::uint32_t pc, bool strong) {
  if (strong) return false;
  std::uint32_t *wr = &written_[first], *rd = &read_[first], *at = &written_at_[first];
  const std::uint32_t mine = word(warp * 32 + lane, strong);
  Vector suspicious = _mm256_setzero_si256();
  for (std::uint32_t i = 0; i < count; i += 8) {
    const Vector fresh = consecutive(mine + i), inside = below(count - i);
    const auto add = [&](Vector word, std::uint32_t bits, Vector differ) {
      const Vector recent = _mm256_and_si256(is_zero(_mm256_srli_epi32(_mm256_xor_si256(word, fresh), kEpochShift)), inside);
      suspicious = _mm256_or_si256(suspicious, _mm256_and_si256(recent, _mm256_and_si256(differ, all_lanes(bits))));
    };
    const Vector written = load(wr + i), read = load(rd + i);
    add(written, kThread, _mm256_xor_si256(written, fresh));
    add(read, kThread, _mm256_xor_si256(read, fresh));
    add(read, kManyLanes | kManyWarps, read);
  }
  if (!_mm256_testz_si256(suspicious, suspicious)) return false;
  for (std::uint32_t i = 0; i < count; i += 8) {
    const Vector inside = below(count - i);
    put(wr + i, choose(inside, consecutive(mine + i), load(wr + i)));
    put(rd + i, _mm256_andnot_si256(inside, load(rd + i)));
    put(at + i, choose(inside, all_lanes(pc), load(at + i)));
  }
  return true;
}

bool SharedRaces::write_lanes_strongly(const std::uint64_t* offsets, std::uint32_t lanes, std::uint32_t warp, std::uint32_t pc) {
  // Neither word may be of this epoch and weak.
  const std::uint32_t mine = word(warp * 32, true);
  std::uint32_t read = 0;
  for (std::uint32_t todo = lanes; todo != 0; todo &= todo - 1) {
    const std::uint64_t g = offsets[__builtin_ctz(todo)] >> 2;
    const std::uint32_t wr = written_[g], rd = read_[g];
    if ((now(wr) && !(wr & kStrong)) || (now(rd) && !(rd & kStrong))) return false;
    read |= rd;
  }
  for (std::uint32_t todo = lanes; todo != 0; todo &= todo - 1) {
    const auto lane = static_cast<std::uint32_t>(__builtin_ctz(todo));
    const std::uint64_t g = offsets[lane] >> 2;
    written_[g] = mine + lane;
    written_at_[g] = pc;
    if (read != 0) read_[g] = 0;
  }
  return true;
}

}  // namespace lockstep::check
