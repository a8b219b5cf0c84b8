// cvt from f32 and f64 to integers: PTX ISA 9.7.9 (cvt).
//
// The value is rounded to an integer and then clamped to the destination type's range, with or
// without .sat. A NaN becomes zero, except if the source is f64 or the destination 64 bits wide:
// then only the destination type's top bit is set.
#include "simulator/engine/ops/alu/converting.h"

namespace lockstep::engine::alu {
namespace {

// The two halves of a conversion are not inlined: some 240 conversions share 12 and 40 of them.
template <Rounding R, bool Ftz, class F>
__attribute__((noinline)) void read_integral(const Warp& w, Slot slot, F* v) {
  const F* a = source<F>(w, slot);
  for (int i = 0; i < kWarpSize; ++i) {
    F x = a[i];
    if constexpr (Ftz) x = flushed(x);
    v[i] = to_integral<R>(x);
  }
}
template <class F, class D, class DR>
__attribute__((noinline)) void write_clamped(Warp& w, Slot slot, const F* v, LaneMask mask) {
  DR* d = destination<DR>(w, slot);
  const Lanes<DR> selected(mask);
  for (int i = 0; i < kWarpSize; ++i) {
    const DR r = clamped_to<D, DR>(v[i]);
    d[i] = selected.words[i] != 0 ? r : d[i];
  }
}
template <Rounding R, bool Ftz, class F, class D, class DR>
void to_integer(Warp& w, const Op& op, LaneMask mask) {
  alignas(64) F v[kWarpSize];
  read_integral<R, Ftz>(w, op.src[0], v);
  write_clamped<F, D, DR>(w, op.dst, v, mask);
}

template <class F, bool Ftz>
struct ToInteger {
  Rounding rounding;
  template <class D, class DR>
  Handler operator()() const {
    switch (rounding) {
      case Rounding::kIntNearestEven: return &to_integer<Rounding::kIntNearestEven, Ftz, F, D, DR>;
      case Rounding::kIntZero: return &to_integer<Rounding::kIntZero, Ftz, F, D, DR>;
      case Rounding::kIntDown: return &to_integer<Rounding::kIntDown, Ftz, F, D, DR>;
      case Rounding::kIntUp: return &to_integer<Rounding::kIntUp, Ftz, F, D, DR>;
      default: return nullptr;
    }
  }
};

}  // namespace

Handler resolve_convert_from_float(const AluKey& key) {
  const auto& m = key.modifiers;
  if (!only(key, kSourceType | kRounding | kSat | kFtz) || key.operand_count != 2) return nullptr;
  if (m.source_type == Type::kF64) {
    if (m.ftz || key.register_bytes[1] != 8) return nullptr;
    return with_integer_type(m.type, key.register_bytes[0], ToInteger<f64, false>{m.rounding});
  }
  if (m.source_type != Type::kF32 || key.register_bytes[1] != 4) return nullptr;
  if (m.ftz)
    return with_integer_type(m.type, key.register_bytes[0], ToInteger<f32, true>{m.rounding});
  return with_integer_type(m.type, key.register_bytes[0], ToInteger<f32, false>{m.rounding});
}

}  // namespace lockstep::engine::alu
