// Resolves addresses of global memory: bounds and written bytes.
#include "simulator/engine/access/global_memory.h"

#include <algorithm>
#include <bit>
#include <cstring>

#include "simulator/engine/access/access.h"
#include "simulator/engine/monitor/counters.h"
#include "simulator/engine/monitor/deferred.h"
#include "simulator/engine/monitor/looks.h"
#include "simulator/engine/monitor/proved.h"
#include "simulator/engine/monitor/races.h"
#include "simulator/engine/monitor/reports.h"
#include "simulator/engine/state/lane_addresses.h"
#include "simulator/engine/state/launch_state.h"
#include "simulator/engine/state/request.h"
#include "simulator/engine/state/worker.h"
#include "simulator/engine/state/written_bits.h"

namespace lockstep::engine {

bool refill_from_others(const Worker& k, CachedRange& c, std::uint64_t address,
                        std::uint64_t bytes) {
  if (k.watch != 0) return false;
  for (const CachedRange& other : k.cache) {
    if (!holds(other, address, bytes)) continue;
    c = other;
    return true;
  }
  return false;
}

namespace {

using isa::Space;

// CachedRange::silent.
std::uint32_t silent_bytes(const Launch& launch, const CachedRange& c) {
  if (kAtomicsOnly || launch.config->count || c.raced || c.shadowed || c.begin % 16 != 0) return 0;
  return static_cast<std::uint32_t>(std::min(c.size, std::uint64_t{1} << 31));
}

__attribute__((noinline)) bool refill(Warp& w, const Request& r, CachedRange& c,
                                      std::uint64_t address) {
  Worker& k = *w.block->worker;
  if (refill_from_others(k, c, address, r.size)) return true;
  const memory::Allocation* a = k.memory->find(address);
  if (a == nullptr || !a->usable()) return false;
  const bool strict = w.block->launch->check_bounds;
  c.begin = strict ? a->begin : a->base;
  c.size = strict ? a->end - a->begin : a->size;
  c.delta = a->alias_delta;
  c.writable = a->kind != memory::Kind::kConstant;
  const bool looks = a->has_shadow && w.block->launch->check_initialisation;
  c.all_written = looks && k.memory->is_all_written(*a);
  c.shadowed = looks && !c.all_written;
  // Constants change only between kernels; operations in other streams may change them at any time.
  c.raced = a->has_shadow && w.block->launch->check_races &&
            (c.writable || w.block->launch->config->place.several_streams) &&
            (w.block->launch->search_global || may_race_in(*w.block->launch, *a));
  c.deferred = c.raced && may_race_if_read(*w.block->launch, *a);
  c.silent = silent_bytes(*w.block->launch, c);
  if (__builtin_expect(k.watch != 0, 0)) {
    note_look(w, r, *a, address);
    k.generation = ~0ull;  // makes the next access come here, too
  }
  return holds(c, address, r.size);
}

__attribute__((noinline)) bool report_global(Warp& w, const Request& r, LaneMask lanes,
                                             bool read_only) {
  const memory::DeviceMemory& memory = *w.block->worker->memory;
  LaneMask bad = 0;
  CachedRange c;
  each(lanes, [&](int i) {
    const bool inside = holds(c, r.address[i], r.size) || refill(w, r, c, r.address[i]);
    if (read_only ? inside && !c.writable : !inside) bad |= 1u << i;
  });
  const std::uint64_t first = r.address[std::countr_zero(bad)];
  const memory::Allocation* a = memory.find(first);
  const bool freed = a != nullptr && !a->usable();
  check::Finding f = access_finding(w, r, Space::kGlobal, bad,
                                    read_only ? check::Kind::kReadOnlyWrite
                                    : freed   ? check::Kind::kUseAfterFree
                                              : check::Kind::kOutOfBounds);
  f.where = read_only ? std::to_string(first - a->begin) + " bytes into " + describe(*a)
                      : describe(memory, first, r.size);
  report(w, std::move(f));
  return false;
}

// Whether the access looks at the written-shadow, or marks it.
bool marks(const CachedRange& c, const Request& r) {
  return c.shadowed || (c.all_written && r.writes && r.invalid != 0);
}

// After a store of unwritten values.
void note_became_unwritten(const memory::DeviceMemory& memory, const Request& r, LaneMask lanes) {
  if (!r.writes) return;
  each(r.invalid & lanes, [&](int i) { memory.became_unwritten(r.address[i], r.size); });
}

}  // namespace

bool resolve_global(Warp& w, Request& r, LaneMask lanes) {
  const Extent e = extent(r.address, lanes);
  if (e.bits & (r.size - 1)) return report_misaligned(w, r, Space::kGlobal, lanes);
  Worker& k = *w.block->worker;
  CachedRange& c = cached(k, *r.op);
  const std::uint64_t span = e.high - e.low + r.size;
  if (holds(c, e.low, span) || (refill(w, r, c, e.low) && holds(c, e.low, span))) {
    if (r.writes && !c.writable) return report_global(w, r, lanes, true);
    for (int i = 0; i < kWarpSize; ++i)
      r.host[i] = reinterpret_cast<std::byte*>(r.address[i] + static_cast<std::uint64_t>(c.delta));
    if (marks(c, r)) {
      const std::uint64_t begin = e.low & ~7ull;
      std::uint8_t* shadow = k.memory->written_shadow(begin);
      memory::PartlyWritten& partly = k.memory->partly_written();
      if (r.reads) {
        r.unwritten |= unwritten_lanes(shadow, e.low - begin, span, r.size, lanes, r.missing,
                                       [&](int i) { return r.address[i] - begin; });
        refine_unwritten(r, r.unwritten & lanes, partly, [&](int i) { return r.address[i]; });
      }
      // Bytes that an atomic has read completely are already written.
      if (r.writes && !(r.reads && r.unwritten == 0) &&
          !stays_written(r, shadow, e.low - begin, span))
        each(lanes, [&](int i) {
          note_written(r, i, shadow, r.address[i] - begin, partly, r.address[i]);
        });
      note_became_unwritten(*k.memory, r, lanes);
    }
  } else {
    // Lanes in different allocations.
    bool inside = true, writable = true, raced = false, deferred = false;
    each(lanes, [&](int i) {
      if (!inside || (!holds(c, r.address[i], r.size) && !refill(w, r, c, r.address[i]))) {
        inside = false;
        return;
      }
      writable &= c.writable;
      raced |= c.raced;
      deferred |= c.deferred;
      r.host[i] = reinterpret_cast<std::byte*>(r.address[i] + static_cast<std::uint64_t>(c.delta));
      if (!marks(c, r)) return;
      std::uint8_t* shadow = k.memory->written_shadow(r.address[i] & ~7ull);
      if (r.reads)
        note_missing(r, i, shadow, r.address[i] & 7, k.memory->partly_written(), r.address[i]);
      if (r.writes)
        note_written(r, i, shadow, r.address[i] & 7, k.memory->partly_written(), r.address[i]);
    });
    note_became_unwritten(*k.memory, r, lanes);
    if (!inside) return report_global(w, r, lanes, false);
    if (r.writes && !writable) return report_global(w, r, lanes, true);
    if (k.counting) count_global(k.counters, r.writes, r.address, lanes, e.low, e.high);
    if (k.races != nullptr && !raced) note_host_memory(w, r, lanes);
    if (deferred) end_deferral(k);
    return !raced || check_global_races(w, r, lanes);
  }
  if (k.counting) count_global(k.counters, r.writes, r.address, lanes, e.low, e.high);
  if (k.races == nullptr) return true;
  if (c.raced && !(c.deferred && is_deferred(w, r, lanes))) return check_global_races(w, r, lanes);
  note_host_memory(w, r, lanes);
  return true;
}

}  // namespace lockstep::engine
