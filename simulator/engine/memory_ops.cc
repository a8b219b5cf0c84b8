#include "simulator/engine/memory_ops.h"

#include <immintrin.h>

#include <algorithm>
#include <bit>
#include <cstring>

#include "simulator/engine/cluster.h"
#include "simulator/engine/report.h"
#include "simulator/engine/track.h"

namespace lockstep::engine {
namespace {

using ptx::Space;

template <class F>
inline __attribute__((always_inline)) void each(LaneMask lanes, F f) {
  for (; lanes != 0; lanes &= lanes - 1) f(std::countr_zero(lanes));
}

// ---- written-shadow -------------------------------------------------------------------------------------------------

// Bit i of byte k stands for byte 8 k + i of the memory. `bits` at bit `first` of `shadow`.
inline bool all_written(const std::uint8_t* shadow, std::uint64_t first, std::uint32_t bits) {
  shadow += first >> 3;
  const unsigned skip = first & 7;
  if (skip + bits <= 8) {
    const unsigned mask = ((1u << bits) - 1) << skip;
    return (*shadow & mask) == mask;
  }
  if (skip != 0) {
    const unsigned mask = 0xffu << skip;
    if ((*shadow++ & mask) != (mask & 0xff)) return false;
    bits -= 8 - skip;
  }
  for (; bits >= 64; bits -= 64, shadow += 8) {
    std::uint64_t word;
    std::memcpy(&word, shadow, 8);
    if (word != ~0ull) return false;
  }
  for (; bits >= 8; bits -= 8) {
    if (*shadow++ != 0xff) return false;
  }
  const unsigned mask = (1u << bits) - 1;
  return (*shadow & mask) == mask;
}

// Other host threads may write neighbouring bits: whole bytes can be stored, parts of bytes need an atomic.
inline void set_written(std::uint8_t* shadow, std::uint64_t first, std::uint32_t bits) {
  shadow += first >> 3;
  const unsigned skip = first & 7;
  const auto part = [](std::uint8_t* p, unsigned mask) {
    if ((__atomic_load_n(p, __ATOMIC_RELAXED) & mask) != mask) __atomic_fetch_or(p, static_cast<std::uint8_t>(mask), __ATOMIC_RELAXED);
  };
  if (skip + bits <= 8) {
    part(shadow, (((1u << bits) - 1) << skip) & 0xff);
    return;
  }
  if (skip != 0) {
    part(shadow++, (0xffu << skip) & 0xff);
    bits -= 8 - skip;
  }
  std::memset(shadow, 0xff, bits >> 3);
  if (bits & 7) part(shadow + (bits >> 3), (1u << (bits & 7)) - 1);
}

inline void clear_written(std::uint8_t* shadow, std::uint64_t first, std::uint32_t bits) {
  for (std::uint64_t i = first; i < first + bits; ++i) {
    __atomic_fetch_and(shadow + (i >> 3), static_cast<std::uint8_t>(~(1u << (i & 7))), __ATOMIC_RELAXED);
  }
}

// ---- addresses ------------------------------------------------------------------------------------------------------

template <int kStep>
inline bool consecutive(const std::uint64_t* a) {
  const __m256i first = _mm256_set1_epi64x(static_cast<long long>(a[0]));
  __m256i want = _mm256_add_epi64(first, _mm256_setr_epi64x(0, kStep, 2 * kStep, 3 * kStep));
  __m256i differ = _mm256_setzero_si256();
  for (int i = 0; i < 32; i += 4) {
    differ = _mm256_or_si256(differ, _mm256_xor_si256(want, _mm256_load_si256(reinterpret_cast<const __m256i*>(a + i))));
    want = _mm256_add_epi64(want, _mm256_set1_epi64x(4 * kStep));
  }
  return _mm256_testz_si256(differ, differ);
}
template <int kStep>
inline bool consecutive(const std::uint32_t* a) {
  const __m256i first = _mm256_set1_epi32(static_cast<int>(a[0]));
  __m256i want = _mm256_add_epi32(first, _mm256_mullo_epi32(_mm256_set1_epi32(kStep), _mm256_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7)));
  __m256i differ = _mm256_setzero_si256();
  for (int i = 0; i < 32; i += 8) {
    differ = _mm256_or_si256(differ, _mm256_xor_si256(want, _mm256_load_si256(reinterpret_cast<const __m256i*>(a + i))));
    want = _mm256_add_epi32(want, _mm256_set1_epi32(8 * kStep));
  }
  return _mm256_testz_si256(differ, differ);
}

void load_addresses(const Warp& w, const Op& op, std::uint64_t* out) {
  const auto offset = static_cast<std::uint64_t>(op.immediate);
  if (op.flags & kNarrowAddress) {
    const std::uint32_t* a = source<std::uint32_t>(w, op.src[0]);
    for (int i = 0; i < kWarpSize; ++i) out[i] = a[i] + offset;
  } else {
    const std::uint64_t* a = source<std::uint64_t>(w, op.src[0]);
    for (int i = 0; i < kWarpSize; ++i) out[i] = a[i] + offset;
  }
  if (op.flags & kFrameAddress) {
    const std::uint32_t base = w.control->frames[w.control->frame].local_base;
    for (int i = 0; i < kWarpSize; ++i) out[i] += base;
  }
}

struct Extent {
  std::uint64_t low = ~0ull, high = 0, bits = 0;
};
Extent extent(const std::uint64_t* a, LaneMask lanes) {
  std::uint64_t low = ~0ull, high = 0, bits = 0;
  for (int i = 0; i < kWarpSize; ++i) {
    const std::uint64_t on = lanes >> i & 1 ? ~0ull : 0;
    const std::uint64_t up = a[i] | ~on, down = a[i] & on;
    low = up < low ? up : low;
    high = down > high ? down : high;
    bits |= down;
  }
  return {low, high, bits};
}

// Lanes of which some byte is unwritten. Most often all bytes between the lowest and the highest are written.
template <class At>
inline LaneMask unwritten_lanes(const std::uint8_t* shadow, std::uint64_t low, std::uint64_t span, std::uint32_t size, LaneMask lanes, At at) {
  if (span <= 4096 && all_written(shadow, low, static_cast<std::uint32_t>(span))) return 0;
  LaneMask unwritten = 0;
  each(lanes, [&](int i) { unwritten |= LaneMask{!all_written(shadow, at(i), size)} << i; });
  return unwritten;
}

// ---- findings -------------------------------------------------------------------------------------------------------

const char* space_name(Space s) {
  switch (s) {
    case Space::kShared: case Space::kSharedCluster: return "shared";
    case Space::kLocal: return "local";
    case Space::kConst: return "constant";
    case Space::kParam: return "parameter";
    default: return "global";
  }
}

check::Finding access_finding(const Warp& w, const Request& r, Space space, LaneMask lanes, check::Kind kind) {
  check::Finding f = finding_at(w, r.pc, lanes, kind);
  f.access.address = r.address[std::countr_zero(lanes)];
  f.access.size = r.size;
  f.access.is_write = r.writes;
  f.access.is_atomic = r.reads && r.writes;
  f.space = space_name(space);
  return f;
}

__attribute__((noinline)) bool check_alignment(Warp& w, const Request& r, Space space, LaneMask lanes) {
  LaneMask bad = 0;
  each(lanes, [&](int i) { bad |= LaneMask{(r.address[i] & (r.size - 1)) != 0} << i; });
  check::Finding f = access_finding(w, r, space, bad, check::Kind::kMisaligned);
  f.where = "the address is no multiple of " + std::to_string(r.size);
  if (space == Space::kGlobal || space == Space::kConst) {
    if (const memory::Allocation* a = w.block->worker->memory->find(f.access.address)) {
      f.where += ": " + std::to_string(f.access.address - a->begin) + " bytes into " + describe(*a);
    }
  }
  report(w, std::move(f));
  return false;
}

// ---- races in shared memory -----------------------------------------------------------------------------------------

bool same_value_stored(const Warp& w, const Request& r, int lane, const std::byte* other) {
  const Op& op = *r.op;
  if (op.elements != 1 || op.mode != 0) return false;
  return std::memcmp(source<std::byte>(w, op.src[1]) + lane * op.register_bytes, other, op.width) == 0;
}

__attribute__((noinline)) bool report_race(Warp& w, const Request& r, LaneMask lanes, int lane, const check::SharedRaces::Conflict& c) {
  Block& b = *w.block;
  // Threads that write the same value do no harm today; it is worth knowing all the same.
  bool benign = false;
  if (r.writes && !r.reads && c.other_is_write) {
    const int other_lane = static_cast<int>(c.other_thread & 31);
    const bool same_instruction = c.other_thread >> 5 == w.index && c.other_pc == r.pc && (lanes >> other_lane & 1) &&
                                  r.address[other_lane] == r.address[lane];
    benign = same_instruction ? same_value_stored(w, r, lane, source<std::byte>(w, r.op->src[1]) + other_lane * r.op->register_bytes)
                              : same_value_stored(w, r, lane, r.host[lane]);
  }
  if (benign) {
    // Once a site says it all, and a loop may come here very often.
    std::vector<std::uint32_t>& informed = b.worker->informed;
    if (std::find(informed.begin(), informed.end(), r.pc) != informed.end()) return true;
    informed.push_back(r.pc);
  }
  check::Finding f = access_finding(w, r, Space::kShared, 1u << lane, check::Kind::kRace);
  if (benign) f.severity = check::Severity::kInformation;
  for (const Range& range : b.launch->shared) {
    if (r.address[lane] >= range.begin && r.address[lane] < range.end) {
      f.where = std::to_string(r.address[lane] - range.begin) + " bytes into '" + range.name + "'";
    }
  }
  check::Access other;
  other.site = site_of(*b.program, c.other_pc);
  other.block = b.ctaid;
  other.thread = thread_of(*b.launch, c.other_thread);
  other.address = r.address[lane];
  other.size = r.size;
  other.is_write = c.other_is_write;
  other.is_atomic = c.other_is_strong && c.other_is_write;
  f.other = other;
  f.detail = benign ? "Both write the same value."
             : c.other_thread >> 5 == w.index
                 ? "Nothing orders the two threads of this warp: __syncwarp() or __syncthreads() between the accesses would."
                 : "Nothing orders the two threads: __syncthreads() between the accesses would.";
  report(w, std::move(f));
  return benign;
}

bool check_shared_races(Warp& w, const Request& r, LaneMask lanes) {
  Block& b = *w.block;
  const bool strong = (r.op->flags & kStrong) != 0 || (r.reads && r.writes);
  bool good = true;
  check::SharedRaces::Conflict conflict;
  each(lanes, [&](int i) {
    if (b.races.access(static_cast<std::uint32_t>(r.address[i]), r.size, w.index * kWarpSize + static_cast<std::uint32_t>(i), r.pc,
                       r.writes, strong, conflict) && good) {
      good = report_race(w, r, lanes, i, conflict);
    }
  });
  return good;
}

// ---- global memory --------------------------------------------------------------------------------------------------

inline CachedRange& cached(Worker& k, const Op& op) {
  const std::uint64_t generation = k.memory->generation();
  if (__builtin_expect(k.generation != generation, 0)) {
    for (CachedRange& c : k.cache) c = CachedRange{};
    k.generation = generation;
  }
  return k.cache[op.origin % kCacheSlots];
}
inline bool holds(const CachedRange& c, std::uint64_t address, std::uint64_t bytes) {
  const std::uint64_t at = address - c.begin;
  return at < c.size && c.size - at >= bytes;
}

__attribute__((noinline)) bool refill(Warp& w, const Request& r, CachedRange& c, std::uint64_t address) {
  const memory::Allocation* a = w.block->worker->memory->find(address);
  if (a == nullptr || a->freed) return false;
  const bool strict = w.block->launch->check_bounds;
  c.begin = strict ? a->begin : a->base;
  c.size = strict ? a->end - a->begin : a->size;
  c.delta = a->alias_delta;
  c.writable = a->kind != memory::Kind::kConstant;
  c.shadowed = a->has_shadow && w.block->launch->check_initialisation;
  return holds(c, address, r.size);
}

__attribute__((noinline)) bool report_global(Warp& w, const Request& r, LaneMask lanes, bool read_only) {
  const memory::DeviceMemory& memory = *w.block->worker->memory;
  LaneMask bad = 0;
  CachedRange c;
  each(lanes, [&](int i) {
    const bool inside = holds(c, r.address[i], r.size) || refill(w, r, c, r.address[i]);
    if (read_only ? inside && !c.writable : !inside) bad |= 1u << i;
  });
  const std::uint64_t first = r.address[std::countr_zero(bad)];
  const memory::Allocation* a = memory.find(first);
  const bool freed = a != nullptr && a->freed;
  check::Finding f = access_finding(w, r, Space::kGlobal, bad,
                                    read_only ? check::Kind::kReadOnlyWrite : freed ? check::Kind::kUseAfterFree : check::Kind::kOutOfBounds);
  f.where = read_only ? std::to_string(first - a->begin) + " bytes into " + describe(*a) : describe(memory, first, r.size);
  report(w, std::move(f));
  return false;
}

void count_global(Warp& w, const Request& r, LaneMask lanes) {
  // Distinct sectors and lines among at most 32 accesses of at most 32 bytes: each touches one or two sectors.
  std::uint64_t sectors[2 * kWarpSize], lines[2 * kWarpSize];
  int n = 0, m = 0;
  each(lanes, [&](int i) {
    for (std::uint64_t s = r.address[i] >> 5; s <= (r.address[i] + r.size - 1) >> 5; ++s) sectors[n++] = s;
    for (std::uint64_t s = r.address[i] >> 7; s <= (r.address[i] + r.size - 1) >> 7; ++s) lines[m++] = s;
  });
  std::sort(sectors, sectors + n);
  std::sort(lines, lines + m);
  const auto s = static_cast<std::uint64_t>(std::unique(sectors, sectors + n) - sectors);
  const auto l = static_cast<std::uint64_t>(std::unique(lines, lines + m) - lines);
  Counters& c = w.block->worker->counters;
  if (r.writes) {
    ++c.global_store_requests;
    c.global_store_sectors += s;
    c.global_store_lines += l;
  } else {
    ++c.global_load_requests;
    c.global_load_sectors += s;
    c.global_load_lines += l;
  }
}

bool resolve_global(Warp& w, Request& r, LaneMask lanes) {
  const Extent e = extent(r.address, lanes);
  if (e.bits & (r.size - 1)) return check_alignment(w, r, Space::kGlobal, lanes);
  Worker& k = *w.block->worker;
  CachedRange& c = cached(k, *r.op);
  const std::uint64_t span = e.high - e.low + r.size;
  if (holds(c, e.low, span) || (refill(w, r, c, e.low) && holds(c, e.low, span))) {
    if (r.writes && !c.writable) return report_global(w, r, lanes, true);
    for (int i = 0; i < kWarpSize; ++i) r.host[i] = reinterpret_cast<std::byte*>(r.address[i] + static_cast<std::uint64_t>(c.delta));
    if (c.shadowed) {
      std::uint8_t* shadow = k.memory->written_shadow(k.memory->window_begin());
      const std::uint64_t begin = k.memory->window_begin();
      if (r.reads) r.unwritten |= unwritten_lanes(shadow, e.low - begin, span, r.size, lanes, [&](int i) { return r.address[i] - begin; });
      if (r.writes) each(lanes, [&](int i) {
        if (r.invalid >> i & 1) clear_written(shadow, r.address[i] - begin, r.size);
        else set_written(shadow, r.address[i] - begin, r.size);
      });
    }
  } else {
    // Lanes in different allocations.
    bool inside = true, writable = true;
    each(lanes, [&](int i) {
      if (!inside || (!holds(c, r.address[i], r.size) && !refill(w, r, c, r.address[i]))) {
        inside = false;
        return;
      }
      writable &= c.writable;
      r.host[i] = reinterpret_cast<std::byte*>(r.address[i] + static_cast<std::uint64_t>(c.delta));
      if (!c.shadowed) return;
      std::uint8_t* shadow = k.memory->written_shadow(r.address[i] & ~7ull);
      if (r.reads) r.unwritten |= LaneMask{!all_written(shadow, r.address[i] & 7, r.size)} << i;
      if (r.writes) r.invalid >> i & 1 ? clear_written(shadow, r.address[i] & 7, r.size) : set_written(shadow, r.address[i] & 7, r.size);
    });
    if (!inside) return report_global(w, r, lanes, false);
    if (r.writes && !writable) return report_global(w, r, lanes, true);
  }
  if (k.counting) count_global(w, r, lanes);
  return true;
}

// ---- shared memory --------------------------------------------------------------------------------------------------

void count_shared(Warp& w, const Request& r, LaneMask lanes) {
  // 32 banks of four bytes; 8- and 16-byte accesses go in two and four passes over the lanes; the same word costs nothing more.
  const int passes = r.size <= 4 ? 1 : static_cast<int>(r.size / 4);
  const int lanes_a_pass = kWarpSize / passes;
  std::uint64_t conflicts = 0;
  for (int p = 0; p < passes; ++p) {
    std::uint32_t words[kWarpSize * 2];
    int n = 0;
    for (int i = p * lanes_a_pass; i < (p + 1) * lanes_a_pass; ++i) {
      if (!(lanes >> i & 1)) continue;
      for (std::uint32_t b = 0; b < std::max(r.size, 4u); b += 4) words[n++] = (static_cast<std::uint32_t>(r.address[i]) + b) >> 2;
    }
    std::sort(words, words + n);
    n = static_cast<int>(std::unique(words, words + n) - words);
    std::uint32_t banks[32] = {}, worst = 0;
    for (int i = 0; i < n; ++i) worst = std::max(worst, ++banks[words[i] & 31]);
    conflicts += worst ? worst - 1 : 0;
  }
  Counters& c = w.block->worker->counters;
  (r.writes ? c.shared_store_requests : c.shared_load_requests) += 1;
  (r.writes ? c.shared_store_conflicts : c.shared_load_conflicts) += conflicts;
}

inline const Range* shared_range(const Launch& launch, std::uint64_t low, std::uint64_t end) {
  for (const Range& range : launch.shared) {
    if (low >= range.begin && end <= range.end) return &range;
  }
  return nullptr;
}

__attribute__((noinline)) bool resolve_named(Warp& w, Request& r, LaneMask lanes);

bool resolve_shared(Warp& w, Request& r, LaneMask lanes) {
  Block& b = *w.block;
  const Extent e = extent(r.address, lanes);
  if (e.bits & (r.size - 1)) return check_alignment(w, r, Space::kShared, lanes);
  if (shared_range(*b.launch, e.low, e.high + r.size) == nullptr) {
    if (e.high >> kRankShift != 0) return resolve_named(w, r, lanes);
    LaneMask bad = 0;
    each(lanes, [&](int i) { bad |= LaneMask{shared_range(*b.launch, r.address[i], r.address[i] + r.size) == nullptr} << i; });
    if (bad != 0) {
      check::Finding f = access_finding(w, r, Space::kShared, bad, check::Kind::kOutOfBounds);
      f.where = describe_range(b.launch->shared, static_cast<std::uint32_t>(f.access.address), r.size);
      report(w, std::move(f));
      return false;
    }
  }
  std::byte* const bytes = b.shared.bytes.get();
  for (int i = 0; i < kWarpSize; ++i) r.host[i] = bytes + static_cast<std::uint32_t>(r.address[i]);
  if (b.launch->check_initialisation) {
    auto* shadow = reinterpret_cast<std::uint8_t*>(b.shared.written.get());
    if (r.reads) r.unwritten |= unwritten_lanes(shadow, e.low, e.high - e.low + r.size, r.size, lanes, [&](int i) { return r.address[i]; });
    if (r.writes) each(lanes, [&](int i) {
      if (r.invalid >> i & 1) clear_written(shadow, r.address[i], r.size);
      else set_written(shadow, r.address[i], r.size);
    });
  }
  if (b.launch->check_races && !check_shared_races(w, r, lanes)) return false;
  if (b.worker->counting) count_shared(w, r, lanes);
  return true;
}

// Bytes of the block of `rank`, not this one. Left out of the search for races: a block's record of accesses knows its own threads only.
bool resolve_remote(Warp& w, Request& r, std::uint32_t rank, LaneMask lanes) {
  Block& b = *w.block;
  const auto fails = [&](LaneMask bad, check::Kind kind, std::string where) {
    check::Finding f = access_finding(w, r, Space::kShared, bad, kind);
    f.where = std::move(where);
    report(w, std::move(f));
    return false;
  };
  const std::size_t count = b.cluster == nullptr ? 1 : b.cluster->blocks.size();
  const std::string name = rank == kNoRank - 1 ? "the rank asked of mapa" : "rank " + std::to_string(rank);
  if (rank >= count) {
    return fails(lanes, check::Kind::kOutOfBounds,
                 name + " is outside the cluster, which has " + std::to_string(count) + (count == 1 ? " block" : " blocks"));
  }
  if (static_cast<Space>(r.op->space) == Space::kShared) {
    return fails(lanes, check::Kind::kOutOfBounds,
                 "an address in the block of " + name + " of the cluster: without ::cluster, .shared is the block's own");
  }
  Block& target = *b.cluster->blocks[rank];
  if (target.live_warps == 0) {
    return fails(lanes, check::Kind::kUseAfterFree, "the block of " + name + " has left the cluster, and its shared memory with it");
  }
  LaneMask bad = 0;
  each(lanes, [&](int i) { bad |= LaneMask{shared_range(*b.launch, r.address[i], r.address[i] + r.size) == nullptr} << i; });
  if (bad != 0) {
    const auto address = static_cast<std::uint32_t>(r.address[std::countr_zero(bad)]);
    return fails(bad, check::Kind::kOutOfBounds,
                 describe_range(b.launch->shared, address, r.size) + ", in the block of " + name + " of the cluster");
  }
  auto* shadow = reinterpret_cast<std::uint8_t*>(target.shared.written.get());
  each(lanes, [&](int i) {
    r.host[i] = target.shared.bytes.get() + r.address[i];
    if (!b.launch->check_initialisation) return;
    if (r.reads) r.unwritten |= LaneMask{!all_written(shadow, r.address[i], r.size)} << i;
    if (r.writes) r.invalid >> i & 1 ? clear_written(shadow, r.address[i], r.size) : set_written(shadow, r.address[i], r.size);
  });
  r.remote |= lanes;
  return true;
}

// Some lanes' addresses name a block: each block's lanes by themselves.
bool resolve_named(Warp& w, Request& r, LaneMask lanes) {
  Request part = r;
  for (LaneMask todo = lanes; todo != 0;) {
    const std::uint32_t rank = rank_named(*w.block, static_cast<std::uint32_t>(r.address[std::countr_zero(todo)]));
    LaneMask same = 0;
    each(todo, [&](int i) {
      if (rank_named(*w.block, static_cast<std::uint32_t>(r.address[i])) != rank) return;
      same |= 1u << i;
      part.address[i] = r.address[i] & kOffsetMask;
    });
    if (!(rank == w.block->cluster_rank ? resolve_shared(w, part, same) : resolve_remote(w, part, rank, same))) return false;
    each(same, [&](int i) { r.host[i] = part.host[i]; });
    todo &= ~same;
  }
  r.unwritten = part.unwritten;
  r.remote = part.remote;
  return true;
}

// ---- local memory ---------------------------------------------------------------------------------------------------

bool in_local_variable(const Warp& w, int lane, std::uint64_t low, std::uint32_t size) {
  const WarpControl& c = *w.control;
  const Program& program = *w.block->program;
  for (std::int32_t i = c.frame; i >= 0; i = c.frames[i].caller) {
    const Frame& frame = c.frames[i];
    const std::uint64_t at = low - frame.local_base;
    for (const Range& range : program.functions[frame.function].local) {
      if (at >= range.begin && at < range.end && range.end - at >= size) return true;
    }
  }
  // Memory from alloca lies above the frames that are known when it is asked for.
  return c.stack_pointer[lane] != 0 && low < c.stack_pointer[lane] && c.stack_pointer[lane] - low >= size && low >= w.block->launch->kernel->local_total;
}

bool resolve_local(Warp& w, Request& r, LaneMask lanes) {
  Block& b = *w.block;
  const Extent e = extent(r.address, lanes);
  if (e.bits & (r.size - 1)) return check_alignment(w, r, Space::kLocal, lanes);
  const std::uint32_t stride = b.launch->local_stride;
  LaneMask bad = 0;
  each(lanes, [&](int i) { bad |= LaneMask{!in_local_variable(w, i, r.address[i], r.size)} << i; });
  if (bad != 0) {
    check::Finding f = access_finding(w, r, Space::kLocal, bad, check::Kind::kOutOfBounds);
    std::vector<Range> ranges;
    for (std::int32_t i = w.control->frame; i >= 0; i = w.control->frames[i].caller) {
      const Frame& frame = w.control->frames[i];
      for (Range range : b.program->functions[frame.function].local) {
        range.begin += frame.local_base;
        range.end += frame.local_base;
        ranges.push_back(range);
      }
    }
    f.where = describe_range(ranges, static_cast<std::uint32_t>(f.access.address), r.size);
    report(w, std::move(f));
    return false;
  }
  auto* shadow = reinterpret_cast<std::uint8_t*>(b.local.written.get());
  each(lanes, [&](int i) {
    const std::uint64_t at = std::uint64_t{w.index * kWarpSize + static_cast<std::uint32_t>(i)} * stride + r.address[i];
    r.host[i] = b.local.bytes.get() + at;
    if (!b.launch->check_initialisation) return;
    if (r.reads) r.unwritten |= LaneMask{!all_written(shadow, at, r.size)} << i;
    if (r.writes) r.invalid >> i & 1 ? clear_written(shadow, at, r.size) : set_written(shadow, at, r.size);
  });
  return true;
}

}  // namespace

