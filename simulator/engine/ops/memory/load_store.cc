// Loads and stores: any of them, and those whose lanes all have one address.
#include "simulator/engine/ops/memory/load_store.h"

#include <algorithm>
#include <bit>
#include <cstring>
#include <utility>

#include "simulator/engine/access/access.h"
#include "simulator/engine/access/global_memory.h"
#include "simulator/engine/monitor/bit_flow.h"
#include "simulator/engine/monitor/counters.h"
#include "simulator/engine/monitor/races.h"
#include "simulator/engine/monitor/reports.h"
#include "simulator/engine/monitor/uninitialised.h"
#include "simulator/engine/ops/memory/memory_ops.h"
#include "simulator/engine/ops/memory/vectors.h"
#include "simulator/engine/state/lane_addresses.h"
#include "simulator/engine/state/launch_state.h"
#include "simulator/engine/state/relaxed_bytes.h"
#include "simulator/engine/state/request.h"
#include "simulator/engine/state/turns.h"
#include "simulator/engine/state/worker.h"
#include "simulator/engine/state/written_bits.h"

namespace lockstep::engine {
namespace {

using isa::Space;

// Where a load reads. Memory is aligned, and others may write it at the same time; parameters are
// neither.
enum class LoadFrom : std::uint8_t { kMemory, kParameters };

template <LoadFrom kFrom, int kBytes>
inline void copy_in(std::byte* d, const std::byte* from) {
  if constexpr (kFrom == LoadFrom::kMemory) {
    load_element<kBytes>(d, from);
  } else {
    std::memcpy(d, from, kBytes);
  }
}

template <LoadFrom kFrom, int kBytes>
inline void copy_lanes_in(std::byte* d, const Request& r, LaneMask mask, int offset) {
  if (mask == kAllLanes) {
    for (int i = 0; i < kWarpSize; ++i) copy_in<kFrom, kBytes>(d + i * kBytes, r.host[i] + offset);
  } else {
    each(mask, [&](int i) { copy_in<kFrom, kBytes>(d + i * kBytes, r.host[i] + offset); });
  }
}

// Widening of narrow loads (9.4.1): sign- or zero-extended into the register.
template <LoadFrom kFrom, class Narrow, class Register>
void extend_lanes_in(std::byte* d, const Request& r, LaneMask mask, int offset) {
  each(mask, [&](int i) {
    Narrow v;
    copy_in<kFrom, sizeof v>(reinterpret_cast<std::byte*>(&v), r.host[i] + offset);
    const auto extended = static_cast<Register>(v);
    std::memcpy(d + static_cast<std::size_t>(i) * sizeof extended, &extended, sizeof extended);
  });
}
template <LoadFrom kFrom, class Narrow>
void extend_lanes_in(std::byte* d, const Request& r, LaneMask mask, int offset, const Op& op) {
  switch (op.register_bytes) {
    case 2: return extend_lanes_in<kFrom, Narrow, std::uint16_t>(d, r, mask, offset);
    case 4: return extend_lanes_in<kFrom, Narrow, std::uint32_t>(d, r, mask, offset);
    default: return extend_lanes_in<kFrom, Narrow, std::uint64_t>(d, r, mask, offset);
  }
}
template <LoadFrom kFrom>
void extend_lanes_in(std::byte* d, const Request& r, LaneMask mask, int offset, const Op& op) {
  const bool with_sign = op.as<MemoryFields>().has(kSignExtend);
  switch (op.width) {
    case 1:
      return with_sign ? extend_lanes_in<kFrom, std::int8_t>(d, r, mask, offset, op)
                       : extend_lanes_in<kFrom, std::uint8_t>(d, r, mask, offset, op);
    case 2:
      return with_sign ? extend_lanes_in<kFrom, std::int16_t>(d, r, mask, offset, op)
                       : extend_lanes_in<kFrom, std::uint16_t>(d, r, mask, offset, op);
    default:
      return with_sign ? extend_lanes_in<kFrom, std::int32_t>(d, r, mask, offset, op)
                       : extend_lanes_in<kFrom, std::uint32_t>(d, r, mask, offset, op);
  }
}

// Marks the elements of a load that lanes read from bytes nobody has written.
__attribute__((noinline)) void note_unwritten(Warp& w, const Op& op, const Request& r,
                                              LaneMask mask) {
  begin_tracking(w);
  bool kept = false;
  for (int e = 0; e < op.elements; ++e) {
    const Slot slot = data_slot(w, op, e, op.dst);
    if (slot == kNoSlot) continue;
    LaneMask invalid = 0;
    std::uint64_t bits[kWarpSize];
    each(r.unwritten & mask, [&](int i) {
      const std::uint32_t missing = r.missing[i] >> (e * op.width) & ((1ull << op.width) - 1);
      if (missing == 0) return;
      invalid |= 1u << i;
      // Bits are counted in eights only; of a wider register, and of one that takes a sign, nothing
      // is known byte by byte.
      const bool exact = op.width <= 8 &&
                         (op.register_bytes == op.width || !op.as<MemoryFields>().has(kSignExtend));
      bits[i] = exact ? bits_of_bytes(static_cast<std::uint8_t>(missing)) : ~std::uint64_t{0};
      if (exact && (r.bits->lanes >> i & 1) != 0) {
        std::uint64_t partial = 0;
        std::memcpy(&partial, r.bits->of[i] + e * op.width, op.width);
        bits[i] &= partial;
      }
    });
    mark_register(w, slot, invalid, mask, w.pc - 1, check::Kind::kUninitialised, nullptr, bits);
    // Before the first of them there may be nowhere to keep anything.
    if (invalid != 0 && !std::exchange(kept, true)) keep_addresses(w, r, r.unwritten & mask);
    take_origins(w, slot, r, invalid, static_cast<std::uint32_t>(e) * op.width);
  }
}

// Whether a store puts a value back where it came from, changed in part: the load was of the same
// place by the same registers.
bool is_put_back(const Warp& w, const Op& store, const Validity::Word& word) {
  const Op& load = w.block->program->ops[origin_pc(word)];
  return w.block->program->transfers[origin_pc(word)] == program::ValidityTransfer::kLoad &&
         load.space == store.space && load.src[0] == store.src[0] &&
         load.immediate == store.immediate && load.width == store.width &&
         load.elements == store.elements;
}

// Finds the bytes of a store whose values were never written, and remembers the lanes that store
// nothing else: their site is where a mistake shows when somebody reads them. A lane that stores
// some written bytes too copies a structure with its padding. `bits` has room for what r.bits says.
__attribute__((noinline)) void find_invalid(Warp& w, const Op& op, Request& r, LaneMask mask,
                                            UnwrittenBits& bits) {
  Frame& frame = w.control->frames[w.control->frame];
  for (int e = 0; e < op.elements; ++e) {
    const Validity::Word* word = validity_word(frame, data_slot(w, op, e, op.src[1]));
    if (word == nullptr) continue;
    each(word->invalid & mask, [&](int i) {
      std::uint32_t missing = word->bytes[i];
      if (op.width > 8 && missing == 0xff) missing = (1u << op.width) - 1;
      missing &= static_cast<std::uint32_t>((1ull << op.width) - 1);
      if (missing == 0) return;
      if (!(r.invalid >> i & 1)) r.missing[i] = 0;
      r.invalid |= 1u << i;
      r.missing[i] |= missing << (e * op.width);
      r.derived |= word->derived & (1u << i);
      r.invalid_word = word;
    });
    if (!word->partly && word->masked == 0) continue;
    if (!is_put_back(w, op, *word)) r.masked |= word->masked & word->invalid & mask;
    if (!word->partly || op.width > 8) continue;
    r.bits = &bits;
    each(word->invalid & mask, [&](int i) {
      if (!(bits.lanes >> i & 1)) std::memset(bits.of[i], 0xff, r.size);
      bits.lanes |= 1u << i;
      const std::uint64_t partial = frame.validity->unwritten_bits(*word, i);
      std::memcpy(bits.of[i] + e * op.width, &partial, op.width);
    });
  }
}

template <LoadFrom kFrom>
void fill(Warp& w, const Op& op, const Request& r, LaneMask mask) {
  for (int e = 0; e < op.elements; ++e) {
    const Slot slot = data_slot(w, op, e, op.dst);
    if (slot == kNoSlot) continue;
    std::byte* d = destination<std::byte>(w, slot);
    const int offset = e * op.width;
    if (op.register_bytes != op.width) {
      extend_lanes_in<kFrom>(d, r, mask, offset, op);
      continue;
    }
    by_size(op.width, [&](auto bytes) { copy_lanes_in<kFrom, bytes()>(d, r, mask, offset); });
  }
}

// Vectors are taken out of memory as a whole and then apart.
void fill_vectors(Warp& w, const Op& op, const Request& r, LaneMask mask) {
  if (is_whole_vectors(op, mask, 4, 4)) return load_whole_vectors<FourByFour>(w, op, r);
  if (is_whole_vectors(op, mask, 8, 2)) return load_whole_vectors<TwoByTwo>(w, op, r);
  alignas(64) std::byte whole[kWarpSize][32];
  Request apart;
  each(mask, [&](int i) {
    load_vector(whole[i], r.host[i], r.size);
    apart.host[i] = whole[i];
  });
  fill<LoadFrom::kParameters>(w, op, apart, mask);
}

}  // namespace

void load_any(Warp& w, const Op& op, LaneMask mask) {
  Request r;
  load_addresses(w, op, r.address);
  load_from(w, op, r, mask);
}

void load_from(Warp& w, const Op& op, Request& r, LaneMask mask) {
  r.op = &op;
  r.pc = w.pc - 1;
  r.size = static_cast<std::uint32_t>(op.width) * op.elements;
  r.reads = true;
  UnwrittenBits bits;
  r.bits = &bits;
  std::uint64_t places[kWarpSize];
  const bool synchronises = op.as<MemoryFields>().has(kStrong) && w.block->worker->between_blocks;
  if (synchronises) std::memcpy(places, r.address, sizeof places);
  if (!resolve(w, r, static_cast<Space>(op.space), mask)) return;
  op.elements == 1 ? fill<LoadFrom::kMemory>(w, op, r, mask) : fill_vectors(w, op, r, mask);
  if (synchronises) after_strong_read(w, op, places, mask);
  if (op.as<MemoryFields>().has(kStrong) && w.block->launch->blocks > 1)
    w.time_slice -= 16;  // most loops that look at what other blocks may change wait for it
  if (op.as<MemoryFields>().has(kAcquire)) acquired(w);
  if (__builtin_expect(r.unwritten != 0, 0)) note_unwritten(w, op, r, mask);
}

namespace {

bool same_lane(Warp& w, const Request& r, int lane) {
  const Op& op = *r.op;
  for (int e = 0; e < op.elements; ++e) {
    std::byte there[16];
    load_element(there, r.host[lane] + e * op.width, op.width);
    if (std::memcmp(there,
                    source<std::byte>(w, data_slot(w, op, e, op.src[1])) + lane * op.register_bytes,
                    op.width) != 0)
      return false;
  }
  return true;
}

// Moves what a store's lanes have into memory.
void put(Warp& w, const Op& op, const Request& r, LaneMask left) {
  if (left == 0) return;
  if (op.elements != 1) {
    if (is_whole_vectors(op, left, 4, 4)) return store_whole_vectors<FourByFour>(w, op, r);
    if (is_whole_vectors(op, left, 8, 2)) return store_whole_vectors<TwoByTwo>(w, op, r);
    each(left, [&](int i) { store_vector(w, op, r.host[i], i); });
    return;
  }
  const std::byte* s = source<std::byte>(w, op.src[1]);
  by_size(op.width, [&](auto bytes) {
    each(left, [&](int i) { store_element<bytes()>(r.host[i], s + i * op.register_bytes); });
  });
}
void store_lanes(Warp& w, const Request& r, LaneMask lanes) { put(w, *r.op, r, lanes); }

}  // namespace

void store_any(Warp& w, const Op& op, LaneMask mask) {
  Request r;
  load_addresses(w, op, r.address);
  store_to(w, op, r, mask);
}

void store_to(Warp& w, const Op& op, Request& r, LaneMask mask) {
  r.op = &op;
  r.pc = w.pc - 1;
  r.size = static_cast<std::uint32_t>(op.width) * op.elements;
  r.writes = true;
  UnwrittenBits bits;
  if (w.control->tracking) find_invalid(w, op, r, mask, bits);
  if (w.block->launch->check_races) {
    // The search for races stores as it goes.
    r.store = &store_lanes;
    r.same = &same_lane;
  }
  if (!resolve(w, r, static_cast<Space>(op.space), mask)) return;
  if (__builtin_expect(r.invalid != 0, 0)) {
    note_unwritten_store(w, r);
    keep_origins(w, r);
  }
  put(w, op, r, mask & ~r.stored);
  if (op.as<MemoryFields>().has(kRelease)) released(w);
}

namespace {

// One value of four or eight bytes for every lane.
void give_all_lanes(Warp& w, const Op& op, LaneMask mask, std::uint64_t value) {
  const auto give = [&](auto v) {
    v = static_cast<decltype(v)>(value);
    auto* d = destination<decltype(v)>(w, op.dst);
    if (mask == kAllLanes) {
      for (int i = 0; i < kWarpSize; ++i) d[i] = v;
    } else {
      each(mask, [&](int i) { d[i] = v; });
    }
  };
  op.width == 4 ? give(std::uint32_t{}) : give(std::uint64_t{});
}

// An address known to be the same in all lanes (a variable, mostly in constant memory): one read
// for the warp.
void load_uniform(Warp& w, const Op& op, LaneMask mask) {
  Worker& k = *w.block->worker;
  if (op.elements == 1 && op.register_bytes == op.width && (op.width == 4 || op.width == 8)) {
    const CachedRange& c = cached(k, op);
    const std::uint64_t at =
        source<std::uint64_t>(w, op.src[0])[0] + static_cast<std::uint64_t>(op.immediate);
    if (holds(c, at, op.width) && (at & (op.width - 1u)) == 0 && !c.raced &&
        (!c.shadowed || all_written(k.memory->written_shadow(at & ~7ull), at & 7, op.width))) {
      const auto* p = reinterpret_cast<const std::byte*>(at + static_cast<std::uint64_t>(c.delta));
      if (k.counting) count_global_row(k.counters, false, at, op.width);
      std::uint64_t value = 0;
      op.width == 4 ? load_element<4>(&value, p) : load_element<8>(&value, p);
      give_all_lanes(w, op, mask, value);
      return;
    }
  }
  load_any(w, op, mask);
}

Handler plain_load_handler(const Op& op) {
  const Space space = static_cast<Space>(op.space);
  const bool simple = op.elements == 1 && op.width == op.register_bytes && op.dst != kNoSlot &&
                      !op.as<MemoryFields>().has_any(kFrameAddress | kAcquire);
  const bool narrow = op.as<MemoryFields>().has(kNarrowAddress);
  if (simple && (space == Space::kGlobal || space == Space::kConst) && !narrow) {
    if (is_constant(op.src[0])) return &load_uniform;
    return global_load_handler(op);
  }
  const Handler shared =
      simple && space == Space::kShared && narrow ? shared_load_handler(op) : nullptr;
  return shared != nullptr ? shared : &load_any;
}

Handler plain_store_handler(const Op& op) {
  const Space space = static_cast<Space>(op.space);
  const bool simple = op.elements == 1 && op.width == op.register_bytes &&
                      !op.as<MemoryFields>().has_any(kFrameAddress | kRelease);
  const bool narrow = op.as<MemoryFields>().has(kNarrowAddress);
  if (simple && space == Space::kGlobal && !narrow) return global_store_handler(op);
  const Handler shared =
      simple && space == Space::kShared && narrow ? shared_store_handler(op) : nullptr;
  return shared != nullptr ? shared : &store_any;
}

// A volatile access or one with a memory order, by the handler that a weak one like it would have.
template <Handler (*kChoose)(const Op&), bool kReads>
void access_strongly(Warp& w, const Op& op, LaneMask mask) {
  // Before the load, which may go to the register of its address.
  const std::uint64_t place = kReads ? first_address(w, op, mask) : 0;
  kChoose(op)(w, op, mask);
  if (kReads) note_poll(w, w.pc - 1, place);
  strong_access(w, kReads);
}

}  // namespace

Handler load_handler(const Op& op) {
  return op.as<MemoryFields>().has(kStrong) ? &access_strongly<plain_load_handler, true>
                                            : plain_load_handler(op);
}
Handler store_handler(const Op& op) {
  return op.as<MemoryFields>().has(kStrong) ? &access_strongly<plain_store_handler, false>
                                            : plain_store_handler(op);
}

void load_kernel_parameter(Warp& w, const Op& op, LaneMask mask) {
  if (op.elements == 1 && op.width == op.register_bytes && op.dst != kNoSlot &&
      (op.width == 4 || op.width == 8)) {
    std::uint64_t value = 0;
    const std::byte* p = w.block->launch->parameters.data() + op.immediate;
    op.width == 4 ? std::memcpy(&value, p, 4) : std::memcpy(&value, p, 8);
    give_all_lanes(w, op, mask, value);
    return;
  }
  Request r;
  std::byte* p = w.block->launch->parameters.data() + op.immediate;
  for (auto& h : r.host) h = p;
  fill<LoadFrom::kParameters>(w, op, r, mask);
}

// Whether an element of a .param variable begins a word and fills it, so that its marks are the
// word's.
static bool word_is_whole(const Op& op, int element) {
  return op.width >= 4 && op.width == op.register_bytes &&
         (op.immediate + element * op.width) % 4 == 0;
}

void load_storage(Warp& w, const Op& op, LaneMask mask) {
  Request r;
  std::byte* p = w.file[0] + op.src[0] + op.immediate;
  for (int i = 0; i < kWarpSize; ++i) r.host[i] = p + static_cast<std::size_t>(i) * op.src[1];
  fill<LoadFrom::kParameters>(w, op, r, mask);
  if (w.control->tracking) {
    Frame& frame = w.control->frames[w.control->frame];
    for (int e = 0; e < op.elements; ++e) {
      const Slot word = op.src[0] + static_cast<Slot>(op.immediate) / 4 * 4 +
                        static_cast<Slot>(e * op.width) / 4 * 4;
      const Slot slot = data_slot(w, op, e, op.dst);
      if (slot == kNoSlot) continue;
      const Validity::Word* const from = validity_word(frame, word);
      from != nullptr&& word_is_whole(op, e)
          ? carry_mark(w, slot, frame, *from, mask)
          : mark_register(w, slot, invalid_lanes(w, frame, word, mask), mask, w.pc - 1);
    }
  }
}

void store_storage(Warp& w, const Op& op, LaneMask mask) {
  Frame& frame = w.control->frames[w.control->frame];
  for (int e = 0; e < op.elements; ++e) {
    const Slot from = data_slot(w, op, e, op.src[3]);
    const std::byte* s = source<std::byte>(w, from);
    std::byte* p = w.file[0] + op.src[0] + op.immediate + e * op.width;
    each(mask, [&](int i) {
      std::memcpy(p + static_cast<std::size_t>(i) * op.src[1], s + i * op.register_bytes, op.width);
    });
    if (w.control->tracking) {
      const Slot word = op.src[0] + static_cast<Slot>(op.immediate) / 4 * 4 +
                        static_cast<Slot>(e * op.width) / 4 * 4;
      const Validity::Word* const value = validity_word(frame, from);
      value != nullptr&& word_is_whole(op, e)
          ? carry_mark(w, word, frame, *value, mask)
          : mark_register(w, word, invalid_lanes(w, frame, from, mask), mask, w.pc - 1);
    }
  }
}

}  // namespace lockstep::engine
