// Integer arithmetic: PTX ISA 9.7.1 (add, sub, mul, mad, mul24, mad24, sad, div, rem, abs, neg,
// min, max, dp4a, dp2a).
//
// Built with -fwrapv: signed arithmetic wraps, as it does on the GPU.
#include "simulator/engine/ops/alu/forms.h"
#include "simulator/engine/ops/alu/lanes.h"

namespace lockstep::engine::alu {
namespace {

using isa::Half;

template <class T>
struct WiderOf;
template <>
struct WiderOf<u16> {
  using type = u32;
};
template <>
struct WiderOf<s16> {
  using type = s32;
};
template <>
struct WiderOf<u32> {
  using type = u64;
};
template <>
struct WiderOf<s32> {
  using type = s64;
};
template <>
struct WiderOf<u64> {
  using type = u128;
};
template <>
struct WiderOf<s64> {
  using type = s128;
};
template <class T>
using Wider = typename WiderOf<T>::type;

template <class T>
constexpr bool kSigned = T(-1) < T(0);

template <class T>
LOCKSTEP_INLINE T low_product(T a, T b) {
  // 16-bit operands would multiply as int; wrapping makes that harmless.
  return static_cast<T>(a * b);
}
template <class T>
LOCKSTEP_INLINE T high_product(T a, T b) {
  return static_cast<T>((static_cast<Wider<T>>(a) * static_cast<Wider<T>>(b)) >> (8 * sizeof(T)));
}
template <class T>
LOCKSTEP_INLINE Wider<T> wide_product(T a, T b) {
  return static_cast<Wider<T>>(a) * static_cast<Wider<T>>(b);
}

LOCKSTEP_INLINE s32 saturate(s64 v) {
  return v > 2147483647      ? 2147483647
         : v < -2147483648LL ? static_cast<s32>(-2147483648LL)
                             : static_cast<s32>(v);
}

// Bits 0..23 of each operand, extended by type.
template <class T>
LOCKSTEP_INLINE s64 extend24(T v) {
  return kSigned<T> ? static_cast<s64>(static_cast<s32>(static_cast<u32>(v) << 8) >> 8)
                    : static_cast<s64>(v & 0xffffff);
}
template <class T>
LOCKSTEP_INLINE T low_product24(T a, T b) {
  return static_cast<T>(extend24(a) * extend24(b));
}
template <class T>
LOCKSTEP_INLINE T high_product24(T a, T b) {  // bits 16..47 of the 48-bit product
  return static_cast<T>((extend24(a) * extend24(b)) >> 16);
}

// Division never traps. PTX leaves division by zero unspecified; silicon gives all ones as quotient
// and as remainder. The most negative value over -1 wraps to itself, remainder 0.
template <class T>
LOCKSTEP_INLINE T quotient(T a, T b) {
  if constexpr (sizeof(T) <= 4) {
    // Exact in double: the quotient of two 32-bit integers differs from the next integer by more
    // than a double's rounding.
    const f64 q = __builtin_trunc(static_cast<f64>(a) / static_cast<f64>(b == 0 ? T(1) : b));
    // Adding 2^52 + 2^51 leaves the integer, modulo 2^32, in the low bits of the significand.
    const T wrapped = static_cast<T>(bits_as<u64>(q + 6755399441055744.0));
    return b == 0 ? T(-1) : wrapped;
  } else {
    if (b == 0) return T(-1);
    if (kSigned<T> && b == T(-1)) return T(0) - a;
    return a / b;
  }
}
template <class T>
LOCKSTEP_INLINE T remainder(T a, T b) {
  return b == 0 ? T(-1) : static_cast<T>(a - quotient(a, b) * b);
}

template <class T>
LOCKSTEP_INLINE T smaller(T a, T b) {
  return a < b ? a : b;
}
template <class T>
LOCKSTEP_INLINE T larger(T a, T b) {
  return a > b ? a : b;
}

template <class T, auto F>
Handler two(const AluKey& key) {
  return widths(key, sizeof(T), sizeof(T), sizeof(T)) ? &binary<T, T, T, F> : nullptr;
}
template <class T, auto F>
Handler one(const AluKey& key) {
  return widths(key, sizeof(T), sizeof(T)) ? &unary<T, T, F> : nullptr;
}
template <class T, auto F>
Handler three(const AluKey& key) {
  return widths(key, sizeof(T), sizeof(T), sizeof(T), sizeof(T)) ? &ternary<T, T, T, T, F>
                                                                 : nullptr;
}

template <class T>
Handler multiply(const AluKey& key) {
  if (!only(key, kHalf)) return nullptr;
  switch (key.modifiers.half) {
    case Half::kLo: return two<T, low_product<T>>(key);
    case Half::kHi: return two<T, high_product<T>>(key);
    case Half::kWide:
      if constexpr (sizeof(T) < 8) {
        if (widths(key, 2 * sizeof(T), sizeof(T), sizeof(T)))
          return &binary<Wider<T>, T, T, wide_product<T>>;
      }
      return nullptr;
    default: return nullptr;
  }
}

template <class T>
Handler multiply_add(const AluKey& key) {
  const Half half = key.modifiers.half;
  if (only(key, kHalf | kSat) && key.modifiers.sat) {
    if constexpr (sizeof(T) == 4 && kSigned<T>) {
      if (half == Half::kHi)
        return three<T, [](T a, T b, T c) { return saturate(s64{high_product(a, b)} + c); }>(key);
    }
    return nullptr;
  }
  if (!only(key, kHalf)) return nullptr;
  switch (half) {
    case Half::kLo:
      return three<T, [](T a, T b, T c) { return static_cast<T>(low_product(a, b) + c); }>(key);
    case Half::kHi:
      return three<T, [](T a, T b, T c) { return static_cast<T>(high_product(a, b) + c); }>(key);
    case Half::kWide:
      if constexpr (sizeof(T) < 8) {
        using W = Wider<T>;
        if (widths(key, sizeof(W), sizeof(T), sizeof(T), sizeof(W)))
          return &ternary<W, T, T, W,
                          [](T a, T b, W c) { return static_cast<W>(wide_product(a, b) + c); }>;
      }
      return nullptr;
    default: return nullptr;
  }
}

template <class T>
Handler multiply24(const AluKey& key) {
  if (!only(key, kHalf)) return nullptr;
  if (key.modifiers.half == Half::kLo) return two<T, low_product24<T>>(key);
  if (key.modifiers.half == Half::kHi) return two<T, high_product24<T>>(key);
  return nullptr;
}

template <class T>
Handler multiply_add24(const AluKey& key) {
  const Half half = key.modifiers.half;
  if (only(key, kHalf | kSat) && key.modifiers.sat) {
    if constexpr (kSigned<T>) {
      if (half == Half::kHi)
        return three<T, [](T a, T b, T c) { return saturate(s64{high_product24(a, b)} + c); }>(key);
    }
    return nullptr;
  }
  if (!only(key, kHalf)) return nullptr;
  if (half == Half::kLo)
    return three<T, [](T a, T b, T c) { return static_cast<T>(low_product24(a, b) + c); }>(key);
  if (half == Half::kHi)
    return three<T, [](T a, T b, T c) { return static_cast<T>(high_product24(a, b) + c); }>(key);
  return nullptr;
}

template <class T>
LOCKSTEP_INLINE T sum_of_difference(T a, T b, T c) {
  return static_cast<T>(c + (a < b ? b - a : a - b));
}

template <class T>
Handler plain(const AluKey& key) {
  switch (key.opcode) {
    case Opcode::k_add:
      if constexpr (sizeof(T) == 4 && kSigned<T>) {
        if (key.modifiers.sat && only(key, kSat))
          return two<T, [](T a, T b) { return saturate(s64{a} + b); }>(key);
      }
      return only(key, 0) ? two<T, [](T a, T b) { return static_cast<T>(a + b); }>(key) : nullptr;
    case Opcode::k_sub:
      if constexpr (sizeof(T) == 4 && kSigned<T>) {
        if (key.modifiers.sat && only(key, kSat))
          return two<T, [](T a, T b) { return saturate(s64{a} - b); }>(key);
      }
      return only(key, 0) ? two<T, [](T a, T b) { return static_cast<T>(a - b); }>(key) : nullptr;
    case Opcode::k_mul: return multiply<T>(key);
    case Opcode::k_mad: return multiply_add<T>(key);
    case Opcode::k_sad: return only(key, 0) ? three<T, sum_of_difference<T>>(key) : nullptr;
    case Opcode::k_div: return only(key, 0) ? two<T, quotient<T>>(key) : nullptr;
    case Opcode::k_rem: return only(key, 0) ? two<T, remainder<T>>(key) : nullptr;
    case Opcode::k_min:
      if constexpr (sizeof(T) == 4 && kSigned<T>) {
        if (key.modifiers.relu && only(key, kRelu))
          return two<T, [](T a, T b) { return larger(smaller(a, b), T(0)); }>(key);
      }
      return only(key, 0) ? two<T, smaller<T>>(key) : nullptr;
    case Opcode::k_max:
      if constexpr (sizeof(T) == 4 && kSigned<T>) {
        if (key.modifiers.relu && only(key, kRelu))
          return two<T, [](T a, T b) { return larger(larger(a, b), T(0)); }>(key);
      }
      return only(key, 0) ? two<T, larger<T>>(key) : nullptr;
    case Opcode::k_abs:
      if constexpr (kSigned<T>)
        return only(key, 0) ? one<T, [](T a) { return static_cast<T>(a < 0 ? -a : a); }>(key)
                            : nullptr;
      return nullptr;
    case Opcode::k_neg:
      if constexpr (kSigned<T>)
        return only(key, 0) ? one<T, [](T a) { return static_cast<T>(-a); }>(key) : nullptr;
      return nullptr;
    case Opcode::k_mul24:
      if constexpr (sizeof(T) == 4) return multiply24<T>(key);
      return nullptr;
    case Opcode::k_mad24:
      if constexpr (sizeof(T) == 4) return multiply_add24<T>(key);
      return nullptr;
    default: return nullptr;
  }
}

// Two 16-bit lanes in one register: add, min and max (9.7.1, u16x2 and s16x2).
template <class T, auto F>
LOCKSTEP_INLINE u32 halves(u32 a, u32 b) {
  const u16 low = static_cast<u16>(F(static_cast<T>(a), static_cast<T>(b)));
  const u16 high = static_cast<u16>(F(static_cast<T>(a >> 16), static_cast<T>(b >> 16)));
  return u32{low} | u32{high} << 16;
}
template <class T>
LOCKSTEP_INLINE T sum16(T a, T b) {
  return static_cast<T>(a + b);
}
template <class T>
LOCKSTEP_INLINE T smaller_relu(T a, T b) {
  return larger(smaller(a, b), T(0));
}
template <class T>
LOCKSTEP_INLINE T larger_relu(T a, T b) {
  return larger(larger(a, b), T(0));
}

template <class T>
Handler packed(const AluKey& key) {
  const bool relu = kSigned<T> && key.modifiers.relu;
  if (!only(key, relu ? std::uint32_t{kRelu} : 0u)) return nullptr;
  switch (key.opcode) {
    case Opcode::k_add: return relu ? nullptr : two<u32, halves<T, sum16<T>>>(key);
    case Opcode::k_min:
      return relu ? two<u32, halves<T, smaller_relu<T>>>(key)
                  : two<u32, halves<T, smaller<T>>>(key);
    case Opcode::k_max:
      return relu ? two<u32, halves<T, larger_relu<T>>>(key) : two<u32, halves<T, larger<T>>>(key);
    default: return nullptr;
  }
}

// dp4a: four bytes times four bytes; dp2a: two halves of a times two bytes (low or high) of b. `A`
// and `B` are the element types.
template <class A, class B>
LOCKSTEP_INLINE u32 dot4(u32 a, u32 b, u32 c) {
  for (int i = 0; i < 4; ++i)
    c += static_cast<u32>(static_cast<s32>(static_cast<A>(a >> (8 * i))) *
                          static_cast<s32>(static_cast<B>(b >> (8 * i))));
  return c;
}
template <class A, class B, int Shift>
LOCKSTEP_INLINE u32 dot2(u32 a, u32 b, u32 c) {
  for (int i = 0; i < 2; ++i)
    c += static_cast<u32>(static_cast<s32>(static_cast<A>(a >> (16 * i))) *
                          static_cast<s32>(static_cast<B>(b >> (8 * i + Shift))));
  return c;
}

Handler dot_product(const AluKey& key) {
  const Type a = key.modifiers.type;
  const Type b = key.modifiers.source_type == Type::kNone ? a : key.modifiers.source_type;
  if ((a != Type::kU32 && a != Type::kS32) || (b != Type::kU32 && b != Type::kS32)) return nullptr;
  const int form = (a == Type::kS32 ? 2 : 0) + (b == Type::kS32 ? 1 : 0);
  if (key.opcode == Opcode::k_dp4a) {
    if (!only(key, kSourceType)) return nullptr;
    switch (form) {
      case 0: return three<u32, dot4<u8, u8>>(key);
      case 1: return three<u32, dot4<u8, s8>>(key);
      case 2: return three<u32, dot4<s8, u8>>(key);
      default: return three<u32, dot4<s8, s8>>(key);
    }
  }
  if (!only(key, kSourceType | kHalf)) return nullptr;
  if (key.modifiers.half == Half::kLo) {
    switch (form) {
      case 0: return three<u32, dot2<u16, u8, 0>>(key);
      case 1: return three<u32, dot2<u16, s8, 0>>(key);
      case 2: return three<u32, dot2<s16, u8, 0>>(key);
      default: return three<u32, dot2<s16, s8, 0>>(key);
    }
  }
  if (key.modifiers.half == Half::kHi) {
    switch (form) {
      case 0: return three<u32, dot2<u16, u8, 16>>(key);
      case 1: return three<u32, dot2<u16, s8, 16>>(key);
      case 2: return three<u32, dot2<s16, u8, 16>>(key);
      default: return three<u32, dot2<s16, s8, 16>>(key);
    }
  }
  return nullptr;
}

}  // namespace

Handler resolve_integer(const AluKey& key) {
  if (key.opcode == Opcode::k_dp4a || key.opcode == Opcode::k_dp2a) return dot_product(key);
  switch (key.modifiers.type) {
    case Type::kU16: return plain<u16>(key);
    case Type::kS16: return plain<s16>(key);
    case Type::kU32: return plain<u32>(key);
    case Type::kS32: return plain<s32>(key);
    case Type::kU64: return plain<u64>(key);
    case Type::kS64: return plain<s64>(key);
    case Type::kU16x2: return packed<u16>(key);
    case Type::kS16x2: return packed<s16>(key);
    default: return nullptr;
  }
}

}  // namespace lockstep::engine::alu
