// Atomic operations.
#include "simulator/engine/ops/memory/atomics.h"

#include <immintrin.h>

#include <algorithm>
#include <bit>
#include <cstring>

#include "simulator/engine/access/access.h"
#include "simulator/engine/monitor/progress.h"
#include "simulator/engine/monitor/races.h"
#include "simulator/engine/monitor/uninitialised.h"
#include "simulator/engine/ops/memory/memory_ops.h"
#include "simulator/engine/state/lane_addresses.h"
#include "simulator/engine/state/relaxed_bytes.h"
#include "simulator/engine/state/request.h"
#include "simulator/engine/state/turns.h"
#include "simulator/engine/state/worker.h"
#include "simulator/engine/state/written_bits.h"

namespace lockstep::engine {

namespace {

using isa::AtomOp;
using isa::Space;

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

// The new value in memory. `flushes`: f32 addition flushes subnormals, which it does in global but
// not in shared memory (9.7.13.5).
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
      return type == AtomicType::kSigned
                 ? static_cast<U>(std::min(static_cast<S>(old), static_cast<S>(b)))
                 : std::min(old, b);
    case AtomOp::kMax:
      return type == AtomicType::kSigned
                 ? static_cast<U>(std::max(static_cast<S>(old), static_cast<S>(b)))
                 : std::max(old, b);
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
    // The operand's NaN, or else that of memory. It is quieted in shared memory only, where
    // hardware adds outside the memory system.
    const auto is_nan = [](U v) { return (v & 0x7fffffffffffffff) > 0x7ff0000000000000; };
    if (is_nan(b) || is_nan(old)) return (is_nan(b) ? b : old) | (flushes ? U{0} : U{1} << 51);
    return to_bits(canonical(from_bits<double>(old) + from_bits<double>(b), 0xfff8000000000000));
  }
  return old;
}

// The operands and the place of one element of all lanes. Operands are lane arrays: all operands of
// a vector are read before its first result is written, which may go to the same register.
struct Element {
  const std::byte* b = nullptr;
  const std::byte* c = nullptr;
  Slot d = kNoSlot;
  int offset = 0;       // bytes from the lane's address
  bool shared = false;  // all lanes' addresses are in shared memory
  bool global = false;  // all lanes' addresses are in global memory
};

bool in_shared_memory(const Warp& w, const Request& r, int lane) {
  const std::byte* shared = w.block->shared.bytes.get();
  return (r.host[lane] >= shared && r.host[lane] < shared + w.block->shared.size) ||
         (r.remote >> lane & 1);
}

// Counts a change of memory as progress. kKnown: the caller does so.
template <class U, bool kKnown = false, class Update>
void update_lanes(Warp& w, LaneMask mask, const Request& r, const Element& element, Update update) {
  const U* b = reinterpret_cast<const U*>(element.b);
  const U* c = element.c == nullptr ? b : reinterpret_cast<const U*>(element.c);
  U* d = element.d == kNoSlot ? nullptr : destination<U>(w, element.d);
  bool changed = false;
  each(mask, [&](int i) {
    U* p = reinterpret_cast<U*>(r.host[i] + element.offset);
    U old = __atomic_load_n(p, __ATOMIC_SEQ_CST), now;
    const U vb = b[i], vc = c[i];
    if (element.shared || in_shared_memory(w, r, i)) {
      *p = now = update(old, vb, vc, false);
    } else {
      // What changes nothing is a read.
      do {
        now = update(old, vb, vc, true);
      } while (now != old && !__atomic_compare_exchange_n(p, &old, now, true, __ATOMIC_SEQ_CST,
                                                          __ATOMIC_SEQ_CST));
    }
    if constexpr (!kKnown) changed |= now != old;
    if (d) d[i] = old;
  });
  on_write(*w.block->worker, changed);
}

// Integers, added in global memory.
template <class U>
void add_where_resolved(Warp& w, LaneMask mask, const Request& r, const Element& element) {
  const std::byte* const first = r.host[std::countr_zero(mask)];
  LaneMask elsewhere = 0;
  for (int i = 0; i < kWarpSize; ++i) elsewhere |= LaneMask{r.host[i] != first} << i;
  add_lanes<U>(mask, reinterpret_cast<const U*>(element.b),
               element.d == kNoSlot ? nullptr : destination<U>(w, element.d),
               (elsewhere & mask) == 0,
               [&](int i) { return reinterpret_cast<U*>(r.host[i] + element.offset); });
}

