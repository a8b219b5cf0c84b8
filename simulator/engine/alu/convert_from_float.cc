// cvt from f32 and f64 to integers: PTX ISA 9.7.9 (cvt).
//
// The value is rounded to an integral one, then clamped to the destination type's range, with or without .sat. A NaN gives zero,
// unless the source is f64 or the destination 64 bits wide: then only the destination type's top bit is set.
#include "simulator/engine/alu/converting.h"

namespace lockstep::engine::LOCKSTEP_ISA {
namespace {

template <Rounding R, bool Ftz, class F, class D, class DR>
LOCKSTEP_INLINE DR to_integer(F a) {
  if constexpr (Ftz) a = flushed(a);
  return clamped_to<D, DR>(to_integral<R>(a));
}

template <class F, bool Ftz>
struct ToInteger {
  Rounding rounding;
  template <class D, class DR>
  Handler operator()() const {
    switch (rounding) {
      case Rounding::kIntNearestEven: return &unary<DR, F, to_integer<Rounding::kIntNearestEven, Ftz, F, D, DR>>;
      case Rounding::kIntZero: return &unary<DR, F, to_integer<Rounding::kIntZero, Ftz, F, D, DR>>;
      case Rounding::kIntDown: return &unary<DR, F, to_integer<Rounding::kIntDown, Ftz, F, D, DR>>;
      case Rounding::kIntUp: return &unary<DR, F, to_integer<Rounding::kIntUp, Ftz, F, D, DR>>;
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
  if (m.ftz) return with_integer_type(m.type, key.register_bytes[0], ToInteger<f32, true>{m.rounding});
  return with_integer_type(m.type, key.register_bytes[0], ToInteger<f32, false>{m.rounding});
}

}  // namespace lockstep::engine::LOCKSTEP_ISA
