// Extended-precision integer arithmetic: PTX ISA 9.7.2 (add.cc, addc, sub.cc, subc, mad.cc, madc).
//
// CC.CF is one bit for each lane in Warp::carry. Only the forms with .cc change it, for the lanes
// in the mask. After an addition it is the carry out. After a subtraction it is the carry out of a
// + ~b + 1: set if nothing was borrowed. PTX calls it the borrow. A program can see the difference
// only by mixing sums and differences; hardware then shows this behaviour.
#include "simulator/engine/ops/alu/forms.h"
#include "simulator/engine/ops/alu/lanes.h"

namespace lockstep::engine::alu {
namespace {

using isa::Half;

// The sources of carries: sums and differences of unsigned words. Signed forms give the same bits.
template <class U>
struct Sum {
  U value;
  bool carry;
};
template <class U>
LOCKSTEP_INLINE Sum<U> added(U a, U b, bool carry) {
  U partial, value;
  const bool first = __builtin_add_overflow(a, b, &partial);
  const bool second = __builtin_add_overflow(partial, U{carry}, &value);
  return {value, (first | second) != 0};
}
template <class U>
LOCKSTEP_INLINE Sum<U> subtracted(U a, U b, bool carry) {
  return added<U>(a, static_cast<U>(~b), carry);
}

template <bool Out, class U>
LOCKSTEP_INLINE void store(Warp& w, const Op& op, LaneMask mask, const U* r, LaneMask carry) {
  U* d = destination<U>(w, op.dst);
  store_lanes(d, r, mask);
  if (Out) w.carry = (w.carry & ~mask) | (carry & mask);
}

// `In`: the carry in is CC.CF. Otherwise it is the constant `Start`.
template <class U, auto F, bool In, bool Out, bool Start = false>
void two(Warp& w, const Op& op, LaneMask mask) {
  const U* a = source<U>(w, op.src[0]);
  const U* b = source<U>(w, op.src[1]);
  U r[kWarpSize];
  LaneMask carry = 0;
  for (int i = 0; i < kWarpSize; ++i) {
    const Sum<U> s = F(a[i], b[i], In ? ((w.carry >> i) & 1) != 0 : Start);
    r[i] = s.value;
    carry |= u32{s.carry} << i;
  }
  store<Out>(w, op, mask, r, carry);
}

// Adds one half of the product to c. The signedness of `T` determines the high half; `W` is twice
// as wide.
template <class T, class W, class U, bool High, bool In, bool Out>
void three(Warp& w, const Op& op, LaneMask mask) {
  const T* a = source<T>(w, op.src[0]);
  const T* b = source<T>(w, op.src[1]);
  const U* c = source<U>(w, op.src[2]);
  U r[kWarpSize];
  LaneMask carry = 0;
  for (int i = 0; i < kWarpSize; ++i) {
    const W product = static_cast<W>(a[i]) * static_cast<W>(b[i]);
    const U half = static_cast<U>(High ? product >> (8 * sizeof(T)) : product);
    const Sum<U> s = added<U>(half, c[i], In && ((w.carry >> i) & 1));
    r[i] = s.value;
    carry |= u32{s.carry} << i;
  }
  store<Out>(w, op, mask, r, carry);
}

template <class U>
Handler sum_form(const AluKey& key) {
  if (!only(key, kCarryOut | kCarryIn) || !widths(key, sizeof(U), sizeof(U), sizeof(U)))
    return nullptr;
  const bool out = key.modifiers.carry_out;
  switch (key.opcode) {
    case Opcode::k_add: return out ? &two<U, added<U>, false, true> : nullptr;
    case Opcode::k_sub: return out ? &two<U, subtracted<U>, false, true, true> : nullptr;
    case Opcode::k_addc:
      return out ? &two<U, added<U>, true, true> : &two<U, added<U>, true, false>;
    case Opcode::k_subc:
      return out ? &two<U, subtracted<U>, true, true> : &two<U, subtracted<U>, true, false>;
    default: return nullptr;
  }
}

template <class T, class W, class U>
Handler product_form(const AluKey& key) {
  constexpr int n = sizeof(U);
  if (!only(key, kCarryOut | kCarryIn | kHalf) || !widths(key, n, n, n, n)) return nullptr;
  const bool out = key.modifiers.carry_out;
  const Half half = key.modifiers.half;
  if (half != Half::kLo && half != Half::kHi) return nullptr;
  const bool high = half == Half::kHi;
  if (key.opcode == Opcode::k_mad) {
    if (!out) return nullptr;
    return high ? &three<T, W, U, true, false, true> : &three<T, W, U, false, false, true>;
  }
  if (high) return out ? &three<T, W, U, true, true, true> : &three<T, W, U, true, true, false>;
  return out ? &three<T, W, U, false, true, true> : &three<T, W, U, false, true, false>;
}

}  // namespace

Handler resolve_carry(const AluKey& key) {
  const bool product = key.opcode == Opcode::k_mad || key.opcode == Opcode::k_madc;
  switch (key.modifiers.type) {
    case Type::kU32: return product ? product_form<u32, u64, u32>(key) : sum_form<u32>(key);
    case Type::kS32: return product ? product_form<s32, s64, u32>(key) : sum_form<u32>(key);
    case Type::kU64: return product ? product_form<u64, u128, u64>(key) : sum_form<u64>(key);
    case Type::kS64: return product ? product_form<s64, s128, u64>(key) : sum_form<u64>(key);
    default: return nullptr;
  }
}

}  // namespace lockstep::engine::alu
