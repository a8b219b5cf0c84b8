// Loads and stores of global memory in the shapes that most of them have: a row, or elements of
// four or eight bytes from anywhere in one allocation.
#include <bit>
#include <cstring>
#include <type_traits>

#include "simulator/check/global_rows.h"
#include "simulator/check/region_lock.h"
#include "simulator/check/scattered_lanes.h"
#include "simulator/engine/access/global_memory.h"
#include "simulator/engine/access/global_words.h"
#include "simulator/engine/access/word_groups.h"
#include "simulator/engine/monitor/concurrent_access.h"
#include "simulator/engine/monitor/counters.h"
#include "simulator/engine/monitor/deferred.h"
#include "simulator/engine/monitor/progress.h"
#include "simulator/engine/monitor/races.h"
#include "simulator/engine/ops/memory/global_range.h"
#include "simulator/engine/ops/memory/load_store.h"
#include "simulator/engine/state/lane_addresses.h"
#include "simulator/engine/state/lane_runs.h"
#include "simulator/engine/state/launch_state.h"
#include "simulator/engine/state/relaxed_bytes.h"
#include "simulator/engine/state/request.h"
#include "simulator/engine/state/worker.h"
#include "simulator/engine/state/written_bits.h"

namespace lockstep::engine {
namespace {

// The search for races, for a row of weak accesses in global memory. False: nothing is recorded,
// and each lane must be looked at.
template <int kBytes>
inline bool read_row(Warp& w, const Op& op, const CachedRange& c, std::uint64_t first) {
  if constexpr (kBytes < 4) return false;
  if (op.as<MemoryFields>().has(kStrong) || may_overlap(w, first, 32 * kBytes)) return false;
  if (c.deferred && is_deferred_load(w, w.pc - 1)) return true;
  Worker& k = *w.block->worker;
  k.search_work += kRowSearch;
  const DoingFor searches(k, Doing::kRaces);
  check::GlobalRaces::Access access(*k.races, side_of(w, op, w.pc - 1, false, false), k.race_memo);
  const check::RegionLock lock(k.races->parallel(), first, first + 32 * kBytes - 1);
  return check::record_row(*k.races, check::cell_of(*k.memory, first), kBytes / 4, 0, kWarpSize,
                           access);
}

// The same of one element that all lanes read.
template <int kBytes>
inline bool read_one_place(Warp& w, const Op& op, const CachedRange& c, std::uint64_t at) {
  if constexpr (kBytes < 4) return false;
  if (c.deferred && is_deferred_load(w, w.pc - 1)) return true;
  Worker& k = *w.block->worker;
  k.search_work += kRowSearch;
  const DoingFor searches(k, Doing::kRaces);
  check::GlobalRaces::Access access(*k.races, side_of(w, op, w.pc - 1, false, false), k.race_memo);
  const check::RegionLock lock(k.races->parallel(), at, at + kBytes - 1);
  return check::record_one_place(*k.races, check::cell_of(*k.memory, at), kBytes / 4, 0,
                                 kWarpSize - 1, access);
}

template <int kBytes>
inline void put_row(Warp& w, const Op& op, const CachedRange& c, std::uint64_t first) {
  on_write(*w.block->worker);
  if (c.shadowed)
    set_written(w.block->worker->memory->written_shadow(first & ~7ull), first & 7, 32 * kBytes);
  store_row<kBytes>(reinterpret_cast<std::byte*>(first + static_cast<std::uint64_t>(c.delta)),
                    source<std::byte>(w, op.src[1]));
}
template <int kBytes>
inline bool write_row(Warp& w, const Op& op, const CachedRange& c, std::uint64_t first) {
  if constexpr (kBytes < 4) return false;
  if (op.as<MemoryFields>().has(kStrong) || may_overlap(w, first, 32 * kBytes)) return false;
  if (c.deferred && is_deferred_store(w, op, first, kAllLanes, kBytes)) {
    put_row<kBytes>(w, op, c, first);
    return true;
  }
  Worker& k = *w.block->worker;
  k.search_work += kRowSearch;
  const DoingFor searches(k, Doing::kRaces);
  check::GlobalRaces::Access access(*k.races, side_of(w, op, w.pc - 1, true, false), k.race_memo);
  const check::RegionLock lock(k.races->parallel(), first, first + 32 * kBytes - 1);
  if (!check::record_row(*k.races, check::cell_of(*k.memory, first), kBytes / 4, 0, kWarpSize,
                         access))
    return false;
  put_row<kBytes>(w, op, c, first);
  return true;
}

// Of lanes that access `words` from `begin`.
__attribute__((noinline)) void count_words(Counters& counters, bool writes, std::uint64_t begin,
                                           const GlobalWords& words, LaneMask lanes) {
  std::uint64_t
      address[kWarpSize + 1];  // GCC warns of the lane that a warp without lanes begins at
  for (int i = 0; i < kWarpSize; ++i) address[i] = begin + words.at[i];
  count_global(counters, writes, address, lanes, begin + words.low, begin + words.high);
}

// The search for races, for lanes that read weakly from anywhere in one allocation. False: a
// finding ends the launch.
template <int kBytes>
bool search_gathered(Warp& w, const Op& op, const CachedRange& c, LaneMask mask) {
  Worker& k = *w.block->worker;
  const std::uint64_t* a = source<std::uint64_t>(w, op.src[0]);
  const auto offset = static_cast<std::uint64_t>(op.immediate);
  k.search_work += static_cast<std::uint64_t>(std::popcount(mask));
  {
    const DoingFor searches(k, Doing::kRaces);
    check::GlobalRaces::Access access(*k.races, side_of(w, op, w.pc - 1, false, false),
                                      k.race_memo);
    mask &= ~check::record_scattered(*k.races, *k.memory,
                                     {a, offset, kBytes, mask, w.block->first_record}, access);
  }
  if (mask == 0) return true;
  Request r;
  r.op = &op;
  r.pc = w.pc - 1;
  r.size = kBytes;
  r.reads = true;
  for (int i = 0; i < kWarpSize; ++i) {
    r.address[i] = a[i] + offset;
    r.host[i] = reinterpret_cast<std::byte*>(r.address[i] + static_cast<std::uint64_t>(c.delta));
  }
  return check_global_races(w, r, mask);
}

// Whether load_any() and store_any() must search for races: strong accesses, and those beside which
// other grids may run.
bool is_searched_elsewhere(const Worker& k, const Warp& w, const Op& op) {
  return k.races != nullptr && (op.as<MemoryFields>().has(kStrong) || w.overlapped != 0);
}

// Whether each of a few lanes' elements lies in the instruction's range, and is aligned; `reads`:
// and written.
template <int kBytes>
bool are_in_range(const Warp& w, const Op& op, const CachedRange& c, LaneMask mask, bool reads) {
  const std::uint64_t* a = source<std::uint64_t>(w, op.src[0]);
  const memory::DeviceMemory& memory = *w.block->worker->memory;
  for (; mask != 0; mask &= mask - 1) {
    const std::uint64_t at = a[std::countr_zero(mask)] + static_cast<std::uint64_t>(op.immediate);
    if (!holds(c, at, kBytes) || (at & (kBytes - 1)) != 0 ||
        (reads && c.shadowed && !all_written(memory.written_shadow(at & ~7ull), at & 7, kBytes)))
      return false;
  }
  return true;
}
// Where a lane's element is in the host's memory.
inline std::byte* host_of(const Warp& w, const Op& op, const CachedRange& c, int lane) {
  return reinterpret_cast<std::byte*>(source<std::uint64_t>(w, op.src[0])[lane] +
                                      static_cast<std::uint64_t>(op.immediate + c.delta));
}

// A few lanes one by one, where no races are searched for. False: nothing is done.
template <int kBytes>
bool load_few(Warp& w, const Op& op, const CachedRange& c, LaneMask mask) {
  const Worker& k = *w.block->worker;
  if (k.counting || !are_in_range<kBytes>(w, op, c, mask, true)) return false;
  std::byte* const d = destination<std::byte>(w, op.dst);
  each(mask, [&](int i) { load_element<kBytes>(d + i * kBytes, host_of(w, op, c, i)); });
  return true;
}
template <int kBytes>
bool store_few(Warp& w, const Op& op, const CachedRange& c, LaneMask mask) {
  Worker& k = *w.block->worker;
  if (k.counting || !are_in_range<kBytes>(w, op, c, mask, false)) return false;
  on_write(k);
  const std::byte* const s = source<std::byte>(w, op.src[1]);
  each(mask, [&](int i) {
    std::byte* const to = host_of(w, op, c, i);
    const std::uint64_t at =
        reinterpret_cast<std::uintptr_t>(to) - static_cast<std::uint64_t>(c.delta);
    if (c.shadowed) set_written(k.memory->written_shadow(at & ~7ull), at & 7, kBytes);
    store_element<kBytes>(to, s + i * kBytes);
  });
  return true;
}

// One element at `at` for all lanes. False: nothing is done.
template <int kBytes>
bool load_for_all(Warp& w, const Op& op, std::uint64_t at) {
  if constexpr (kBytes != 4 && kBytes != 8) return false;
  Worker& k = *w.block->worker;
  if (is_searched_elsewhere(k, w, op)) return false;
  CachedRange& c = cached(k, op);
  if (!holds(c, at, kBytes) && !refill_from_others(k, c, at, kBytes)) return false;
  if ((at & (kBytes - 1)) != 0 ||
      (c.shadowed && !all_written(k.memory->written_shadow(at & ~7ull), at & 7, kBytes)))
    return false;
  if (c.raced && !read_one_place<kBytes>(w, op, c, at)) return false;
  if (k.counting) count_global_row(k.counters, false, at, kBytes);
  const auto* from = reinterpret_cast<const std::byte*>(at + static_cast<std::uint64_t>(c.delta));
  using Element = std::conditional_t<kBytes == 4, std::uint32_t, std::uint64_t>;
  Element value;
  load_element<sizeof value>(&value, from);
  auto* const d = destination<Element>(w, op.dst);
  for (int i = 0; i < kWarpSize; ++i) d[i] = value;
  return true;
}

// One element a lane from anywhere in one allocation, all of it written. False: nothing is done.
template <int kBytes>
bool gather_global(Warp& w, const Op& op, LaneMask mask) {
  if constexpr (kBytes != 4 && kBytes != 8) return false;
  Worker& k = *w.block->worker;
  if (is_searched_elsewhere(k, w, op)) return false;
  const CachedRange& c = range_of<kBytes>(k, w, op, mask);
  const bool raced =
      k.races != nullptr && c.raced && !(c.deferred && is_deferred_load(w, w.pc - 1));
  if (few(mask)) return !raced && load_few<kBytes>(w, op, c, mask);
  GlobalWords words;
  if (!find_words<kBytes>(w, op, c, mask, words)) return false;
  // What is a few runs of lanes is searched run by run.
  if (raced && lane_runs(words.at, mask, kBytes).count != 0) return false;
  OnePlace one_place = 0;
  const bool grouped = mask == kAllLanes && find_groups<kBytes>(words, one_place);
  if (c.shadowed) {
    const std::uint8_t* const shadow = k.memory->written_shadow(c.begin & ~7ull);
    if (grouped ? !groups_are_written<kBytes>(shadow, c.begin & 7, words, one_place)
                : !words_are_written(shadow, c.begin & 7, words, kBytes, mask))
      return false;
  }
  if (k.counting) count_words(k.counters, false, c.begin, words, mask);
  if (raced && !search_gathered<kBytes>(w, op, c, mask)) return true;
  std::byte* const to = destination<std::byte>(w, op.dst);
  const auto* const from =
      reinterpret_cast<const std::byte*>(c.begin + static_cast<std::uint64_t>(c.delta));
  if (grouped) {
    load_groups<kBytes>(to, from, words, one_place);
  } else {
    load_words<kBytes>(to, from, words, mask);
  }
  return true;
}

// The same of a store, where no races are searched for and nothing of the value is unwritten.
template <int kBytes>
bool scatter_global(Warp& w, const Op& op, LaneMask mask) {
  if constexpr (kBytes != 4 && kBytes != 8) return false;
  Worker& k = *w.block->worker;
  // After a fence the store may inform the host.
  if (w.control->tracking || is_searched_elsewhere(k, w, op) ||
      (k.races != nullptr && w.block->races.has_fenced_in(w.index)))
    return false;
  const CachedRange& c = range_of<kBytes>(k, w, op, mask);
  if (c.raced || !c.writable) return false;
  if (few(mask)) return store_few<kBytes>(w, op, c, mask);
  GlobalWords words;
  if (!find_words<kBytes>(w, op, c, mask, words)) return false;
  on_write(k);
  if (k.counting) count_words(k.counters, true, c.begin, words, mask);
  store_words<kBytes>(reinterpret_cast<std::byte*>(c.begin + static_cast<std::uint64_t>(c.delta)),
                      source<std::byte>(w, op.src[1]), words, mask,
                      c.shadowed ? k.memory->written_shadow(c.begin & ~7ull) : nullptr,
                      c.begin & 7);
  return true;
}

// One element a lane, register as wide as the element, 64-bit addresses: one copy where all lanes
// are side by side.
template <int kBytes>
void load_global(Warp& w, const Op& op, LaneMask mask) {
  if (__builtin_expect(mask == kAllLanes, 1)) {
    const std::uint64_t* a = source<std::uint64_t>(w, op.src[0]);
    if (consecutive<kBytes>(a)) {
      Worker& k = *w.block->worker;
      const CachedRange& c = cached(k, op);
      const std::uint64_t first = a[0] + static_cast<std::uint64_t>(op.immediate);
      if (holds(c, first, 32 * kBytes) && (first & (kBytes - 1)) == 0 &&
          (!c.shadowed ||
           row_is_written<32 * kBytes>(k.memory->written_shadow(first & ~7ull), first & 7))) {
        if (!c.raced || read_row<kBytes>(w, op, c, first)) {
          if (k.counting) count_global_row(k.counters, false, first, 32 * kBytes);
          load_row<kBytes>(
              destination<std::byte>(w, op.dst),
              reinterpret_cast<const std::byte*>(first + static_cast<std::uint64_t>(c.delta)));
          return;
        }
      }
    } else if (all_same(a) &&
               load_for_all<kBytes>(w, op, a[0] + static_cast<std::uint64_t>(op.immediate))) {
      return;
    }
  }
  if (gather_global<kBytes>(w, op, mask)) return;
  load_any(w, op, mask);
}

template <int kBytes>
void store_global(Warp& w, const Op& op, LaneMask mask) {
  if (__builtin_expect(mask == kAllLanes && !w.control->tracking, 1)) {
    const std::uint64_t* a = source<std::uint64_t>(w, op.src[0]);
    if (consecutive<kBytes>(a)) {
      Worker& k = *w.block->worker;
      const CachedRange& c = cached(k, op);
      const std::uint64_t first = a[0] + static_cast<std::uint64_t>(op.immediate);
      if (holds(c, first, 32 * kBytes) && (first & (kBytes - 1)) == 0 && c.writable) {
        const bool stored =
            c.raced ? write_row<kBytes>(w, op, c, first) : (put_row<kBytes>(w, op, c, first), true);
        if (stored) {
          if (k.counting) count_global_row(k.counters, true, first, 32 * kBytes);
          return;
        }
      }
    }
  }
  if (scatter_global<kBytes>(w, op, mask)) return;
  store_any(w, op, mask);
}

}  // namespace

Handler global_load_handler(const Op& op) {
  return by_size(op.width, [](auto bytes) -> Handler { return &load_global<bytes()>; });
}
Handler global_store_handler(const Op& op) {
  return by_size(op.width, [](auto bytes) -> Handler { return &store_global<bytes()>; });
}

}  // namespace lockstep::engine
