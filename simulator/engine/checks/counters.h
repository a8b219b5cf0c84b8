// Counts what an access of a warp costs the memory system: 32-byte sectors and 128-byte lines of global memory, extra passes over the banks of
// shared memory. Counted exactly, wherever an access is executed; a row of lanes costs nothing to count.
#pragma once

#include <algorithm>
#include <cstdint>

#include "simulator/engine/checks/written_bits.h"
#include "simulator/engine/launch/launch.h"

namespace lockstep::engine {

inline void add_global(Counters& c, bool writes, std::uint64_t sectors, std::uint64_t lines) {
  (writes ? c.global_store_requests : c.global_load_requests) += 1;
  (writes ? c.global_store_sectors : c.global_load_sectors) += sectors;
  (writes ? c.global_store_lines : c.global_load_lines) += lines;
}

// Lanes side by side, from `first` on.
inline void count_global_row(Counters& c, bool writes, std::uint64_t first, std::uint64_t bytes) {
  const std::uint64_t last = first + bytes - 1;
  add_global(c, writes, (last >> 5) - (first >> 5) + 1, (last >> 7) - (first >> 7) + 1);
}

// How many different blocks of 1 << shift bytes the lanes touch; each touches one or two.
inline std::uint64_t distinct(const std::uint64_t* address, std::uint32_t size, LaneMask lanes, int shift) {
  std::uint64_t found[2 * kWarpSize];
  int n = 0;
  bool ascending = true;
  each(lanes, [&](int i) {
    for (std::uint64_t s = address[i] >> shift; s <= (address[i] + size - 1) >> shift; ++s) {
      if (n != 0 && found[n - 1] == s) continue;
      ascending &= n == 0 || found[n - 1] < s;
      found[n++] = s;
    }
  });
  if (!ascending) {
    std::sort(found, found + n);
    n = static_cast<int>(std::unique(found, found + n) - found);
  }
  return static_cast<std::uint64_t>(n);
}

inline void count_global(Counters& c, bool writes, const std::uint64_t* address, std::uint32_t size, LaneMask lanes) {
  add_global(c, writes, distinct(address, size, lanes, 5), distinct(address, size, lanes, 7));
}

inline void add_shared(Counters& c, bool writes, std::uint64_t conflicts) {
  (writes ? c.shared_store_requests : c.shared_load_requests) += 1;
  (writes ? c.shared_store_bank_conflicts : c.shared_load_bank_conflicts) += conflicts;
}

// 32 banks of four bytes; 8- and 16-byte accesses go in two and four passes over the lanes; the same word costs nothing more.
template <class Address>
inline void count_shared(Counters& c, bool writes, const Address* address, std::uint32_t size, LaneMask lanes) {
  const int passes = size <= 4 ? 1 : static_cast<int>(size / 4);
  const int lanes_a_pass = kWarpSize / passes;
  std::uint64_t conflicts = 0;
  for (int p = 0; p < passes; ++p) {
    std::uint32_t words[32][kWarpSize];  // of each bank
    std::uint8_t count[32] = {};
    std::uint32_t worst = 1;
    const LaneMask pass = lanes_a_pass == kWarpSize ? lanes : lanes & ((1u << lanes_a_pass) - 1) << (p * lanes_a_pass);
    each(pass, [&](int i) {
      for (std::uint32_t b = 0; b < std::max(size, 4u); b += 4) {
        const std::uint32_t word = (static_cast<std::uint32_t>(address[i]) + b) >> 2;
        std::uint32_t* const in_bank = words[word & 31];
        std::uint8_t& n = count[word & 31];
        if (std::find(in_bank, in_bank + n, word) != in_bank + n) continue;
        in_bank[n++] = word;
        worst = std::max<std::uint32_t>(worst, n);
      }
    });
    conflicts += worst - 1;
  }
  add_shared(c, writes, conflicts);
}

}  // namespace lockstep::engine
