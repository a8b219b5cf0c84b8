// cvt between integers: PTX ISA 9.7.9 (cvt) with the operand width rules of 9.4.1.
//
// A register may be wider than its type. The source is truncated to its type's width. The result is
// extended to the register's width by the destination type's signedness.
#include "simulator/engine/ops/alu/converting.h"

namespace lockstep::engine::alu {
namespace {

// Without .sat every pair of types, except one (see extended_twice), takes the low part `T` of the
// source register and extends it to the destination register.
template <class S, class T, class DR>
LOCKSTEP_INLINE DR extended(S reg) {
  return static_cast<DR>(static_cast<T>(reg));
}
// A signed type into a wider unsigned one in a register wider still: sign-extended to the type,
// then zero-extended.
template <class S, class A, class D, class DR>
LOCKSTEP_INLINE DR extended_twice(S reg) {
  return static_cast<DR>(static_cast<D>(static_cast<A>(reg)));
}

struct Extend {
  template <class S, class T, class DR>
  static Handler handler() {
    return &unary<DR, S, extended<S, T, DR>>;
  }
};

template <class T>
Handler extend_from(int source_bytes, int destination_bytes) {
  return by_registers<T, Extend>(source_bytes, destination_bytes);
}

Handler extend_low_part(Type low, int source_bytes, int destination_bytes) {
  switch (low) {
    case Type::kU8: return extend_from<u8>(source_bytes, destination_bytes);
    case Type::kU16: return extend_from<u16>(source_bytes, destination_bytes);
    case Type::kU32: return extend_from<u32>(source_bytes, destination_bytes);
    case Type::kU64: return extend_from<u64>(source_bytes, destination_bytes);
    case Type::kS8: return extend_from<s8>(source_bytes, destination_bytes);
    case Type::kS16: return extend_from<s16>(source_bytes, destination_bytes);
    case Type::kS32: return extend_from<s32>(source_bytes, destination_bytes);
    case Type::kS64: return extend_from<s64>(source_bytes, destination_bytes);
    default: return nullptr;
  }
}

template <class S, class A>
Handler extend_twice(Type destination, int destination_bytes) {
  if (destination == Type::kU16 && destination_bytes == 4)
    return &unary<u32, S, extended_twice<S, A, u16, u32>>;
  if (destination == Type::kU16 && destination_bytes == 8)
    return &unary<u64, S, extended_twice<S, A, u16, u64>>;
  if (destination == Type::kU32 && destination_bytes == 8)
    return &unary<u64, S, extended_twice<S, A, u32, u64>>;
  return nullptr;
}

Handler extend_twice_form(Type source, int source_bytes, Type destination, int destination_bytes) {
  if (source == Type::kS8) {
    switch (source_bytes) {
      case 1: return extend_twice<u8, s8>(destination, destination_bytes);
      case 2: return extend_twice<u16, s8>(destination, destination_bytes);
      case 4: return extend_twice<u32, s8>(destination, destination_bytes);
      case 8: return extend_twice<u64, s8>(destination, destination_bytes);
      default: return nullptr;
    }
  }
  if (source == Type::kS16) {
    switch (source_bytes) {
      case 2: return extend_twice<u16, s16>(destination, destination_bytes);
      case 4: return extend_twice<u32, s16>(destination, destination_bytes);
      case 8: return extend_twice<u64, s16>(destination, destination_bytes);
      default: return nullptr;
    }
  }
  return nullptr;
}

// .sat: the value clamped to the destination type's range.
template <class D>
LOCKSTEP_INLINE s64 clamp_signed(s64 v) {
  if constexpr (sizeof(D) == 8) {
    return kSignedType<D> ? v : v < 0 ? 0 : v;
  } else {
    constexpr s64 kLow = kSignedType<D> ? -(s64{1} << (8 * sizeof(D) - 1)) : 0;
    constexpr s64 kHigh = (s64{1} << (8 * sizeof(D) - (kSignedType<D> ? 1 : 0))) - 1;
    return v < kLow ? kLow : v > kHigh ? kHigh : v;
  }
}
template <class D>
LOCKSTEP_INLINE u64 clamp_unsigned(u64 v) {
  constexpr u64 kHigh = static_cast<u64>(-1) >> (64 - 8 * sizeof(D) + (kSignedType<D> ? 1 : 0));
  return v > kHigh ? kHigh : v;
}

template <bool SignedSource, class D>
__attribute__((noinline)) void clamp_integers(s64* v) {
  for (int i = 0; i < kWarpSize; ++i)
    v[i] = SignedSource ? clamp_signed<D>(v[i])
                        : static_cast<s64>(clamp_unsigned<D>(static_cast<u64>(v[i])));
}
template <class A, class S, class D, class DR>
void saturate(Warp& w, const Op& op, LaneMask mask) {
  s64 v[kWarpSize];
  read_integers<A, S>(w, op.src[0], v);
  clamp_integers<kSignedType<A>, D>(v);
  write_integers<DR>(w, op.dst, v, mask);
}

template <class A, class S, class D>
Handler saturate_to(int destination_bytes) {
  switch (destination_bytes) {
    case 1:
      if constexpr (sizeof(D) <= 1) return &saturate<A, S, D, u8>;
      return nullptr;
    case 2:
      if constexpr (sizeof(D) <= 2) return &saturate<A, S, D, u16>;
      return nullptr;
    case 4:
      if constexpr (sizeof(D) <= 4) return &saturate<A, S, D, u32>;
      return nullptr;
    case 8: return &saturate<A, S, D, u64>;
    default: return nullptr;
  }
}
struct Saturate {
  const AluKey& key;
  template <class A, class S>
  Handler operator()() const {
    const int n = key.register_bytes[0];
    switch (key.modifiers.type) {
      case Type::kU8: return saturate_to<A, S, u8>(n);
      case Type::kU16: return saturate_to<A, S, u16>(n);
      case Type::kU32: return saturate_to<A, S, u32>(n);
      case Type::kU64: return saturate_to<A, S, u64>(n);
      case Type::kS8: return saturate_to<A, S, s8>(n);
      case Type::kS16: return saturate_to<A, S, s16>(n);
      case Type::kS32: return saturate_to<A, S, s32>(n);
      case Type::kS64: return saturate_to<A, S, s64>(n);
      default: return nullptr;
    }
  }
};

}  // namespace

Handler resolve_convert_integer(const AluKey& key) {
  const auto& m = key.modifiers;
  if (!only(key, kSourceType | kSat) || key.operand_count != 2) return nullptr;
  const int to = integer_bytes(m.type), from = integer_bytes(m.source_type);
  const int to_register = key.register_bytes[0], from_register = key.register_bytes[1];
  if (to_register < to || from_register < from) return nullptr;
  if (m.sat) return with_integer_type(m.source_type, from_register, Saturate{key});
  if (to <= from) return extend_low_part(m.type, from_register, to_register);
  if (is_signed_type(m.source_type) && !is_signed_type(m.type) && to_register > to)
    return extend_twice_form(m.source_type, from_register, m.type, to_register);
  return extend_low_part(m.source_type, from_register, to_register);
}

}  // namespace lockstep::engine::alu