bool resolve(Warp& w, Request& r, Space space, LaneMask lanes) {
  switch (space) {
    case Space::kShared: case Space::kSharedCluster:
      // Shared addresses have 32 bits.
      for (int i = 0; i < kWarpSize; ++i) r.address[i] &= 0xffffffffu;
      return resolve_shared(w, r, lanes);
    case Space::kLocal: return resolve_local(w, r, lanes);
    case Space::kGeneric: {
      const std::uint64_t shared = w.block->launch->shared_window, local = w.block->launch->local_window;
      LaneMask in_shared = 0, in_local = 0;
      for (int i = 0; i < kWarpSize; ++i) {
        in_shared |= LaneMask{r.address[i] - shared < (1ull << 32)} << i;
        in_local |= LaneMask{r.address[i] - local < (1ull << 32)} << i;
      }
      in_shared &= lanes;
      in_local &= lanes;
      if ((in_shared | in_local) == 0) return resolve_global(w, r, lanes);
      each(in_shared, [&](int i) { r.address[i] -= shared; });
      each(in_local, [&](int i) { r.address[i] -= local; });
      if (in_shared == lanes) return resolve_shared(w, r, lanes);
      if (in_local == lanes) return resolve_local(w, r, lanes);
      // Lanes in different spaces: each part resolves into the same request, whose unused entries must survive the others.
      Request part = r;
      const LaneMask parts[3] = {in_shared, in_local, lanes & ~(in_shared | in_local)};
      for (int p = 0; p < 3; ++p) {
        if (parts[p] == 0) continue;
        if (!(p == 0 ? resolve_shared(w, part, parts[p]) : p == 1 ? resolve_local(w, part, parts[p]) : resolve_global(w, part, parts[p]))) {
          return false;
        }
        each(parts[p], [&](int i) { r.host[i] = part.host[i]; });
      }
      r.unwritten = part.unwritten;
      r.remote = part.remote;
      return true;
    }
    default: return resolve_global(w, r, lanes);
  }
}

