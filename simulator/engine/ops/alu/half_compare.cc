// setp and set on halves: PTX ISA 9.7.7. A packed comparison gives one truth value a half.
#include "simulator/engine/ops/alu/comparing.h"

namespace lockstep::engine::alu {
namespace {

using isa::BoolOp;

// Shared by the many uses of a comparison, so that each of them stays small.
template <class L, Compare C>
__attribute__((noinline)) LaneMask compare_apart(const Warp& w, const Op& op) {
  return compare_lanes<L, C>(w, op);
}

template <class L, Compare C, BoolOp B>
void setp_scalar(Warp& w, const Op& op, LaneMask mask) {
  LaneMask r = compare_apart<L, C>(w, op);
  if constexpr (B != BoolOp::kNone) r = combined<B>(r, source_predicate(w, op, 2));
  set_predicate(w, op.dst, r, mask);
}
template <BoolOp B>
struct SetpScalar {
  template <class L, Compare C>
  static Handler handler() {
    return &setp_scalar<L, C, B>;
  }
};

// p is the low half's, q the high half's.
template <BoolOp B>
__attribute__((noinline)) void store_halves(Warp& w, const Op& op, LaneMask low, LaneMask high,
                                            LaneMask mask) {
  if constexpr (B != BoolOp::kNone) {
    const LaneMask c = source_predicate(w, op, 2);
    low = combined<B>(low, c);
    high = combined<B>(high, c);
  }
  if (op.dst != kNoSlot) set_predicate(w, op.dst, low, mask);
  if (op.dst2 != kNoSlot) set_predicate(w, op.dst2, high, mask);
}
template <template <bool> class L, Compare C, BoolOp B>
void setp_packed(Warp& w, const Op& op, LaneMask mask) {
  store_halves<B>(w, op, compare_apart<L<false>, C>(w, op), compare_apart<L<true>, C>(w, op), mask);
}
// by_float passes a loader type; the packed forms carry the template in one.
template <template <bool> class L>
struct Both {
  template <bool High>
  using Half = L<High>;
};
template <BoolOp B>
struct SetpPacked {
  template <class L, Compare C>
  static Handler handler() {
    return &setp_packed<L::template Half, C, B>;
  }
};

template <class D, D True>
struct SetScalar {
  __attribute__((noinline)) static void store(Warp& w, const Op& op, LaneMask r, LaneMask mask) {
    D v[kWarpSize];
    for (int i = 0; i < kWarpSize; ++i) v[i] = (r >> i) & 1 ? True : D(0);
    store_lanes(destination<D>(w, op.dst), v, mask);
  }
  template <class L, Compare C>
  static void run(Warp& w, const Op& op, LaneMask mask) {
    store(w, op, compare_apart<L, C>(w, op), mask);
  }
  template <class L, Compare C>
  static Handler handler() {
    return &run<L, C>;
  }
};
template <u32 True>
struct SetPacked {
  __attribute__((noinline)) static void store(Warp& w, const Op& op, LaneMask low, LaneMask high,
                                              LaneMask mask) {
    u32 v[kWarpSize];
    for (int i = 0; i < kWarpSize; ++i)
      v[i] = ((low >> i) & 1 ? True : 0) | ((high >> i) & 1 ? True << 16 : 0);
    store_lanes(destination<u32>(w, op.dst), v, mask);
  }
  template <class L, Compare C>
  static void run(Warp& w, const Op& op, LaneMask mask) {
    store(w, op, compare_apart<typename L::template Half<false>, C>(w, op),
          compare_apart<typename L::template Half<true>, C>(w, op), mask);
  }
  template <class L, Compare C>
  static Handler handler() {
    return &run<L, C>;
  }
};

// The loader for a type of halves; .ftz exists for f16 alone.
template <class Use>
Handler scalar(Type type, Compare c, bool ftz) {
  if (type == Type::kF16) return ftz ? by_float<FlushedFloat16, Use>(c) : by_float<Float16, Use>(c);
  return ftz ? nullptr : by_float<BFloat16, Use>(c);
}
template <class Use>
Handler packed(Type type, Compare c, bool ftz) {
  if (type == Type::kF16x2)
    return ftz ? by_float<Both<FlushedFloat16Of2>, Use>(c) : by_float<Both<Float16Of2>, Use>(c);
  return ftz ? nullptr : by_float<Both<BFloat16Of2>, Use>(c);
}

template <BoolOp B>
Handler setp_with(const AluKey& key, bool is_packed) {
  const auto& m = key.modifiers;
  return is_packed ? packed<SetpPacked<B>>(m.type, m.compare, m.ftz)
                   : scalar<SetpScalar<B>>(m.type, m.compare, m.ftz);
}

bool is_packed_type(Type t) { return t == Type::kF16x2 || t == Type::kBF16x2; }

Handler setp_form(const AluKey& key) {
  const auto& m = key.modifiers;
  const bool is_packed = is_packed_type(m.type);
  const int n = is_packed ? 4 : 2;
  if (!only(key, kCompare | kBoolOp | kFtz) || key.has_second_destination != is_packed)
    return nullptr;
  if (m.bool_op == BoolOp::kNone ? !widths(key, 0, n, n) : !widths(key, 0, n, n, 0)) return nullptr;
  switch (m.bool_op) {
    case BoolOp::kNone: return setp_with<BoolOp::kNone>(key, is_packed);
    case BoolOp::kAnd: return setp_with<BoolOp::kAnd>(key, is_packed);
    case BoolOp::kOr: return setp_with<BoolOp::kOr>(key, is_packed);
    case BoolOp::kXor: return setp_with<BoolOp::kXor>(key, is_packed);
  }
  return nullptr;
}

Handler set_form(const AluKey& key) {
  const auto& m = key.modifiers;
  if (!only(key, kSourceType | kCompare | kFtz)) return nullptr;
  const bool integer32 = m.type == Type::kU32 || m.type == Type::kS32,
             integer16 = m.type == Type::kU16 || m.type == Type::kS16;
  if (is_packed_type(m.source_type)) {
    if (!widths(key, 4, 4, 4)) return nullptr;
    if (integer32) return packed<SetPacked<0xffff>>(m.source_type, m.compare, m.ftz);
    if (m.type != m.source_type) return nullptr;
    return m.type == Type::kF16x2 ? packed<SetPacked<0x3c00>>(m.source_type, m.compare, m.ftz)
                                  : packed<SetPacked<0x3f80>>(m.source_type, m.compare, m.ftz);
  }
  if (integer32)
    return widths(key, 4, 2, 2)
               ? scalar<SetScalar<u32, 0xffffffffu>>(m.source_type, m.compare, m.ftz)
               : nullptr;
  if (!widths(key, 2, 2, 2)) return nullptr;
  if (integer16) return scalar<SetScalar<u16, 0xffff>>(m.source_type, m.compare, m.ftz);
  if (m.type != m.source_type) return nullptr;
  return m.type == Type::kF16 ? scalar<SetScalar<u16, 0x3c00>>(m.source_type, m.compare, m.ftz)
                              : scalar<SetScalar<u16, 0x3f80>>(m.source_type, m.compare, m.ftz);
}

}  // namespace

Handler resolve_half_compare(const AluKey& key) {
  return key.opcode == Opcode::k_setp ? setp_form(key) : set_form(key);
}

}  // namespace lockstep::engine::alu
