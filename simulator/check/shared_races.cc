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
    for (std::vector<std::uint32_t>* words :
         {&written_, &read_, &written_at_, &read_at_, &lane_read_, &lane_read_at_, &warp_read_, &warp_read_at_}) {
      words->assign(granules, 0);
    }
    interval_ = 0;
  }
  shift_ = shift;
  block_barrier();
}

void SharedRaces::block_barrier() {
  next_interval();
  if (++interval_ > kLastInterval) {
    // Interval 0 never comes. Who wrote stays known (last_write).
    for (std::uint32_t& word : written_) word &= (1u << kIntervalShift) - 1;
    std::fill(read_.begin(), read_.end(), 0);
    interval_ = 1;
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
  Vector suspicious = _mm256_setzero_si256();
  for (std::uint32_t i = 0; i < count; i += 8) {
    const Vector fresh = consecutive(mine + i), inside = below(count - i);
    const auto add = [&](Vector word, Vector bits) {
      const Vector differ = _mm256_xor_si256(word, fresh);
      const Vector recent = _mm256_and_si256(is_zero(_mm256_srli_epi32(differ, kIntervalShift)), inside);
      suspicious = _mm256_or_si256(suspicious, _mm256_and_si256(recent, _mm256_and_si256(differ, bits)));
    };
    add(load(wr + i), thread);
    add(load(rd + i), unlike);
  }
  if (!_mm256_testz_si256(suspicious, suspicious)) return false;
  for (std::uint32_t i = 0; i < count; i += 8) {
    // Readers of this warp at this clock differ from `fresh` in lane only.
    const Vector before = load(rd + i), fresh = consecutive(mine + i), differ = _mm256_xor_si256(before, fresh);
    const Vector recent = is_zero(_mm256_srli_epi32(differ, kIntervalShift)), self = is_zero(_mm256_and_si256(differ, thread));
    const Vector together = is_zero(_mm256_and_si256(differ, all_lanes(kWarp | kClock)));
    const Vector same_warp = is_zero(_mm256_and_si256(differ, all_lanes(kWarp)));
    const Vector others = choose(same_warp, _mm256_and_si256(before, all_lanes(kManyWarps)), all_lanes(kManyWarps));
    Vector merged = _mm256_or_si256(_mm256_or_si256(fresh, others), _mm256_and_si256(before, all_lanes(kSeen)));
    merged = _mm256_or_si256(merged, _mm256_and_si256(together, all_lanes(kManyLanes)));
    merged = choose(recent, choose(self, before, merged), fresh);
    const Vector inside = below(count - i), kept = _mm256_and_si256(recent, self), before_at = load(at + i);
    const auto also_read = [&](std::vector<std::uint32_t>& words, std::vector<std::uint32_t>& ats, Vector where) {
      if (_mm256_testz_si256(where, where)) return;
      std::uint32_t *word = &words[first + i], *word_at = &ats[first + i];
      put(word, choose(where, before, load(word)));
      put(word_at, choose(where, before_at, load(word_at)));
    };
    const Vector of_others = _mm256_and_si256(_mm256_andnot_si256(self, recent), inside);
    also_read(lane_read_, lane_read_at_, _mm256_and_si256(together, of_others));
    also_read(warp_read_, warp_read_at_, _mm256_andnot_si256(same_warp, of_others));
    put(rd + i, choose(inside, merged, before));
    put(at + i, choose(_mm256_andnot_si256(kept, inside), all_lanes(pc), before_at));
  }
  return true;
}

bool SharedRaces::read_lanes(const std::uint32_t* offsets, std::uint32_t lanes, std::uint32_t warp, std::uint32_t pc, bool strong) {
  const std::uint32_t first = word(warp * 32, strong);
  // A granule that several lanes of this warp have read at this clock needs nothing more, whichever lane reads it again.
  const std::uint32_t kind = kStrong | kSeen, like = strong ? kind : 0;  // all its readers as strong as these
  const std::uint32_t recorded = (first & ~kStrong) | like | kManyLanes;
  constexpr std::uint32_t kLane = 31;
  // Nor does one that several lanes of several warps have read, as long as nothing orders some warps before others: no read can change what a
  // later write would be told.
  const bool unordered = !partial_ && !lanes_used_;
  const std::uint32_t all = interval_ << kIntervalShift | like | kManyLanes | kManyWarps;
  const std::uint32_t of_all = (~0u << kIntervalShift) | kind | kManyLanes | kManyWarps;
  Conflict conflict;
  for (; lanes != 0; lanes &= lanes - 1) {
    const auto lane = static_cast<std::uint32_t>(__builtin_ctz(lanes));
    const std::uint32_t g = offsets[lane] >> shift_;
    const std::uint32_t rd = read_[g];
    if (!now(written_[g]) && ((rd & ~(kLane | kManyWarps)) == recorded || (unordered && (rd & of_all) == all))) {
      continue;
    }
    if (one(g, warp * 32 + lane, pc, false, strong, conflict)) return false;
  }
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
      const Vector recent = _mm256_and_si256(is_zero(_mm256_srli_epi32(_mm256_xor_si256(word, fresh), kIntervalShift)), inside);
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
  // Neither word may be of this interval and weak.
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