const std::byte* peek(Warp& w, int lane, std::uint64_t address, std::uint32_t size) {
  Block& b = *w.block;
  if (address - b.launch->shared_window < (1ull << 32)) {
    const std::uint64_t at = address - b.launch->shared_window;
    return shared_range(*b.launch, at, at + size) ? b.shared.bytes.get() + at : nullptr;
  }
  if (address - b.launch->local_window < (1ull << 32)) {
    const std::uint64_t at = address - b.launch->local_window;
    if (!in_local_variable(w, lane, at, size)) return nullptr;
    return b.local.bytes.get() + (std::uint64_t{w.index * kWarpSize + static_cast<std::uint32_t>(lane)} * b.launch->local_stride + at);
  }
  const memory::Allocation* a = b.worker->memory->find(address);
  if (a == nullptr || a->freed || address < a->begin || address + size > a->end) return nullptr;
  return b.worker->memory->host(*a, address);
}

namespace {

// ---- loads and stores -----------------------------------------------------------------------------------------------

// What a fence does, as part of an access with .acquire or .release.
void order(Warp& w) {
  __atomic_thread_fence(__ATOMIC_SEQ_CST);
  if (w.block->launch->check_races) w.block->races.fence(w.index);
}

inline Slot data_slot(const Warp& w, const Op& op, int element, Slot single) {
  return op.elements == 1 ? single : w.block->program->slots[op.target + static_cast<std::uint32_t>(element)];
}

template <int kBytes>
inline void copy_lanes_in(std::byte* d, const Request& r, LaneMask mask, int offset) {
  if (mask == kAllLanes) {
    for (int i = 0; i < kWarpSize; ++i) std::memcpy(d + i * kBytes, r.host[i] + offset, kBytes);
  } else {
    each(mask, [&](int i) { std::memcpy(d + i * kBytes, r.host[i] + offset, kBytes); });
  }
}

// Widening of narrow loads (9.4.1): sign- or zero-extended into the register.
void extend_lanes_in(std::byte* d, const Request& r, LaneMask mask, int offset, const Op& op) {
  each(mask, [&](int i) {
    std::uint64_t v = 0;
    std::memcpy(&v, r.host[i] + offset, op.width);
    if (op.flags & kSignExtend) {
      const int up = 64 - 8 * op.width;
      v = static_cast<std::uint64_t>(static_cast<std::int64_t>(v << up) >> up);
    }
    std::memcpy(d + i * op.register_bytes, &v, op.register_bytes);
  });
}

__attribute__((noinline)) void note_unwritten(Warp& w, const Op& op, LaneMask unwritten, LaneMask mask) {
  begin_tracking(w);
  for (int e = 0; e < op.elements; ++e) {
    const Slot slot = data_slot(w, op, e, op.dst);
    if (slot != kNoSlot) mark_register(w, slot, unwritten, mask, w.pc - 1);
  }
}

void fill(Warp& w, const Op& op, const Request& r, LaneMask mask) {
  for (int e = 0; e < op.elements; ++e) {
    const Slot slot = data_slot(w, op, e, op.dst);
    if (slot == kNoSlot) continue;
    std::byte* d = destination<std::byte>(w, slot);
    const int offset = e * op.width;
    if (op.register_bytes != op.width) {
      extend_lanes_in(d, r, mask, offset, op);
      continue;
    }
    switch (op.width) {
      case 1: copy_lanes_in<1>(d, r, mask, offset); break;
      case 2: copy_lanes_in<2>(d, r, mask, offset); break;
      case 4: copy_lanes_in<4>(d, r, mask, offset); break;
      case 8: copy_lanes_in<8>(d, r, mask, offset); break;
      default: copy_lanes_in<16>(d, r, mask, offset); break;
    }
  }
}

__attribute__((noinline)) void load_any(Warp& w, const Op& op, LaneMask mask) {
  Request r;
  r.op = &op;
  r.pc = w.pc - 1;
  r.size = static_cast<std::uint32_t>(op.width) * op.elements;
  r.reads = true;
  load_addresses(w, op, r.address);
  if (!resolve(w, r, static_cast<Space>(op.space), mask)) return;
  fill(w, op, r, mask);
  if (op.flags & kAcquire) order(w);
  if (__builtin_expect(r.unwritten != 0, 0)) note_unwritten(w, op, r.unwritten, mask);
}

__attribute__((noinline)) void store_any(Warp& w, const Op& op, LaneMask mask) {
  Request r;
  r.op = &op;
  r.pc = w.pc - 1;
  r.size = static_cast<std::uint32_t>(op.width) * op.elements;
  r.writes = true;
  if (op.flags & kRelease) order(w);
  load_addresses(w, op, r.address);
  if (w.control->tracking) {
    const Frame& frame = w.control->frames[w.control->frame];
    for (int e = 0; e < op.elements; ++e) r.invalid |= invalid_lanes(w, frame, data_slot(w, op, e, op.src[1]), mask);
  }
  if (!resolve(w, r, static_cast<Space>(op.space), mask)) return;
  for (int e = 0; e < op.elements; ++e) {
    const std::byte* s = source<std::byte>(w, data_slot(w, op, e, op.src[1]));
    const int offset = e * op.width;
    const auto copy = [&](auto bytes) {
      each(mask, [&](int i) { std::memcpy(r.host[i] + offset, s + i * op.register_bytes, bytes()); });
    };
    switch (op.width) {
      case 1: copy([] { return std::integral_constant<std::size_t, 1>{}; }); break;
      case 2: copy([] { return std::integral_constant<std::size_t, 2>{}; }); break;
      case 4: copy([] { return std::integral_constant<std::size_t, 4>{}; }); break;
      case 8: copy([] { return std::integral_constant<std::size_t, 8>{}; }); break;
      default: copy([] { return std::integral_constant<std::size_t, 16>{}; }); break;
    }
  }
}

// One element a lane, register as wide as the element, 64-bit addresses, all lanes side by side: one copy.
template <int kBytes>
void load_global(Warp& w, const Op& op, LaneMask mask) {
  if (__builtin_expect(mask == kAllLanes, 1)) {
    const std::uint64_t* a = source<std::uint64_t>(w, op.src[0]);
    if (consecutive<kBytes>(a)) {
      Worker& k = *w.block->worker;
      const CachedRange& c = cached(k, op);
      const std::uint64_t first = a[0] + static_cast<std::uint64_t>(op.immediate);
      if (holds(c, first, 32 * kBytes) && (first & (kBytes - 1)) == 0 && !k.counting &&
          (!c.shadowed || all_written(k.memory->written_shadow(first & ~7ull), first & 7, 32 * kBytes))) {
        std::memcpy(destination<std::byte>(w, op.dst), reinterpret_cast<const std::byte*>(first + static_cast<std::uint64_t>(c.delta)), 32 * kBytes);
        return;
      }
    }
  }
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
      if (holds(c, first, 32 * kBytes) && (first & (kBytes - 1)) == 0 && !k.counting && c.writable) {
        if (c.shadowed) set_written(k.memory->written_shadow(first & ~7ull), first & 7, 32 * kBytes);
        std::memcpy(reinterpret_cast<std::byte*>(first + static_cast<std::uint64_t>(c.delta)), source<std::byte>(w, op.src[1]), 32 * kBytes);
        return;
      }
    }
  }
  store_any(w, op, mask);
}

