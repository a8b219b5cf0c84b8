// The addresses of a warp as a few runs: consecutive lanes that access consecutive elements, or the
// same element.
//
// A warp that is not a single row is most often two or four rows (tiles narrower than a warp) or a
// part of a row (a halo). Or all lanes read one value, such as the element of a matrix that a
// half-warp multiplies with. Checks can then handle runs instead of lanes.
#pragma once

#include <immintrin.h>

#include <bit>
#include <cstdint>

#include "simulator/engine/state/vocabulary.h"

namespace lockstep::engine {

struct LaneRun {
  std::uint32_t lane, count;
  bool together;  // all lanes access one element; otherwise each accesses the element after that of
                  // the lane before it
  LaneMask lanes() const { return (count == kWarpSize ? kAllLanes : (1u << count) - 1) << lane; }
};

struct LaneRuns {
  static constexpr int kMax = 8;  // more runs are no cheaper than single lanes
  LaneRun run[kMax];
  int count = 0;
  const LaneRun* begin() const { return run; }
  const LaneRun* end() const { return run + count; }
};

// The runs of `lanes`, which access elements of `size` bytes at `at` (64-byte aligned). Returns no
// runs if there would be too many.
inline LaneRuns lane_runs(const std::uint32_t* at, LaneMask lanes, std::uint32_t size) {
  // Bit i of `next`: lane i + 1 accesses the next element after that of lane i. Of `same`: the same
  // element.
  LaneMask next = 0, same = 0;
  const __m256i step = _mm256_set1_epi32(static_cast<int>(size)),
                shift = _mm256_setr_epi32(1, 2, 3, 4, 5, 6, 7, 0);
  for (int i = 0; i < kWarpSize; i += 8) {
    const __m256i here = _mm256_load_si256(reinterpret_cast<const __m256i*>(at + i));
    __m256i after = _mm256_permutevar8x32_epi32(here, shift);
    if (i + 8 < kWarpSize) after = _mm256_insert_epi32(after, static_cast<int>(at[i + 8]), 7);
    const __m256i moved = _mm256_sub_epi32(after, here);
    next |= static_cast<LaneMask>(
                _mm256_movemask_ps(_mm256_castsi256_ps(_mm256_cmpeq_epi32(moved, step))))
            << i;
    same |= static_cast<LaneMask>(_mm256_movemask_ps(
                _mm256_castsi256_ps(_mm256_cmpeq_epi32(moved, _mm256_setzero_si256()))))
            << i;
  }
  const LaneMask pairs = lanes & (lanes >> 1);
  next &= pairs;
  same &= pairs;
  LaneRuns runs;
  // Each pair continues one run at most.
  if (std::popcount(lanes) - std::popcount(next | same) > LaneRuns::kMax) return runs;
  // A run ends where neither pattern continues. A lane that fits two runs belongs to the earlier
  // one.
  while (lanes != 0) {
    if (runs.count == LaneRuns::kMax) {
      runs.count = 0;
      return runs;
    }
    LaneRun& r = runs.run[runs.count++];
    r.lane = static_cast<std::uint32_t>(std::countr_zero(lanes));
    r.together = (same >> r.lane & 1) != 0;
    r.count = static_cast<std::uint32_t>(std::countr_one((r.together ? same : next) >> r.lane)) + 1;
    lanes &= ~r.lanes();
  }
  return runs;
}

}  // namespace lockstep::engine
