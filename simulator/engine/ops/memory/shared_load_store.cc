// Loads and stores of shared memory in the shapes that most of them have: a row, a few runs, or
// four bytes from anywhere.
#include <immintrin.h>

#include <bit>
#include <cstring>

#include "simulator/engine/monitor/counters.h"
#include "simulator/engine/monitor/progress.h"
#include "simulator/engine/ops/memory/load_store.h"
#include "simulator/engine/ops/memory/shared_words.h"
#include "simulator/engine/state/lane_addresses.h"
#include "simulator/engine/state/lane_runs.h"
#include "simulator/engine/state/launch_state.h"
#include "simulator/engine/state/request.h"
#include "simulator/engine/state/shared_place.h"
#include "simulator/engine/state/worker.h"
#include "simulator/engine/state/written_bits.h"

namespace lockstep::engine {
namespace {

// The search for races, for reads of four bytes a lane. False when each lane must be looked at.
bool record_reads(Warp& w, const Op& op, const std::uint32_t* at, LaneMask mask,
                  const LaneRuns& runs) {
  const DoingFor searches(*w.block->worker, Doing::kRaces);
  check::SharedRaces& races = w.block->races;
  const bool strong = op.as<MemoryFields>().has(kStrong);
  if (runs.count == 0) return races.read_lanes(at, mask, w.index, w.pc - 1, strong);
  for (const LaneRun& r : runs) {
    const std::uint32_t first = at[r.lane] >> 2;
    if (!(r.together
              ? races.read_together(first, r.lane, r.lane + r.count - 1, w.index, w.pc - 1, strong)
              : races.read_row(first, r.lane, r.count, w.index, w.pc - 1, strong))) {
      return false;
    }
  }
  return true;
}

// The search for races, for a row of weak or strong accesses of four bytes a lane.
inline bool record_row(Warp& w, const Op& op, std::uint32_t first, bool writes) {
  const DoingFor searches(*w.block->worker, Doing::kRaces);
  check::SharedRaces& races = w.block->races;
  const bool strong = op.as<MemoryFields>().has(kStrong);
  return writes ? races.write_row(first >> 2, 0, kWarpSize, w.index, w.pc - 1, strong)
                : races.read_row(first >> 2, 0, kWarpSize, w.index, w.pc - 1, strong);
}

// Copies runs that are whole vectors of eight lanes; false, with nothing done, when they are not.
bool copy_runs(std::uint32_t* d, const std::byte* bytes, const std::uint32_t* at,
               const LaneRuns& runs) {
  std::uint32_t odd = runs.count == 0;
  for (const LaneRun& r : runs) odd |= (r.lane | r.count) & 7;
  if (odd != 0) return false;
  for (const LaneRun& r : runs) {
    const std::byte* from = bytes + at[r.lane];
    std::uint32_t* to = d + r.lane;
    std::uint32_t value;
    std::memcpy(&value, from, 4);
    for (std::uint32_t i = 0; i < r.count; i += 8) {
      const __m256i v = r.together
                            ? _mm256_set1_epi32(static_cast<int>(value))
                            : _mm256_loadu_si256(reinterpret_cast<const __m256i*>(from + 4 * i));
      _mm256_store_si256(reinterpret_cast<__m256i*>(to + i), v);
    }
  }
  return true;
}

// Four bytes a lane from anywhere in one shared variable, all of it written between the lowest and
// the highest address. False: nothing done.
bool gather_shared(Warp& w, const Op& op, LaneMask mask) {
  Block& b = *w.block;
  if (b.launch->shared_cells || (b.launch->search_shared && b.races.shift() != 2)) return false;
  alignas(64) std::uint32_t at[kWarpSize];
  const std::uint32_t span = shared_words(w, op, mask, at);
  if (span == 0) return false;
  std::uint32_t* d = destination<std::uint32_t>(w, op.dst);
  bool copied = false;
  if (b.launch->search_shared) {
    const LaneRuns runs = lane_runs(at, mask, 4);
    if (!record_reads(w, op, at, mask, runs)) return false;
    copied = copy_runs(d, b.shared.bytes.get(), at, runs);
  }
  if (b.worker->counting) {
    // 32 words side by side lie in as many banks.
    if (span <= 4 * kWarpSize) {
      add_shared(b.worker->counters, false, 0);
    } else {
      count_shared(b.worker->counters, false, at, 4, mask);
    }
  }
  if (copied) return true;
  const auto* bytes = reinterpret_cast<const int*>(b.shared.bytes.get());
  if (mask == kAllLanes) {
    for (int i = 0; i < kWarpSize; i += 8) {
      const __m256i index = _mm256_load_si256(reinterpret_cast<const __m256i*>(at + i));
      _mm256_store_si256(reinterpret_cast<__m256i*>(d + i),
                         _mm256_i32gather_epi32(bytes, index, 1));
    }
  } else {
    each(mask,
         [&](int i) { std::memcpy(d + i, reinterpret_cast<const std::byte*>(bytes) + at[i], 4); });
  }
  return true;
}

// Shared memory with 32-bit addresses.
template <int kBytes>
void load_shared(Warp& w, const Op& op, LaneMask mask) {
  if (__builtin_expect(mask == kAllLanes, 1)) {
    const std::uint32_t* a = source<std::uint32_t>(w, op.src[0]);
    Block& b = *w.block;
    const std::uint32_t first = a[0] + static_cast<std::uint32_t>(op.immediate);
    if (consecutive<kBytes>(a) && (first & (kBytes - 1)) == 0 &&
        shared_range(*b.launch, first, std::uint64_t{first} + 32 * kBytes) != nullptr &&
        (!b.launch->check_initialisation ||
         row_is_written<32 * kBytes>(
             reinterpret_cast<const std::uint8_t*>(b.shared.written.get()) + (first >> 3),
             first & 7))) {
      if (!b.launch->search_shared ||
          (kBytes == 4 && b.races.shift() == 2 && !b.launch->shared_cells &&
           record_row(w, op, first, false))) {
        std::memcpy(destination<std::byte>(w, op.dst), b.shared.bytes.get() + first, 32 * kBytes);
        if (b.worker->counting) add_shared(b.worker->counters, false, 0);
        return;
      }
    }
  }
  if (kBytes == 4 && gather_shared(w, op, mask)) return;
  load_any(w, op, mask);
}

template <int kBytes>
void store_shared(Warp& w, const Op& op, LaneMask mask) {
  if (__builtin_expect(mask == kAllLanes && !w.control->tracking, 1)) {
    const std::uint32_t* a = source<std::uint32_t>(w, op.src[0]);
    Block& b = *w.block;
    const std::uint32_t first = a[0] + static_cast<std::uint32_t>(op.immediate);
    if (consecutive<kBytes>(a) && (first & (kBytes - 1)) == 0 &&
        shared_range(*b.launch, first, std::uint64_t{first} + 32 * kBytes) != nullptr) {
      if (!b.launch->search_shared || (kBytes == 4 && b.races.shift() == 2 &&
                                       !b.launch->shared_cells && record_row(w, op, first, true))) {
        if (b.launch->check_initialisation)
          set_written(reinterpret_cast<std::uint8_t*>(b.shared.written.get()), first, 32 * kBytes);
        on_write(*b.worker);
        std::memcpy(b.shared.bytes.get() + first, source<std::byte>(w, op.src[1]), 32 * kBytes);
        if (b.worker->counting) add_shared(b.worker->counters, true, 0);
        return;
      }
    }
  }
  store_any(w, op, mask);
}

}  // namespace

Handler shared_load_handler(const Op& op) {
  return op.width == 4 ? &load_shared<4> : op.width == 8 ? &load_shared<8> : nullptr;
}
Handler shared_store_handler(const Op& op) {
  return op.width == 4 ? &store_shared<4> : op.width == 8 ? &store_shared<8> : nullptr;
}

}  // namespace lockstep::engine
