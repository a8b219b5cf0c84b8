// Counts the cost of a warp's access in the memory system: 32-byte sectors and 128-byte lines of
// global memory, and extra passes over the banks of shared memory. The counts are exact. Counting a
// row of lanes takes constant time.
#pragma once

#include <immintrin.h>

#include <algorithm>
#include <bit>
#include <cstdint>

#include "simulator/engine/launch/launch.h"
#include "simulator/engine/state/written_bits.h"

namespace lockstep::engine {

inline void add_global(Counters& c, bool writes, std::uint64_t sectors, std::uint64_t lines) {
  (writes ? c.global_store_requests : c.global_load_requests) += 1;
  (writes ? c.global_store_sectors : c.global_load_sectors) += sectors;
  (writes ? c.global_store_lines : c.global_load_lines) += lines;
}

// Lanes access adjacent elements, from `first` on.
inline void count_global_row(Counters& c, bool writes, std::uint64_t first, std::uint64_t bytes) {
  const std::uint64_t last = first + bytes - 1;
  add_global(c, writes, (last >> 5) - (first >> 5) + 1, (last >> 7) - (first >> 7) + 1);
}

// The numbers of sectors and lines that lanes access. Accesses are aligned and at most a sector
// wide, so each lies in one sector.
struct Touched {
  std::uint64_t sectors, lines;
};
// The sectors of `lanes`, and the sector `first`.
inline __attribute__((noinline)) Touched touched_in_any_order(const std::uint64_t* address,
                                                              LaneMask lanes, std::uint64_t first) {
  std::uint64_t found[kWarpSize + 1] = {first};
  int n = 1;
  each(lanes, [&](int i) { found[n++] = address[i] >> 5; });
  std::sort(found, found + n);
  Touched t{1, 1};
  for (int i = 1; i < n; ++i) {
    t.sectors += found[i] != found[i - 1];
    t.lines += found[i] >> 2 != found[i - 1] >> 2;
  }
  return t;
}
inline Touched touched(const std::uint64_t* address, LaneMask lanes) {
  const std::uint64_t first = address[std::countr_zero(lanes)] >> 5;
  // Bit i: lane i is in another sector (or line) than the lane before it.
  LaneMask sectors = 0, lines = 0;
  if (lanes != kAllLanes) {
    std::uint64_t previous = first;
    bool back = false;
    each(lanes, [&](int i) {
      const std::uint64_t sector = address[i] >> 5, differ = sector ^ previous;
      sectors |= LaneMask{differ != 0} << i;
      lines |= LaneMask{differ >> 2 != 0} << i;
      back |= sector < previous;
      previous = sector;
    });
    if (!back)
      return {static_cast<std::uint64_t>(std::popcount(sectors)) + 1,
              static_cast<std::uint64_t>(std::popcount(lines)) + 1};
    return touched_in_any_order(address, sectors, first);
  }
  __m256i before = _mm256_set1_epi64x(static_cast<long long>(first)), back = _mm256_setzero_si256();
  for (int i = 0; i < kWarpSize; i += 4) {
    const __m256i sector =
        _mm256_srli_epi64(_mm256_loadu_si256(reinterpret_cast<const __m256i*>(address + i)), 5);
    const __m256i turned = _mm256_permute4x64_epi64(sector, 0x93);  // the last one first
    const __m256i previous = _mm256_blend_epi32(turned, before, 3);
    const __m256i differ = _mm256_xor_si256(sector, previous);
    const auto zeros = [](__m256i v) {
      return static_cast<LaneMask>(
          _mm256_movemask_pd(_mm256_castsi256_pd(_mm256_cmpeq_epi64(v, _mm256_setzero_si256()))));
    };
    sectors |= (zeros(differ) ^ 15) << i;
    lines |= (zeros(_mm256_srli_epi64(differ, 2)) ^ 15) << i;
    back = _mm256_or_si256(back, _mm256_cmpgt_epi64(previous, sector));
    before = turned;
  }
  if (_mm256_testz_si256(back, back)) {
    return {static_cast<std::uint64_t>(std::popcount(sectors)) + 1,
            static_cast<std::uint64_t>(std::popcount(lines)) + 1};
  }
  return touched_in_any_order(address, sectors, first);
}

// `low`, `high`: the lowest and the highest address of the lanes.
inline void count_global(Counters& c, bool writes, const std::uint64_t* address, LaneMask lanes,
                         std::uint64_t low, std::uint64_t high) {
  if (low >> 5 == high >> 5) return add_global(c, writes, 1, 1);
  const Touched t = touched(address, lanes);
  add_global(c, writes, t.sectors, t.lines);
}

inline void add_shared(Counters& c, bool writes, std::uint64_t conflicts) {
  (writes ? c.shared_store_requests : c.shared_load_requests) += 1;
  (writes ? c.shared_store_bank_conflicts : c.shared_load_bank_conflicts) += conflicts;
}

// 32 banks of four bytes. 8- and 16-byte accesses take two and four passes over the lanes. Several
// accesses to one word cost no more than one.
template <class Address>
inline void count_shared(Counters& c, bool writes, const Address* address, std::uint32_t size,
                         LaneMask lanes) {
  if ((lanes & (lanes - 1)) == 0) return add_shared(c, writes, 0);
  const int passes = size <= 4 ? 1 : static_cast<int>(size / 4);
  const int lanes_a_pass = kWarpSize / passes;
  std::uint64_t conflicts = 0;
  for (int p = 0; p < passes; ++p) {
    std::uint32_t words[kWarpSize];    // in the order of the lanes
    alignas(32) LaneMask in_bank[32];  // indices into `words`: the different words of each bank
    for (int b = 0; b < 32; b += 8)
      _mm256_store_si256(reinterpret_cast<__m256i*>(in_bank + b), _mm256_setzero_si256());
    int n = 0;
    std::uint32_t worst = 1;
    const LaneMask pass = lanes_a_pass == kWarpSize
                              ? lanes
                              : lanes & ((1u << lanes_a_pass) - 1) << (p * lanes_a_pass);
    each(pass, [&](int i) {
      for (std::uint32_t b = 0; b < std::max(size, 4u); b += 4) {
        const std::uint32_t word = (static_cast<std::uint32_t>(address[i]) + b) >> 2;
        LaneMask& others = in_bank[word & 31];
        bool known = false;
        each(others, [&](int k) { known |= words[k] == word; });
        if (known) continue;
        others |= 1u << n;
        words[n++] = word;
        worst = std::max(worst, static_cast<std::uint32_t>(std::popcount(others)));
      }
    });
    conflicts += worst - 1;
  }
  add_shared(c, writes, conflicts);
}

}  // namespace lockstep::engine
