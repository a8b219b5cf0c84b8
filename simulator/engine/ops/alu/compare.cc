// Comparisons: PTX ISA 9.7.6 (setp, set) on integers, bits, f32 and f64; and 9.7.3 testp. Halves
// are in half.cc.
#include "simulator/engine/ops/alu/comparing.h"
#include "simulator/engine/ops/alu/floating.h"

namespace lockstep::engine::alu {
namespace {

using isa::BoolOp;
using isa::TestpOp;

template <class L, Compare C>
void setp_one(Warp& w, const Op& op, LaneMask mask) {
  set_predicate(w, op.dst, compare_lanes<L, C>(w, op), mask);
}
// The rarer uses of a comparison share the comparison and the code that uses its result. Each use
// is two calls, since there are a thousand uses.
template <class L, Compare C>
__attribute__((noinline)) LaneMask compare_apart(const Warp& w, const Op& op) {
  return compare_lanes<L, C>(w, op);
}

// p = result, q = !result; with a BoolOp each is combined with c. Either destination may be the
// sink.
template <BoolOp B>
__attribute__((noinline)) void store_both(Warp& w, const Op& op, LaneMask r, LaneMask mask) {
  LaneMask p = r, q = ~r;
  if constexpr (B != BoolOp::kNone) {
    const LaneMask c = source_predicate(w, op, 2);
    p = combined<B>(p, c);
    q = combined<B>(q, c);
  }
  if (op.dst != kNoSlot) set_predicate(w, op.dst, p, mask);
  if (op.dst2 != kNoSlot) set_predicate(w, op.dst2, q, mask);
}
template <class L, Compare C, BoolOp B>
void setp_both(Warp& w, const Op& op, LaneMask mask) {
  store_both<B>(w, op, compare_apart<L, C>(w, op), mask);
}

struct SetpOne {
  template <class L, Compare C>
  static Handler handler() {
    return &setp_one<L, C>;
  }
};
template <BoolOp B>
struct SetpBoth {
  template <class L, Compare C>
  static Handler handler() {
    return &setp_both<L, C, B>;
  }
};

Handler setp_form(const AluKey& key) {
  const auto& m = key.modifiers;
  if (!only(key, kCompare | kBoolOp | kFtz)) return nullptr;
  const int n = compared_bytes(m.type);
  if (m.bool_op == BoolOp::kNone) {
    if (!widths(key, 0, n, n)) return nullptr;
    return key.has_second_destination ? by_type<SetpBoth<BoolOp::kNone>>(m.type, m.compare, m.ftz)
                                      : by_type<SetpOne>(m.type, m.compare, m.ftz);
  }
  if (!widths(key, 0, n, n, 0)) return nullptr;
  switch (m.bool_op) {
    case BoolOp::kAnd: return by_type<SetpBoth<BoolOp::kAnd>>(m.type, m.compare, m.ftz);
    case BoolOp::kOr: return by_type<SetpBoth<BoolOp::kOr>>(m.type, m.compare, m.ftz);
    case BoolOp::kXor: return by_type<SetpBoth<BoolOp::kXor>>(m.type, m.compare, m.ftz);
    default: return nullptr;
  }
}

// set: true is all ones, or 1.0f for an f32 destination.
template <BoolOp B, u32 True>
__attribute__((noinline)) void store_truth(Warp& w, const Op& op, LaneMask r, LaneMask mask) {
  if constexpr (B != BoolOp::kNone) r = combined<B>(r, source_predicate(w, op, 2));
  u32* d = destination<u32>(w, op.dst);
  const Lanes<u32> holds(r), selected(mask);
  for (int i = 0; i < kWarpSize; ++i) {
    const u32 v = holds.words[i] & True;
    d[i] = selected.words[i] != 0 ? v : d[i];
  }
}
template <class L, Compare C, BoolOp B, u32 True>
void set_value(Warp& w, const Op& op, LaneMask mask) {
  store_truth<B, True>(w, op, compare_apart<L, C>(w, op), mask);
}
template <BoolOp B, u32 True>
struct Set {
  template <class L, Compare C>
  static Handler handler() {
    return &set_value<L, C, B, True>;
  }
};

template <u32 True>
Handler set_combined(const AluKey& key) {
  const auto& m = key.modifiers;
  switch (m.bool_op) {
    case BoolOp::kNone: return by_type<Set<BoolOp::kNone, True>>(m.source_type, m.compare, m.ftz);
    case BoolOp::kAnd: return by_type<Set<BoolOp::kAnd, True>>(m.source_type, m.compare, m.ftz);
    case BoolOp::kOr: return by_type<Set<BoolOp::kOr, True>>(m.source_type, m.compare, m.ftz);
    case BoolOp::kXor: return by_type<Set<BoolOp::kXor, True>>(m.source_type, m.compare, m.ftz);
  }
  return nullptr;
}

Handler set_form(const AluKey& key) {
  const auto& m = key.modifiers;
  if (!only(key, kSourceType | kCompare | kBoolOp | kFtz)) return nullptr;
  const int n = compared_bytes(m.source_type);
  if (m.bool_op == BoolOp::kNone ? !widths(key, 4, n, n) : !widths(key, 4, n, n, 0)) return nullptr;
  if (m.type == Type::kU32 || m.type == Type::kS32) return set_combined<0xffffffffu>(key);
  if (m.type == Type::kF32) return set_combined<0x3f800000u>(key);
  return nullptr;
}

// The class of a value, from its magnitude's bits.
template <class U, TestpOp T>
LOCKSTEP_INLINE bool is_of_class(U bits) {
  constexpr U kInfinity = sizeof(U) == 4 ? U{0x7f800000u} : static_cast<U>(u64{0x7ff} << 52);
  constexpr U kSmallestNormal = sizeof(U) == 4 ? U{0x00800000u} : static_cast<U>(u64{1} << 52);
  const U magnitude = bits & ~(U{1} << (8 * sizeof(U) - 1));
  switch (T) {
    case TestpOp::kFinite: return magnitude < kInfinity;
    case TestpOp::kInfinite: return magnitude == kInfinity;
    case TestpOp::kNumber: return magnitude <= kInfinity;
    case TestpOp::kNotANumber: return magnitude > kInfinity;
    case TestpOp::kNormal:
      return (magnitude == 0 || magnitude >= kSmallestNormal) &&
             magnitude < kInfinity;  // zeros count
    case TestpOp::kSubnormal: return magnitude != 0 && magnitude < kSmallestNormal;
    default: return false;
  }
}
template <class U, TestpOp T>
void testp(Warp& w, const Op& op, LaneMask mask) {
  const U* a = source<U>(w, op.src[0]);
  LaneMask r = 0;
  for (int i = 0; i < kWarpSize; ++i) r |= u32{is_of_class<U, T>(a[i])} << i;
  set_predicate(w, op.dst, r, mask);
}
template <class U>
Handler testp_form(const AluKey& key) {
  if (!only(key, kTestp) || !widths(key, 0, sizeof(U))) return nullptr;
  switch (key.modifiers.testp) {
    case TestpOp::kFinite: return &testp<U, TestpOp::kFinite>;
    case TestpOp::kInfinite: return &testp<U, TestpOp::kInfinite>;
    case TestpOp::kNumber: return &testp<U, TestpOp::kNumber>;
    case TestpOp::kNotANumber: return &testp<U, TestpOp::kNotANumber>;
    case TestpOp::kNormal: return &testp<U, TestpOp::kNormal>;
    case TestpOp::kSubnormal: return &testp<U, TestpOp::kSubnormal>;
    default: return nullptr;
  }
}

}  // namespace

Handler resolve_compare(const AluKey& key) {
  switch (key.opcode) {
    case Opcode::k_setp: return setp_form(key);
    case Opcode::k_set: return set_form(key);
    case Opcode::k_testp:
      if (key.modifiers.type == Type::kF32) return testp_form<u32>(key);
      if (key.modifiers.type == Type::kF64) return testp_form<u64>(key);
      return nullptr;
    default: return nullptr;
  }
}

}  // namespace lockstep::engine::alu
