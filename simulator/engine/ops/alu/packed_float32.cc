// Two f32 in a register of 64 bits, and f32 arithmetic with half operands: PTX ISA 9.7.3 (add, sub,
// mul, fma for .f32x2) and 9.7.5.
#include "simulator/engine/ops/alu/halves.h"

namespace lockstep::engine::alu {
namespace {

using isa::Rounding;

LOCKSTEP_INLINE f32 plus(f32 a, f32 b) { return a + b; }
LOCKSTEP_INLINE f32 minus(f32 a, f32 b) { return a - b; }
LOCKSTEP_INLINE f32 times(f32 a, f32 b) { return a * b; }
LOCKSTEP_INLINE f32 fused(f32 a, f32 b, f32 c) { return __builtin_fmaf(a, b, c); }

template <int Sources, auto F>
LOCKSTEP_INLINE f32 apply(const f32* a, const f32* b, const f32* c, int i) {
  if constexpr (Sources == 2)
    return F(a[i], b[i]);
  else
    return F(a[i], b[i], c[i]);
}

// A warp's registers are 64 numbers side by side.
template <int Sources, auto F, Round Mode, bool Ftz>
void packed(Warp& w, const Op& op, LaneMask mask) {
  constexpr int kCount = 2 * kWarpSize;
  const f32* a = source<f32>(w, op.src[0]);
  const f32* b = source<f32>(w, op.src[1]);
  const f32* c = source<f32>(w, op.src[Sources > 2 ? 2 : 0]);
  alignas(64) f32 r[kCount];
  {
    FloatingScope<Mode, Ftz> floating;
    for (int i = 0; i < kCount; ++i) r[i] = canonical(apply<Sources, F>(a, b, c, i));
    keep_in_memory(r);
  }
  u64 pairs[kWarpSize];
  __builtin_memcpy(pairs, r, sizeof pairs);
  store_lanes(destination<u64>(w, op.dst), pairs, mask);
}

// The first sources are halves, the last is an f32.
template <class C, int Sources, auto F, Round Mode, bool Sat>
void mixed(Warp& w, const Op& op, LaneMask mask) {
  f32 a[kWarpSize], b[kWarpSize];
  C::widen(source<u16>(w, op.src[0]), a, kWarpSize);
  if constexpr (Sources == 3) C::widen(source<u16>(w, op.src[1]), b, kWarpSize);
  const f32* c = source<f32>(w, op.src[Sources - 1]);
  f32 r[kWarpSize];
  {
    FloatingScope<Mode, false> floating;
    for (int i = 0; i < kWarpSize; ++i) {
      f32 v;
      if constexpr (Sources == 2)
        v = F(a[i], c[i]);
      else
        v = F(a[i], b[i], c[i]);
      r[i] = Sat ? clamped(v) : canonical(v);
    }
    keep_in_memory(r);
  }
  store_lanes(destination<f32>(w, op.dst), r, mask);
}

// Calls make<Mode>() for the rounding that the key asks for; none is to nearest.
template <class Make>
Handler for_rounding(Rounding rounding, Make make) {
  switch (rounding) {
    case Rounding::kNone:
    case Rounding::kNearestEven: return make.template operator()<Round::kNearest>();
    case Rounding::kZero: return make.template operator()<Round::kZero>();
    case Rounding::kDown: return make.template operator()<Round::kDown>();
    case Rounding::kUp: return make.template operator()<Round::kUp>();
    default: return nullptr;
  }
}

template <int Sources, auto F>
Handler packed_form(const AluKey& key) {
  if (!only(key, kRounding | kFtz) ||
      (Sources == 2 ? !widths(key, 8, 8, 8) : !widths(key, 8, 8, 8, 8)))
    return nullptr;
  return for_rounding(key.modifiers.rounding, [&]<Round Mode>() -> Handler {
    return key.modifiers.ftz ? &packed<Sources, F, Mode, true> : &packed<Sources, F, Mode, false>;
  });
}

template <class C, int Sources, auto F>
Handler mixed_form(const AluKey& key) {
  if (!only(key, kRounding | kSat | kSourceType) ||
      (Sources == 2 ? !widths(key, 4, 2, 4) : !widths(key, 4, 2, 2, 4)))
    return nullptr;
  return for_rounding(key.modifiers.rounding, [&]<Round Mode>() -> Handler {
    return key.modifiers.sat ? &mixed<C, Sources, F, Mode, true>
                             : &mixed<C, Sources, F, Mode, false>;
  });
}

template <class C>
Handler mixed_opcode(const AluKey& key) {
  switch (key.opcode) {
    case Opcode::k_add: return mixed_form<C, 2, plus>(key);
    case Opcode::k_sub: return mixed_form<C, 2, minus>(key);
    case Opcode::k_fma: return mixed_form<C, 3, fused>(key);
    default: return nullptr;
  }
}

}  // namespace

Handler resolve_packed_float32(const AluKey& key) {
  if (key.modifiers.type == Type::kF32) {
    if (key.modifiers.source_type == Type::kF16) return mixed_opcode<F16>(key);
    if (key.modifiers.source_type == Type::kBF16) return mixed_opcode<BF16>(key);
    return nullptr;
  }
  switch (key.opcode) {
    case Opcode::k_add: return packed_form<2, plus>(key);
    case Opcode::k_sub: return packed_form<2, minus>(key);
    case Opcode::k_mul: return packed_form<2, times>(key);
    case Opcode::k_fma: return packed_form<3, fused>(key);
    default: return nullptr;
  }
}

}  // namespace lockstep::engine::alu
