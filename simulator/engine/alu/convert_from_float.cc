// cvt from f32 and f64 to integers: PTX ISA 9.7.9 (cvt).
//
// The value is rounded to an integral one, then clamped to the destination type's range, with or without .sat. A NaN gives zero,
// unless the source is f64 or the destination 64 bits wide: then only the destination type's top bit is set.
#include "simulator/engine/alu/converting.h"

namespace lockstep::engine::LOCKSTEP_ISA {
namespace {

using ptx::Rounding;

template <Rounding R, class F>
LOCKSTEP_INLINE F to_integral(F a) {
  if constexpr (sizeof(F) == 4) {
    if constexpr (R == Rounding::kIntNearestEven) return __builtin_roundevenf(a);
    else if constexpr (R == Rounding::kIntZero) return __builtin_truncf(a);
    else if constexpr (R == Rounding::kIntDown) return __builtin_floorf(a);
    else return __builtin_ceilf(a);
  } else {
    if constexpr (R == Rounding::kIntNearestEven) return __builtin_roundeven(a);
    else if constexpr (R == Rounding::kIntZero) return __builtin_trunc(a);
    else if constexpr (R == Rounding::kIntDown) return __builtin_floor(a);
    else return __builtin_ceil(a);
  }
}

// An integral value, clamped to D and extended to the register's type DR.
template <class D, class DR, class F>
LOCKSTEP_INLINE DR clamped_to(F a) {
  constexpr int kBits = 8 * sizeof(D);
  constexpr D kTop = static_cast<D>(D(1) << (kBits - 1));
  constexpr D kLowest = kSignedType<D> ? kTop : D(0);
  constexpr D kHighest = kSignedType<D> ? static_cast<D>(~kTop) : static_cast<D>(~D(0));
  constexpr F kLimit = kSignedType<D> ? F(u64{1} << (kBits - 1)) : F(u64{1} << (kBits - 1)) * 2;  // first value too large
  constexpr D kOfNaN = sizeof(F) == 8 || sizeof(D) == 8 ? kTop : D(0);
  const F low = a >= F(kLowest) ? a : F(kLowest);  // a NaN too
  const F inside = low < kLimit ? low : F(0);
  D r;
  if constexpr (sizeof(D) < 4 || (sizeof(D) == 4 && kSignedType<D>)) {
    r = static_cast<D>(static_cast<s32>(inside));
  } else if constexpr (sizeof(D) == 4) {
    // 2^52 + inside has the integer in the low bits of its significand.
    r = static_cast<D>(bits_as<u64>(static_cast<f64>(inside) + 4503599627370496.0));
  } else {
    r = static_cast<D>(inside);
  }
  r = low < kLimit ? r : kHighest;
  r = a == a ? r : kOfNaN;
  return static_cast<DR>(r);
}

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