template <class U, class S>
void atomic_lanes(Warp& w, const Op& op, LaneMask mask, const Request& r, const Element& element) {
  const auto what = op.as<AtomicFields>().what();
  const auto type = op.as<MemoryFields>().has(kFloatResult)  ? AtomicType::kFloat
                    : op.as<MemoryFields>().has(kSignExtend) ? AtomicType::kSigned
                                                             : AtomicType::kUnsigned;
  if (what == AtomOp::kAdd && type != AtomicType::kFloat) {
    // Counters, the most frequent atomics.
    const U* b = reinterpret_cast<const U*>(element.b);
    U any = 0;
    for (int i = 0; i < kWarpSize; ++i) any |= mask >> i & 1 ? b[i] : U{0};
    on_write(*w.block->worker, any != 0);
    if (element.shared && element.d == kNoSlot) {
      each(mask, [&](int i) {
        U* const p = reinterpret_cast<U*>(r.host[i] + element.offset);
        *p = static_cast<U>(*p + b[i]);
      });
      return;
    }
    if (element.global) return add_where_resolved<U>(w, mask, r, element);
    update_lanes<U, true>(w, mask, r, element,
                          [](U old, U b, U, bool) { return static_cast<U>(old + b); });
    return;
  }
  update_lanes<U>(w, mask, r, element, [&](U old, U b, U c, bool global) {
    return updated<U, S>(what, type, old, b, c, global);
  });
}

// f16 and bf16 keep subnormals (.noftz). The sum of two is first rounded to f32, which has enough
// digits for that to change nothing.
float widened(std::uint16_t h, bool brain) {
  if (!brain) return _cvtsh_ss(h);
  return from_bits<float>(std::uint64_t{h} << 16);
}
std::uint16_t narrowed(float f, bool brain) {
  if (f != f) return 0x7fff;
  if (!brain) return _cvtss_sh(f, _MM_FROUND_TO_NEAREST_INT);
  const auto u = static_cast<std::uint32_t>(to_bits(f));
  return static_cast<std::uint16_t>((u + 0x7fff + (u >> 16 & 1)) >> 16);
}
std::uint16_t updated_half(AtomOp what, std::uint16_t old, std::uint16_t b, bool brain) {
  const float x = widened(old, brain), y = widened(b, brain);
  if (what == AtomOp::kAdd) return narrowed(x + y, brain);
  if (x != x || y != y) return x == x ? old : y == y ? b : std::uint16_t{0x7fff};
  // Minus zero is less than zero.
  const bool less = x < y || (x == y && (old >> 15) > (b >> 15));
  return less == (what == AtomOp::kMin) ? old : b;
}
template <class U>
void atomic_halves(Warp& w, const Op& op, LaneMask mask, const Request& r, const Element& element) {
  const auto what = op.as<AtomicFields>().what();
  const bool brain = op.as<MemoryFields>().has(kSignExtend);
  update_lanes<U>(w, mask, r, element, [&](U old, U b, U, bool) {
    U result = 0;
    for (unsigned at = 0; at < 8 * sizeof(U); at += 16) {
      result |=
          static_cast<U>(static_cast<U>(updated_half(what, static_cast<std::uint16_t>(old >> at),
                                                     static_cast<std::uint16_t>(b >> at), brain))
                         << at);
    }
    return result;
  });
}

// exch and cas of 128 bits.
void atomic_wide(Warp& w, const Op& op, LaneMask mask, const Request& r) {
  struct Value {
    std::uint64_t words[2];
  };
  const bool exchange = op.as<AtomicFields>().what() == AtomOp::kExch;
  const Value* b = source<Value>(w, op.src[1]);
  const Value* c = op.src[2] == kNoSlot ? b : source<Value>(w, op.src[2]);
  Value* d = op.dst == kNoSlot ? nullptr : destination<Value>(w, op.dst);
  each(mask, [&](int i) {
    const Value vb = b[i], vc = c[i];
    Value old = vb;
    if (exchange) load_element<16>(&old, r.host[i]);
    bool swapped;
    do {
      swapped = compare_exchange_16(r.host[i], old.words, exchange ? vb.words : vc.words);
    } while (exchange && !swapped);
    on_write(*w.block->worker, swapped);
    if (d) d[i] = old;
  });
}

void update_element(Warp& w, const Op& op, LaneMask mask, const Request& r,
                    const Element& element) {
  const bool halves = op.as<MemoryFields>().has(kHalfElements);
  switch (op.width) {
    case 2:
      halves ? atomic_halves<std::uint16_t>(w, op, mask, r, element)
             : atomic_lanes<std::uint16_t, std::int16_t>(w, op, mask, r, element);
      break;
    case 4:
      halves ? atomic_halves<std::uint32_t>(w, op, mask, r, element)
             : atomic_lanes<std::uint32_t, std::int32_t>(w, op, mask, r, element);
      break;
    default: atomic_lanes<std::uint64_t, std::int64_t>(w, op, mask, r, element); break;
  }
}

}  // namespace

