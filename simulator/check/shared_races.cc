#include "simulator/check/shared_races.h"

#include <algorithm>

namespace lockstep::check {

void SharedRaces::start(std::uint32_t bytes, int shift, std::uint32_t warps) {
  const std::size_t granules = (static_cast<std::size_t>(bytes) >> shift) + 33;
  if (shift != shift_ || words_.size() < 2 * granules) {
    words_.assign(2 * granules, 0);
    interval_ = 0;
  }
  shift_ = shift;
  warps_ = warps;
  block_barrier();
}

void SharedRaces::block_barrier() {
  next_interval();
  if (++interval_ > 0xffff) {
    std::fill(words_.begin(), words_.end(), 0);
    interval_ = 1;
  }
}

bool SharedRaces::after_reads(std::uint64_t rd, std::uint32_t thread, Conflict& conflict) const {
  const std::uint32_t other = thread_of(rd);
  const bool same_warp = (other >> 5) == (thread >> 5);
  if (other == thread && !(rd & (kManyLanes | kManyWarps))) return false;
  bool known = true;
  if (other == thread) {
    // The recorded reader is the writer itself, but others read too. Lanes of its warp at the recorded clock:
    known = false;
    const bool lanes_ordered = !(rd & kManyLanes) || all_lanes_[thread >> 5] > clock_of(rd) || lanes_used_;
    const bool warps_ordered = !(rd & kManyWarps) || partial_;
    if (lanes_ordered && warps_ordered) return false;
  } else if (ordered(other, clock_of(rd), thread)) {
    // The last reader is ordered; readers of other warps are not unless something smaller than a block barrier ordered them.
    if (!(rd & kManyWarps) || partial_ || !same_warp) return false;
    known = false;
  }
  conflict = {other, static_cast<std::uint32_t>(rd & kPcMask), false, (rd & kStrong) != 0, known};
  return true;
}

bool SharedRaces::read_row(std::uint32_t first, std::uint32_t warp, std::uint32_t pc, bool strong) {
  std::uint64_t* __restrict w = &words_[2 * first];
  const std::uint64_t mine = word(warp * 32, pc, strong);
  const std::uint64_t interval = interval_;
  std::uint64_t suspicious = 0;
  for (std::uint64_t i = 0; i < 32; ++i) {
    const std::uint64_t wr = w[2 * i];
    const std::uint64_t same = (wr >> kIntervalShift) == interval ? ~0ull : 0;
    suspicious |= same & ((wr ^ (mine + (i << kThreadShift))) & (1023ull << kThreadShift));
  }
  if (suspicious) return false;
  // Readers of this warp at this clock differ from `mine` in lane and pc only.
  const std::uint64_t kWarpClock = (31ull << (kThreadShift + 5)) | (std::uint64_t{kClockMax} << kClockShift);
  for (std::uint64_t i = 0; i < 32; ++i) {
    const std::uint64_t rd = w[2 * i + 1];
    const std::uint64_t fresh = mine + (i << kThreadShift);
    const bool now = (rd >> kIntervalShift) == interval;
    const bool self = ((rd ^ fresh) & (1023ull << kThreadShift)) == 0;
    const bool lanes = ((rd ^ fresh) & kWarpClock) == 0;
    const bool same_warp = ((rd ^ fresh) & (31ull << (kThreadShift + 5))) == 0;
    std::uint64_t merged = lanes ? (rd | kManyLanes) : fresh | (same_warp ? (rd & kManyWarps) : kManyWarps);
    merged &= ~kStrong | (rd & fresh);
    w[2 * i + 1] = now ? (self ? rd : merged) : fresh;
  }
  return true;
}

bool SharedRaces::read_lanes(const std::uint32_t* offsets, std::uint32_t lanes, std::uint32_t warp, std::uint32_t pc, bool strong) {
  const std::uint64_t first = word(warp * 32, pc, strong);
  // A granule that several lanes of this warp have read at this clock needs nothing more, whichever lane reads it again.
  const std::uint64_t recorded = (first | kManyLanes) & ~(kPcMask | kManyWarps);
  constexpr std::uint64_t kIgnored = (31ull << kThreadShift) | kPcMask | kManyWarps;
  // Nor does one that several lanes of several warps have read, as long as nothing orders some warps before others: no read can change what a
  // later write would be told.
  const bool unordered = !partial_ && !lanes_used_;
  const std::uint64_t all = interval_ << kIntervalShift | kManyLanes | kManyWarps;
  constexpr std::uint64_t kAll = (~std::uint64_t{0} << kIntervalShift) | kManyLanes | kManyWarps;
  Conflict conflict;
  for (; lanes != 0; lanes &= lanes - 1) {
    const auto lane = static_cast<std::uint32_t>(__builtin_ctz(lanes));
    const std::uint32_t g = offsets[lane] >> shift_;
    const std::uint64_t wr = words_[2 * g], rd = words_[2 * g + 1];
    if ((wr >> kIntervalShift) != interval_ &&
        ((rd & ~kIgnored) == recorded || (unordered && (rd & kAll) == all && (strong || !(rd & kStrong))))) {
      continue;
    }
    if (one(g, warp * 32 + lane, pc, false, strong, conflict)) return false;
  }
  return true;
}

bool SharedRaces::write_row(std::uint32_t first, std::uint32_t warp, std::uint32_t pc, bool strong) {
  if (strong) return false;
  std::uint64_t* __restrict w = &words_[2 * first];
  const std::uint64_t mine = word(warp * 32, pc, strong);
  const std::uint64_t interval = interval_;
  std::uint64_t suspicious = 0;
  for (std::uint64_t i = 0; i < 32; ++i) {
    const std::uint64_t wr = w[2 * i], rd = w[2 * i + 1];
    const std::uint64_t fresh = mine + (i << kThreadShift);
    const std::uint64_t wrote = (wr >> kIntervalShift) == interval ? ~0ull : 0;
    const std::uint64_t read = (rd >> kIntervalShift) == interval ? ~0ull : 0;
    suspicious |= wrote & ((wr ^ fresh) & (1023ull << kThreadShift));
    suspicious |= read & (((rd ^ fresh) & (1023ull << kThreadShift)) | (rd & (kManyLanes | kManyWarps)));
  }
  if (suspicious) return false;
  for (std::uint64_t i = 0; i < 32; ++i) {
    w[2 * i] = mine + (i << kThreadShift);
    w[2 * i + 1] = 0;
  }
  return true;
}

}  // namespace lockstep::check