// Four bytes a lane from anywhere in one shared variable, all of it written between the lowest and the highest address. False: nothing done.
bool gather_shared(Warp& w, const Op& op, LaneMask mask) {
  Block& b = *w.block;
  if (b.worker->counting || (b.launch->check_races && b.races.shift() != 2)) return false;
  const std::uint32_t* a = source<std::uint32_t>(w, op.src[0]);
  const auto offset = static_cast<std::uint32_t>(op.immediate);
  alignas(64) std::uint32_t at[kWarpSize];
  std::uint32_t low = ~0u, high = 0, bits = 0;
  for (int i = 0; i < kWarpSize; ++i) {
    const std::uint32_t on = mask >> i & 1 ? ~0u : 0;
    const std::uint32_t v = a[i] + offset, up = v | ~on, down = v & on;
    at[i] = v;
    low = up < low ? up : low;
    high = down > high ? down : high;
    bits |= down;
  }
  const std::uint32_t span = high - low + 4;
  if ((bits & 3) != 0 || span > 8192 || shared_range(*b.launch, low, std::uint64_t{high} + 4) == nullptr) return false;
  if (b.launch->check_initialisation && !all_written(reinterpret_cast<const std::uint8_t*>(b.shared.written.get()), low, span)) return false;
  if (b.launch->check_races && !b.races.read_lanes(at, mask, w.index, w.pc - 1, (op.flags & kStrong) != 0)) return false;
  std::uint32_t* d = destination<std::uint32_t>(w, op.dst);
  const auto* bytes = reinterpret_cast<const int*>(b.shared.bytes.get());
  if (mask == kAllLanes) {
    for (int i = 0; i < kWarpSize; i += 8) {
      const __m256i index = _mm256_load_si256(reinterpret_cast<const __m256i*>(at + i));
      _mm256_store_si256(reinterpret_cast<__m256i*>(d + i), _mm256_i32gather_epi32(bytes, index, 1));
    }
  } else {
    each(mask, [&](int i) { std::memcpy(d + i, reinterpret_cast<const std::byte*>(bytes) + at[i], 4); });
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
    if (consecutive<kBytes>(a) && (first & (kBytes - 1)) == 0 && !b.worker->counting &&
        shared_range(*b.launch, first, std::uint64_t{first} + 32 * kBytes) != nullptr &&
        (!b.launch->check_initialisation || all_written(reinterpret_cast<const std::uint8_t*>(b.shared.written.get()), first, 32 * kBytes))) {
      if (!b.launch->check_races || (kBytes == 4 && b.races.shift() == 2 && b.races.read_row(first >> 2, w.index, w.pc - 1, op.flags & kStrong))) {
        std::memcpy(destination<std::byte>(w, op.dst), b.shared.bytes.get() + first, 32 * kBytes);
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
    if (consecutive<kBytes>(a) && (first & (kBytes - 1)) == 0 && !b.worker->counting &&
        shared_range(*b.launch, first, std::uint64_t{first} + 32 * kBytes) != nullptr) {
      if (!b.launch->check_races || (kBytes == 4 && b.races.shift() == 2 && b.races.write_row(first >> 2, w.index, w.pc - 1, op.flags & kStrong))) {
        if (b.launch->check_initialisation) set_written(reinterpret_cast<std::uint8_t*>(b.shared.written.get()), first, 32 * kBytes);
        std::memcpy(b.shared.bytes.get() + first, source<std::byte>(w, op.src[1]), 32 * kBytes);
        return;
      }
    }
  }
  store_any(w, op, mask);
}

// An address known to be the same in all lanes (a variable, mostly in constant memory): one read for the warp.
void load_uniform(Warp& w, const Op& op, LaneMask mask) {
  Worker& k = *w.block->worker;
  if (op.elements == 1 && op.register_bytes == op.width && !k.counting) {
    const CachedRange& c = cached(k, op);
    const std::uint64_t at = source<std::uint64_t>(w, op.src[0])[0] + static_cast<std::uint64_t>(op.immediate);
    if (holds(c, at, op.width) && (at & (op.width - 1u)) == 0 &&
        (!c.shadowed || all_written(k.memory->written_shadow(at & ~7ull), at & 7, op.width))) {
      const auto* p = reinterpret_cast<const std::byte*>(at + static_cast<std::uint64_t>(c.delta));
      if (op.width == 4) {
        std::uint32_t v;
        std::memcpy(&v, p, 4);
        auto* d = destination<std::uint32_t>(w, op.dst);
        for (int i = 0; i < kWarpSize; ++i) d[i] = mask >> i & 1 ? v : d[i];
        return;
      }
      if (op.width == 8) {
        std::uint64_t v;
        std::memcpy(&v, p, 8);
        auto* d = destination<std::uint64_t>(w, op.dst);
        for (int i = 0; i < kWarpSize; ++i) d[i] = mask >> i & 1 ? v : d[i];
        return;
      }
    }
  }
  load_any(w, op, mask);
}

}  // namespace

Handler load_handler(const Op& op) {
  const Space space = static_cast<Space>(op.space);
  const bool simple =
      op.elements == 1 && op.width == op.register_bytes && op.dst != kNoSlot && !(op.flags & (kFrameAddress | kAcquire));
  const bool narrow = (op.flags & kNarrowAddress) != 0;
  if (simple && (space == Space::kGlobal || space == Space::kConst) && !narrow) {
    if (is_constant(op.src[0])) return &load_uniform;
    switch (op.width) {
      case 1: return &load_global<1>;
      case 2: return &load_global<2>;
      case 4: return &load_global<4>;
      case 8: return &load_global<8>;
      case 16: return &load_global<16>;
    }
  }
  if (simple && space == Space::kShared && narrow) {
    switch (op.width) {
      case 4: return &load_shared<4>;
      case 8: return &load_shared<8>;
    }
  }
  return &load_any;
}

Handler store_handler(const Op& op) {
  const Space space = static_cast<Space>(op.space);
  const bool simple = op.elements == 1 && op.width == op.register_bytes && !(op.flags & (kFrameAddress | kRelease));
  const bool narrow = (op.flags & kNarrowAddress) != 0;
  if (simple && space == Space::kGlobal && !narrow) {
    switch (op.width) {
      case 1: return &store_global<1>;
      case 2: return &store_global<2>;
      case 4: return &store_global<4>;
      case 8: return &store_global<8>;
      case 16: return &store_global<16>;
    }
  }
  if (simple && space == Space::kShared && narrow) {
    switch (op.width) {
      case 4: return &store_shared<4>;
      case 8: return &store_shared<8>;
    }
  }
  return &store_any;
}

// ---- parameters -----------------------------------------------------------------------------------------------------

void load_kernel_parameter(Warp& w, const Op& op, LaneMask mask) {
  Request r;
  std::byte* p = w.block->launch->parameters.data() + op.immediate;
  for (auto& h : r.host) h = p;
  fill(w, op, r, mask);
}

void load_storage(Warp& w, const Op& op, LaneMask mask) {
  Request r;
  std::byte* p = w.bank[0] + op.src[0] + op.immediate;
  for (int i = 0; i < kWarpSize; ++i) r.host[i] = p + static_cast<std::size_t>(i) * op.src[1];
  fill(w, op, r, mask);
  if (w.control->tracking) {
    const Frame& frame = w.control->frames[w.control->frame];
    for (int e = 0; e < op.elements; ++e) {
      const Slot word = op.src[0] + static_cast<Slot>(op.immediate) / 4 * 4 + static_cast<Slot>(e * op.width) / 4 * 4;
      const Slot slot = data_slot(w, op, e, op.dst);
      if (slot != kNoSlot) mark_register(w, slot, invalid_lanes(w, frame, word, mask), mask, w.pc - 1);
    }
  }
}

void store_storage(Warp& w, const Op& op, LaneMask mask) {
  const Frame& frame = w.control->frames[w.control->frame];
  for (int e = 0; e < op.elements; ++e) {
    const Slot from = data_slot(w, op, e, op.src[3]);
    const std::byte* s = source<std::byte>(w, from);
    std::byte* p = w.bank[0] + op.src[0] + op.immediate + e * op.width;
    each(mask, [&](int i) { std::memcpy(p + static_cast<std::size_t>(i) * op.src[1], s + i * op.register_bytes, op.width); });
    if (w.control->tracking) {
      const Slot word = op.src[0] + static_cast<Slot>(op.immediate) / 4 * 4 + static_cast<Slot>(e * op.width) / 4 * 4;
      mark_register(w, word, invalid_lanes(w, frame, from, mask), mask, w.pc - 1);
    }
  }
}

// ---- atomics --------------------------------------------------------------------------------------------------------

namespace {

using ptx::AtomOp;

template <class T>
inline T from_bits(std::uint64_t v) {
  T t;
  std::memcpy(&t, &v, sizeof t);
  return t;
}
template <class T>
inline std::uint64_t to_bits(T t) {
  std::uint64_t v = 0;
  std::memcpy(&v, &t, sizeof t);
  return v;
}
inline float flush(float f) {
  std::uint32_t u;
  std::memcpy(&u, &f, 4);
  if ((u & 0x7f800000u) == 0) u &= 0x80000000u;
  std::memcpy(&f, &u, 4);
  return f;
}
template <class F>
F canonical(F f, std::uint64_t nan) {
  return f == f ? f : from_bits<F>(nan);
}

// The value that an atomic leaves behind. `flushes`: f32 addition in global memory flushes subnormals, in shared memory it does not (9.7.13.5).
template <class U, class S>
U updated(AtomOp what, AtomicType type, U old, U b, U c, bool flushes) {
  switch (what) {
    case AtomOp::kAnd: return old & b;
    case AtomOp::kOr: return old | b;
    case AtomOp::kXor: return old ^ b;
    case AtomOp::kExch: return b;
    case AtomOp::kCas: return old == b ? c : old;
    case AtomOp::kInc: return old >= b ? U{0} : static_cast<U>(old + 1);
    case AtomOp::kDec: return old == 0 || old > b ? b : static_cast<U>(old - 1);
    case AtomOp::kMin:
      return type == AtomicType::kSigned ? static_cast<U>(std::min(static_cast<S>(old), static_cast<S>(b))) : std::min(old, b);
    case AtomOp::kMax:
      return type == AtomicType::kSigned ? static_cast<U>(std::max(static_cast<S>(old), static_cast<S>(b))) : std::max(old, b);
    default: break;
  }
  if (type != AtomicType::kFloat) return static_cast<U>(old + b);
  if constexpr (sizeof(U) == 4) {
    float x = from_bits<float>(old), y = from_bits<float>(b);
    if (flushes) x = flush(x), y = flush(y);
    float sum = x + y;
    if (flushes) sum = flush(sum);
    return static_cast<U>(to_bits(canonical(sum, 0x7fffffff)));
  } else if constexpr (sizeof(U) == 8) {
    return to_bits(canonical(from_bits<double>(old) + from_bits<double>(b), 0x7fffffffffffffff));
  }
  return old;
}

template <class U, class S>
void atomic_lanes(Warp& w, const Op& op, LaneMask mask, const Request& r) {
  const auto what = static_cast<AtomOp>(op.mode);
  const auto type = op.flags & kFloatResult ? AtomicType::kFloat : op.flags & kSignExtend ? AtomicType::kSigned : AtomicType::kUnsigned;
  const U* b = source<U>(w, op.src[1]);
  const U* c = op.src[2] == kNoSlot ? b : source<U>(w, op.src[2]);
  U* d = op.dst == kNoSlot ? nullptr : destination<U>(w, op.dst);
  const std::byte* shared = w.block->shared.bytes.get();
  const std::byte* shared_end = shared + w.block->shared.size;
  each(mask, [&](int i) {
    U* p = reinterpret_cast<U*>(r.host[i]);
    const bool in_shared = (r.host[i] >= shared && r.host[i] < shared_end) || (r.remote >> i & 1);
    U old = __atomic_load_n(p, __ATOMIC_SEQ_CST);
    const U vb = b[i], vc = c[i];
    if (in_shared) {
      *p = updated<U, S>(what, type, old, vb, vc, false);
    } else {
      while (!__atomic_compare_exchange_n(p, &old, updated<U, S>(what, type, old, vb, vc, true), true, __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST)) {
      }
    }
    if (d) d[i] = old;
  });
}

}  // namespace

void run_atomic(Warp& w, const Op& op, LaneMask mask) {
  Request r;
  r.op = &op;
  r.pc = w.pc - 1;
  r.size = op.width;
  r.reads = r.writes = true;
  if (op.flags & kRelease) order(w);
  load_addresses(w, op, r.address);
  if (!resolve(w, r, static_cast<Space>(op.space), mask)) return;
  ++w.block->worker->counters.atomics;
  if (op.flags & kAcquire) order(w);
  if (r.unwritten != 0 && static_cast<AtomOp>(op.mode) != AtomOp::kExch) {
    check::Finding f = access_finding(w, r, static_cast<Space>(op.space), r.unwritten, check::Kind::kUninitialised);
    f.where = "the memory it changes was never written";
    if (const memory::Allocation* a = w.block->worker->memory->find(f.access.address)) {
      f.where += ": " + std::to_string(f.access.address - a->begin) + " bytes into " + describe(*a);
    }
    report(w, std::move(f));
    return;
  }
  switch (op.width) {
    case 2: atomic_lanes<std::uint16_t, std::int16_t>(w, op, mask, r); break;
    case 4: atomic_lanes<std::uint32_t, std::int32_t>(w, op, mask, r); break;
    default: atomic_lanes<std::uint64_t, std::int64_t>(w, op, mask, r); break;
  }
  if (r.unwritten != 0 && op.dst != kNoSlot) {
    begin_tracking(w);
    mark_register(w, op.dst, r.unwritten, mask, w.pc - 1);
  }
}

}  // namespace lockstep::engine