void reduce_element(Warp& w, const Op& op, const Request& r, int lane, const std::byte* value,
                    bool subnormals) {
  alignas(64) std::byte values[kWarpSize * 8];
  std::memcpy(values + lane * op.width, value, op.width);
  Element element;
  element.b = values;
  if (subnormals && op.width == 4 && op.as<MemoryFields>().has(kFloatResult)) {
    update_lanes<std::uint32_t>(w, 1u << lane, r, element,
                                [](std::uint32_t old, std::uint32_t b, std::uint32_t c, bool) {
                                  return updated<std::uint32_t, std::int32_t>(
                                      AtomOp::kAdd, AtomicType::kFloat, old, b, c, false);
                                });
    return;
  }
  update_element(w, op, 1u << lane, r, element);
}

std::uint64_t reduced_integer(AtomOp what, bool is_signed, std::uint32_t width, std::uint64_t old,
                              std::uint64_t value) {
  const AtomicType type = is_signed ? AtomicType::kSigned : AtomicType::kUnsigned;
  if (width == 8) return updated<std::uint64_t, std::int64_t>(what, type, old, value, 0, false);
  return updated<std::uint32_t, std::int32_t>(what, type, static_cast<std::uint32_t>(old),
                                              static_cast<std::uint32_t>(value), 0, false);
}

void run_atomic(Warp& w, const Op& op, LaneMask mask) {
  if (adds_in_shared_memory(op) && add_in_shared_memory(w, op, mask)) return;
  if (adds_in_global_memory(op) && add_in_global_memory(w, op, mask)) return;
  Request r;
  load_addresses(w, op, r.address);
  run_atomic_at(w, op, r, mask);
}

void run_atomic_at(Warp& w, const Op& op, Request& r, LaneMask mask) {
  r.op = &op;
  r.pc = w.pc - 1;
  r.size = static_cast<std::uint32_t>(op.width) * op.elements;
  r.reads = r.writes = r.counts_changes = true;
  std::uint64_t places[kWarpSize];
  const bool between_blocks = w.block->worker->between_blocks;
  if (between_blocks) std::memcpy(places, r.address, sizeof places);
  if (!resolve(w, r, static_cast<Space>(op.space), mask)) return;
  ++w.block->worker->counters.atomics;
  if (r.unwritten != 0 && op.as<AtomicFields>().what() != AtomOp::kExch &&
      !report_unwritten_change(w, r, static_cast<Space>(op.space), r.unwritten))
    return;
  const auto space = static_cast<Space>(op.space);
  const bool shared = space == Space::kShared || space == Space::kSharedCluster,
             global = space == Space::kGlobal;
  if (op.width == 16) {
    atomic_wide(w, op, mask, r);
  } else if (op.elements == 1) {
    const std::byte* c = op.src[2] == kNoSlot ? nullptr : source<std::byte>(w, op.src[2]);
    update_element(w, op, mask, r, {source<std::byte>(w, op.src[1]), c, op.dst, 0, shared, global});
  } else {
    const Slot* slots = &w.block->program->slots[op.as<ListedFields>().first()];
    alignas(64) std::byte operands[8][4 * kWarpSize];
    for (int e = 0; e < op.elements; ++e)
      std::memcpy(operands[e], source<std::byte>(w, slots[e]),
                  static_cast<std::size_t>(op.width) * kWarpSize);
    for (int e = 0; e < op.elements; ++e)
      update_element(w, op, mask, r,
                     {operands[e], nullptr, slots[op.elements + e], e * op.width, shared, global});
  }
  if (between_blocks && reads_value(op)) after_strong_read(w, op, places, mask);
  if (op.as<MemoryFields>().has(kRelease)) released(w);
  if (op.as<MemoryFields>().has(kAcquire)) acquired(w);
  // An exchange returns the uninitialised value. For any other operation it has been reported.
  if (r.unwritten != 0 && op.dst != kNoSlot && op.as<AtomicFields>().what() == AtomOp::kExch) {
    begin_tracking(w);
    mark_register(w, op.dst, r.unwritten, mask, w.pc - 1);
    keep_addresses(w, r, r.unwritten & mask);
  }
  note_poll(w, w.pc - 1, r.address[std::countr_zero(mask)]);
  strong_access(w);
}

}  // namespace lockstep::engine
