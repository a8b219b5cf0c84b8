// Atomic operations.
#include <algorithm>
#include <bit>
#include <cstring>

#include "simulator/engine/access.h"
#include "simulator/engine/lane_addresses.h"
#include "simulator/engine/memory_ops.h"
#include "simulator/engine/report.h"
#include "simulator/engine/track.h"
#include "simulator/engine/written_bits.h"

namespace lockstep::engine {

namespace {

using ptx::AtomOp;
using ptx::Space;

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
