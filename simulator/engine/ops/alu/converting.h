// Shared parts of the families of cvt: integer types by name, registers wider than types, and
// conversion of integers of any width through 64 bits. Include only in the handlers' files, which
// are compiled for AVX2.
#pragma once

#include "simulator/engine/ops/alu/floating.h"
#include "simulator/engine/ops/alu/forms.h"
#include "simulator/engine/ops/alu/lanes.h"

namespace lockstep::engine::alu {

Handler resolve_convert_integer(const AluKey& key);
Handler resolve_convert_to_float(const AluKey& key);    // integer to f32, f64
Handler resolve_convert_from_float(const AluKey& key);  // f32, f64 to integer
Handler resolve_convert_float(const AluKey& key);       // f32, f64 to f32, f64
Handler resolve_convert_half(const AluKey& key);        // f16, bf16 and packed forms, either side
Handler resolve_convert_small(const AluKey& key);       // fp8, tf32
Handler resolve_convert_narrow(const AluKey& key);      // fp6, fp4, ue8m0; four values at once
Handler resolve_convert_pack(const AluKey& key);        // cvt.pack
Handler resolve_video(const AluKey& key);               // video instructions
Handler resolve_selecting_video(const AluKey& key);     // all but plain vabsdiff4, vmin4, vmax4

namespace {

using isa::Rounding;

template <class T>
constexpr bool kSignedType = T(-1) < T(0);

LOCKSTEP_INLINE int integer_bytes(Type t) {
  switch (t) {
    case Type::kU8:
    case Type::kS8: return 1;
    case Type::kU16:
    case Type::kS16: return 2;
    case Type::kU32:
    case Type::kS32: return 4;
    case Type::kU64:
    case Type::kS64: return 8;
    default: return 0;
  }
}
LOCKSTEP_INLINE bool is_signed_type(Type t) {
  return t == Type::kS8 || t == Type::kS16 || t == Type::kS32 || t == Type::kS64;
}

// Reads the lanes of an integer source as 64-bit values: truncated to A, then extended by A's
// signedness. Not inlined, because many handlers share it.
template <class A, class S>
__attribute__((noinline)) void read_integers(const Warp& w, Slot slot, s64* v) {
  const S* a = source<S>(w, slot);
  for (int i = 0; i < kWarpSize; ++i) v[i] = static_cast<s64>(static_cast<A>(a[i]));
}
template <class DR>
__attribute__((noinline)) void write_integers(Warp& w, Slot slot, const s64* v, LaneMask mask) {
  DR* d = destination<DR>(w, slot);
  const Lanes<DR> selected(mask);
  for (int i = 0; i < kWarpSize; ++i) d[i] = selected.words[i] != 0 ? static_cast<DR>(v[i]) : d[i];
}

// Returns make.operator()<A, S>() for the integer type A in a register of `bytes`, whose unsigned
// type is S.
template <class A, class Make>
LOCKSTEP_INLINE Handler with_register(int bytes, const Make& make) {
  switch (bytes) {
    case 1:
      if constexpr (sizeof(A) <= 1) return make.template operator()<A, u8>();
      return nullptr;
    case 2:
      if constexpr (sizeof(A) <= 2) return make.template operator()<A, u16>();
      return nullptr;
    case 4:
      if constexpr (sizeof(A) <= 4) return make.template operator()<A, u32>();
      return nullptr;
    case 8: return make.template operator()<A, u64>();
    default: return nullptr;
  }
}
template <class Make>
Handler with_integer_type(Type type, int bytes, const Make& make) {
  switch (type) {
    case Type::kU8: return with_register<u8>(bytes, make);
    case Type::kU16: return with_register<u16>(bytes, make);
    case Type::kU32: return with_register<u32>(bytes, make);
    case Type::kU64: return with_register<u64>(bytes, make);
    case Type::kS8: return with_register<s8>(bytes, make);
    case Type::kS16: return with_register<s16>(bytes, make);
    case Type::kS32: return with_register<s32>(bytes, make);
    case Type::kS64: return with_register<s64>(bytes, make);
    default: return nullptr;
  }
}

// Returns Make::handler<S, T, DR>() for the low part T of a source register and a destination
// register at least as wide as T.
template <class T, class S, class Make>
LOCKSTEP_INLINE Handler by_destination(int bytes) {
  switch (bytes) {
    case 1:
      if constexpr (sizeof(T) <= 1) return Make::template handler<S, T, u8>();
      return nullptr;
    case 2:
      if constexpr (sizeof(T) <= 2) return Make::template handler<S, T, u16>();
      return nullptr;
    case 4:
      if constexpr (sizeof(T) <= 4) return Make::template handler<S, T, u32>();
      return nullptr;
    case 8: return Make::template handler<S, T, u64>();
    default: return nullptr;
  }
}
template <class T, class Make>
Handler by_registers(int source_bytes, int destination_bytes) {
  switch (source_bytes) {
    case 1:
      if constexpr (sizeof(T) <= 1) return by_destination<T, u8, Make>(destination_bytes);
      return nullptr;
    case 2:
      if constexpr (sizeof(T) <= 2) return by_destination<T, u16, Make>(destination_bytes);
      return nullptr;
    case 4:
      if constexpr (sizeof(T) <= 4) return by_destination<T, u32, Make>(destination_bytes);
      return nullptr;
    case 8: return by_destination<T, u64, Make>(destination_bytes);
    default: return nullptr;
  }
}

template <Rounding R, class F>
LOCKSTEP_INLINE F to_integral(F a) {
  if constexpr (sizeof(F) == 4) {
    if constexpr (R == Rounding::kIntNearestEven)
      return __builtin_roundevenf(a);
    else if constexpr (R == Rounding::kIntZero)
      return __builtin_truncf(a);
    else if constexpr (R == Rounding::kIntDown)
      return __builtin_floorf(a);
    else
      return __builtin_ceilf(a);
  } else {
    if constexpr (R == Rounding::kIntNearestEven)
      return __builtin_roundeven(a);
    else if constexpr (R == Rounding::kIntZero)
      return __builtin_trunc(a);
    else if constexpr (R == Rounding::kIntDown)
      return __builtin_floor(a);
    else
      return __builtin_ceil(a);
  }
}

// Clamps an integral value to D and extends it to the register's type DR.
template <class D, class DR, class F>
LOCKSTEP_INLINE DR clamped_to(F a) {
  constexpr int kBits = 8 * sizeof(D);
  constexpr D kTop = static_cast<D>(D(1) << (kBits - 1));
  constexpr D kLowest = kSignedType<D> ? kTop : D(0);
  constexpr D kHighest = kSignedType<D> ? static_cast<D>(~kTop) : static_cast<D>(~D(0));
  constexpr F kLimit = kSignedType<D> ? F(u64{1} << (kBits - 1))
                                      : F(u64{1} << (kBits - 1)) * 2;  // first value too large
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

}  // namespace
}  // namespace lockstep::engine::alu
