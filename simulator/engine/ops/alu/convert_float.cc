// cvt between f32 and f64, and from integers to them: PTX ISA 9.7.9 (cvt).
#include "simulator/engine/ops/alu/converting.h"

namespace lockstep::engine::alu {
namespace {

template <class F, class A, class S, bool Sat>
LOCKSTEP_INLINE F from_integer(S reg) {
  const F r = static_cast<F>(static_cast<A>(reg));
  return Sat ? clamped(r) : r;
}

template <class F>
struct FromInteger {
  const AluKey& key;
  template <class A, class S>
  Handler operator()() const {
    if (key.modifiers.sat) {  // only 0 and 1 survive: every direction of rounding gives the same
      return &unary_apart<F, S, from_integer<F, A, S, true>>;
    }
    switch (key.modifiers.rounding) {
      case Rounding::kNearestEven:
        return &unary_apart<F, S, from_integer<F, A, S, false>, Round::kNearest>;
      case Rounding::kZero: return &unary_apart<F, S, from_integer<F, A, S, false>, Round::kZero>;
      case Rounding::kDown: return &unary_apart<F, S, from_integer<F, A, S, false>, Round::kDown>;
      case Rounding::kUp: return &unary_apart<F, S, from_integer<F, A, S, false>, Round::kUp>;
      default: return nullptr;
    }
  }
};

enum class ToIntegral { kNo, kNearestEven, kZero, kDown, kUp };

template <class T, ToIntegral R>
LOCKSTEP_INLINE T integral(T a) {
  if constexpr (R == ToIntegral::kNo)
    return a;
  else if constexpr (sizeof(T) == 4) {
    if constexpr (R == ToIntegral::kNearestEven)
      return __builtin_roundevenf(a);
    else if constexpr (R == ToIntegral::kZero)
      return __builtin_truncf(a);
    else if constexpr (R == ToIntegral::kDown)
      return __builtin_floorf(a);
    else
      return __builtin_ceilf(a);
  } else {
    if constexpr (R == ToIntegral::kNearestEven)
      return __builtin_roundeven(a);
    else if constexpr (R == ToIntegral::kZero)
      return __builtin_trunc(a);
    else if constexpr (R == ToIntegral::kDown)
      return __builtin_floor(a);
    else
      return __builtin_ceil(a);
  }
}

// The same format: rounded to an integral value, or only flushed or clamped.
template <class T, ToIntegral R, bool Ftz, bool Sat>
LOCKSTEP_INLINE T same_format(T a) {
  if constexpr (sizeof(T) == 4) a = maybe_flushed<Ftz>(a);
  if constexpr (R == ToIntegral::kNo && !Ftz && !Sat) return a;  // a move: not even a NaN changes
  const T r = integral<T, R>(a);
  if constexpr (Sat)
    return clamped(r);
  else if constexpr (sizeof(T) == 4)
    return canonical(r);
  else
    return a == a ? r : quieted(a);
}
template <class T, ToIntegral R>
Handler same_format_instance(const AluKey& key) {
  if (key.modifiers.ftz) {
    if constexpr (sizeof(T) == 4)
      return key.modifiers.sat ? &unary_apart<T, T, same_format<T, R, true, true>>
                               : &unary_apart<T, T, same_format<T, R, true, false>>;
    return nullptr;
  }
  return key.modifiers.sat ? &unary_apart<T, T, same_format<T, R, false, true>>
                           : &unary_apart<T, T, same_format<T, R, false, false>>;
}
template <class T>
Handler same_format_form(const AluKey& key) {
  switch (key.modifiers.rounding) {
    case Rounding::kNone: return same_format_instance<T, ToIntegral::kNo>(key);
    case Rounding::kIntNearestEven: return same_format_instance<T, ToIntegral::kNearestEven>(key);
    case Rounding::kIntZero: return same_format_instance<T, ToIntegral::kZero>(key);
    case Rounding::kIntDown: return same_format_instance<T, ToIntegral::kDown>(key);
    case Rounding::kIntUp: return same_format_instance<T, ToIntegral::kUp>(key);
    default: return nullptr;
  }
}

template <bool Ftz, bool Sat>
LOCKSTEP_INLINE f64 widened(f32 a) {
  // A NaN's sign and payload stay, quieted; .ftz makes it the canonical one first, as silicon does.
  const f64 r = static_cast<f64>(Ftz ? canonical(flushed(a)) : a);
  return Sat ? clamped(r) : r;
}
template <bool Sat>
LOCKSTEP_INLINE f32 narrowed(f64 a) {
  const f32 r = static_cast<f32>(a);  // a NaN's sign and the top of its payload stay, quieted
  return Sat ? clamped(r) : r;
}
template <Round Mode>
Handler narrow(const AluKey& key) {
  if (key.modifiers.ftz)
    return key.modifiers.sat ? &unary_apart<f32, f64, narrowed<true>, Mode, true>
                             : &unary_apart<f32, f64, narrowed<false>, Mode, true>;
  return key.modifiers.sat ? &unary_apart<f32, f64, narrowed<true>, Mode>
                           : &unary_apart<f32, f64, narrowed<false>, Mode>;
}

}  // namespace

Handler resolve_convert_to_float(const AluKey& key) {
  const auto& m = key.modifiers;
  if (key.operand_count != 2) return nullptr;
  if (m.type == Type::kF32) {
    // .ftz has nothing to flush: no integer converts to a subnormal.
    if (!only(key, kSourceType | kRounding | kSat | kFtz) || key.register_bytes[0] != 4)
      return nullptr;
    return with_integer_type(m.source_type, key.register_bytes[1], FromInteger<f32>{key});
  }
  if (m.type == Type::kF64) {
    if (!only(key, kSourceType | kRounding | kSat) || key.register_bytes[0] != 8) return nullptr;
    return with_integer_type(m.source_type, key.register_bytes[1], FromInteger<f64>{key});
  }
  return nullptr;
}

Handler resolve_convert_float(const AluKey& key) {
  const auto& m = key.modifiers;
  if (!only(key, kSourceType | kRounding | kSat | kFtz)) return nullptr;
  const bool to32 = m.type == Type::kF32, from32 = m.source_type == Type::kF32;
  if (!widths(key, to32 ? 4 : 8, from32 ? 4 : 8)) return nullptr;
  if (to32 && from32) return same_format_form<f32>(key);
  if (!to32 && !from32) return same_format_form<f64>(key);
  if (!to32) {
    if (m.rounding != Rounding::kNone) return nullptr;
    if (m.ftz)
      return m.sat ? &unary_apart<f64, f32, widened<true, true>>
                   : &unary_apart<f64, f32, widened<true, false>>;
    return m.sat ? &unary_apart<f64, f32, widened<false, true>>
                 : &unary_apart<f64, f32, widened<false, false>>;
  }
  switch (m.rounding) {
    case Rounding::kNearestEven: return narrow<Round::kNearest>(key);
    case Rounding::kZero: return narrow<Round::kZero>(key);
    case Rounding::kDown: return narrow<Round::kDown>(key);
    case Rounding::kUp: return narrow<Round::kUp>(key);
    default: return nullptr;
  }
}

}  // namespace lockstep::engine::alu
