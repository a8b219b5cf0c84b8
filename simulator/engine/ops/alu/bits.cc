// Logic, shifts and bit manipulation: PTX ISA 9.7.8 (and, or, xor, not, cnot, lop3, shf, shl,
// shr), 9.7.1 (popc, clz, brev, bfind, bfe, bfi, fns, szext, bmsk) and 9.7.9 (prmt).
#include "simulator/engine/ops/alu/forms.h"
#include "simulator/engine/ops/alu/lanes.h"

namespace lockstep::engine::alu {
namespace {

using isa::PrmtMode;

template <class T>
constexpr u32 kBits = 8 * sizeof(T);

template <class T>
struct UnsignedOf {
  using type = T;
};
template <>
struct UnsignedOf<s32> {
  using type = u32;
};
template <>
struct UnsignedOf<s64> {
  using type = u64;
};
template <class T>
using Unsigned = typename UnsignedOf<T>::type;

// Shift amounts above the width act as the width (9.7.8.8): everything is shifted out, or sign
// remains.
template <class T>
LOCKSTEP_INLINE T shift_left(T a, u32 n) {
  if constexpr (sizeof(T) == 2)
    return n > 15 ? T(0) : static_cast<T>(u32{a} << (n & 15));
  else
    return n >= kBits<T> ? T(0) : static_cast<T>(a << (n & (kBits<T> - 1)));
}
template <class T>
LOCKSTEP_INLINE T shift_right(T a, u32 n) {
  constexpr u32 kTop = kBits<T> - 1;
  if constexpr (T(-1) < T(0))
    return static_cast<T>(a >> (n > kTop ? kTop : n));
  else
    return n > kTop ? T(0) : static_cast<T>(a >> (n & kTop));
}

LOCKSTEP_INLINE u32 funnel_left(u32 a, u32 b, u32 n) {
  return static_cast<u32>((((u64{b} << 32) | a) << n) >> 32);
}
LOCKSTEP_INLINE u32 funnel_right(u32 a, u32 b, u32 n) {
  return static_cast<u32>(((u64{b} << 32) | a) >> n);
}
LOCKSTEP_INLINE u32 at_most_32(u32 n) { return n > 32 ? 32 : n; }

// One table entry per combination of three bits, evaluated as a tree of selections.
LOCKSTEP_INLINE u32 table_lookup(u32 a, u32 b, u32 c, u32 table) {
  u32 level[8];
  for (int i = 0; i < 8; ++i) level[i] = 0u - ((table >> i) & 1);
  for (int i = 0; i < 4; ++i) level[i] = level[2 * i] ^ ((level[2 * i] ^ level[2 * i + 1]) & c);
  for (int i = 0; i < 2; ++i) level[i] = level[2 * i] ^ ((level[2 * i] ^ level[2 * i + 1]) & b);
  return level[0] ^ ((level[0] ^ level[1]) & a);
}

// The table is one immediate, the same in every lane.
void lop3(Warp& w, const Op& op, LaneMask mask) {
  const u32* a = source<u32>(w, op.src[0]);
  const u32* b = source<u32>(w, op.src[1]);
  const u32* c = source<u32>(w, op.src[2]);
  const u32 table = *source<u32>(w, op.src[3]);
  u32* d = destination<u32>(w, op.dst);
  if (mask == kAllLanes) [[likely]] {
#pragma GCC ivdep
    for (int i = 0; i < kWarpSize; ++i) d[i] = table_lookup(a[i], b[i], c[i], table);
  } else {
    const Lanes<u32> selected(mask);
#pragma GCC ivdep
    for (int i = 0; i < kWarpSize; ++i) {
      const u32 r = table_lookup(a[i], b[i], c[i], table);
      d[i] = selected.words[i] != 0 ? r : d[i];
    }
  }
}

// lop3.BoolOp d|p, a, b, c, table, q: p = (d != 0) BoolOp q. q's slot is in Op::target, its
// negation bit 4 of Op::flags.
template <bool And>
void lop3_predicate(Warp& w, const Op& op, LaneMask mask) {
  const u32* a = source<u32>(w, op.src[0]);
  const u32* b = source<u32>(w, op.src[1]);
  const u32* c = source<u32>(w, op.src[2]);
  const u32 table = *source<u32>(w, op.src[3]);
  LaneMask q = predicate(w, op.as<program::ComputeFields>().fifth_source());
  if (op.as<program::ComputeFields>().negates(4)) q = ~q;
  LaneMask set = 0;
  u32 r[kWarpSize];
  for (int i = 0; i < kWarpSize; ++i) {
    r[i] = table_lookup(a[i], b[i], c[i], table);
    set |= u32{r[i] != 0} << i;
  }
  if (op.dst != kNoSlot) {
    u32* d = destination<u32>(w, op.dst);
    store_lanes(d, r, mask);
  }
  set_predicate(w, op.dst2, And ? set & q : set | q, mask);
}

template <auto F, int Sources>
void predicate_logic(Warp& w, const Op& op, LaneMask mask) {
  const LaneMask a = source_predicate(w, op, 0);
  const LaneMask b = Sources > 1 ? source_predicate(w, op, 1) : 0;
  set_predicate(w, op.dst, F(a, b), mask);
}

template <class T>
LOCKSTEP_INLINE u32 population(T a) {
  // Summing fields in parallel vectorises; the popcnt instruction does not.
  if constexpr (sizeof(T) == 4) {
    a = a - ((a >> 1) & 0x55555555u);
    a = (a & 0x33333333u) + ((a >> 2) & 0x33333333u);
    a = (a + (a >> 4)) & 0x0f0f0f0fu;
    return (a * 0x01010101u) >> 24;
  } else {
    return static_cast<u32>(__builtin_popcountll(a));
  }
}
template <class T>
LOCKSTEP_INLINE u32 leading_zeros(T a) {
  if constexpr (sizeof(T) == 4)
    return a == 0 ? 32 : static_cast<u32>(__builtin_clz(a));
  else
    return a == 0 ? 64 : static_cast<u32>(__builtin_clzll(a));
}

template <class T>
LOCKSTEP_INLINE T reversed(T a) {
  u64 v = a;
  v = ((v >> 1) & 0x5555555555555555u) | ((v & 0x5555555555555555u) << 1);
  v = ((v >> 2) & 0x3333333333333333u) | ((v & 0x3333333333333333u) << 2);
  v = ((v >> 4) & 0x0f0f0f0f0f0f0f0fu) | ((v & 0x0f0f0f0f0f0f0f0fu) << 4);
  v = __builtin_bswap64(v);
  return static_cast<T>(v >> (64 - kBits<T>));
}

// Position of the most significant bit that is not a sign bit; all ones when there is none.
template <class T, bool ShiftAmount>
LOCKSTEP_INLINE u32 find_bit(T a) {
  using U = Unsigned<T>;
  U v = static_cast<U>(a);
  if (T(-1) < T(0) && a < 0) v = ~v;
  if (v == 0) return 0xffffffffu;
  const u32 zeros = leading_zeros<U>(v);
  return ShiftAmount ? zeros : kBits<T> - 1 - zeros;
}

template <class T>
LOCKSTEP_INLINE u32 field_operand(u32 v) {
  return sizeof(T) == 4 ? v & 0xff : v;
}

// Position and length are the low bytes of b and c; the 64-bit forms use the whole words, as
// hardware does. Bits beyond the top read as the field's sign (signed) or as zero.
template <class T>
LOCKSTEP_INLINE T extract_field(T a, u32 b, u32 c) {
  constexpr u32 kTop = kBits<T> - 1;
  const u32 pos = field_operand<T>(b), len = field_operand<T>(c);
  if (len == 0) return 0;
  const u64 end = u64{pos} + len - 1;
  const u32 last = end > kTop ? kTop : static_cast<u32>(end);
  const bool sign = T(-1) < T(0) && ((static_cast<u64>(a) >> last) & 1);
  u64 field = pos > kTop ? 0 : static_cast<u64>(a) >> pos;
  if constexpr (sizeof(T) == 4)
    field = pos > kTop ? 0 : (static_cast<u64>(static_cast<u32>(a)) >> pos);
  const u32 have = pos > kTop ? 0 : (len > kTop + 1 - pos ? kTop + 1 - pos : len);
  const u64 keep = have >= 64 ? ~u64{0} : (u64{1} << have) - 1;
  field &= keep;
  if (sign) field |= ~keep;
  return static_cast<T>(field);
}

template <class T>
LOCKSTEP_INLINE T insert_field(T a, T b, u32 c, u32 d) {
  constexpr u32 kTop = kBits<T> - 1;
  const u32 pos = field_operand<T>(c), len = field_operand<T>(d);
  if (pos > kTop || len == 0) return b;
  const u32 have = len > kTop + 1 - pos ? kTop + 1 - pos : len;
  const u64 keep = (have >= 64 ? ~u64{0} : (u64{1} << have) - 1) << pos;
  return static_cast<T>((u64{b} & ~keep) | ((u64{a} << pos) & keep));
}

// Find the n-th set bit from `base`, upward for a positive offset, downward for a negative one
// (9.7.1.19).
LOCKSTEP_INLINE u32 find_nth_set(u32 mask, u32 base, s32 offset) {
  if (offset == -2147483647 - 1)
    return 0;  // hardware's result for the one offset without a negative
  if (base > 31) return 0xffffffffu;
  if (offset == 0) return (mask >> base) & 1 ? base : 0xffffffffu;
  const int step = offset > 0 ? 1 : -1;
  s64 left = offset > 0 ? s64{offset} : -s64{offset};
  for (int at = static_cast<int>(base); at >= 0 && at < 32; at += step) {
    if ((mask >> at) & 1) {
      if (--left == 0) return static_cast<u32>(at);
    }
  }
  return 0xffffffffu;
}

template <class T, bool Clamp>
LOCKSTEP_INLINE T extend(T a, u32 b) {
  u32 n = Clamp ? (b > 32 ? 32 : b) : b & 31;
  if (n == 0) return 0;
  if (n >= 32) return a;
  const u32 shift = 32 - n;
  return T(-1) < T(0) ? static_cast<T>(static_cast<s32>(static_cast<u32>(a) << shift) >> shift)
                      : static_cast<T>((static_cast<u32>(a) << shift) >> shift);
}

template <bool Clamp>
LOCKSTEP_INLINE u32 bit_mask(u32 a, u32 b) {
  const u32 from = Clamp ? (a > 32 ? 32 : a) : a & 31;
  const u32 width = Clamp ? (b > 32 ? 32 : b) : b & 31;
  const u64 ones = ((u64{1} << width) - 1) << from;
  return static_cast<u32>(ones);
}

// One selector nibble: a byte of b:a, or its sign replicated.
LOCKSTEP_INLINE u32 pick(u64 bytes, u32 selector) {
  const u32 byte = static_cast<u32>(bytes >> (8 * (selector & 7))) & 0xff;
  return selector & 8 ? (byte & 0x80 ? 0xff : 0) : byte;
}
template <PrmtMode Mode>
LOCKSTEP_INLINE u32 permute(u32 a, u32 b, u32 c) {
  const u64 bytes = u64{b} << 32 | a;
  u32 d = 0;
  for (u32 i = 0; i < 4; ++i) {
    const u32 n = c & 3;
    u32 selector = 0;
    if constexpr (Mode == PrmtMode::kNone)
      selector = (c >> (4 * i)) & 15;
    else if constexpr (Mode == PrmtMode::kF4e)
      selector = n + i;  // forward 4 extract
    else if constexpr (Mode == PrmtMode::kB4e)
      selector = (n - i) & 7;  // backward 4 extract
    else if constexpr (Mode == PrmtMode::kRc8)
      selector = n;  // replicate 8
    else if constexpr (Mode == PrmtMode::kEcl)
      selector = i > n ? i : n;  // edge clamp left
    else if constexpr (Mode == PrmtMode::kEcr)
      selector = i < n ? i : n;  // edge clamp right
    else
      selector = (n & 1) * 2 + (i & 1);  // replicate 16
    d |= pick(bytes, selector) << (8 * i);
  }
  return d;
}

template <class T>
Handler logic(const AluKey& key) {
  constexpr int n = sizeof(T);
  if (!only(key, 0)) return nullptr;
  switch (key.opcode) {
    case Opcode::k_and:
      return widths(key, n, n, n) ? &binary<T, T, T, [](T a, T b) { return static_cast<T>(a & b); }>
                                  : nullptr;
    case Opcode::k_or:
      return widths(key, n, n, n) ? &binary<T, T, T, [](T a, T b) { return static_cast<T>(a | b); }>
                                  : nullptr;
    case Opcode::k_xor:
      return widths(key, n, n, n) ? &binary<T, T, T, [](T a, T b) { return static_cast<T>(a ^ b); }>
                                  : nullptr;
    case Opcode::k_not:
      return widths(key, n, n) ? &unary<T, T, [](T a) { return static_cast<T>(~a); }> : nullptr;
    case Opcode::k_cnot:
      return widths(key, n, n) ? &unary<T, T, [](T a) { return static_cast<T>(a == 0); }> : nullptr;
    case Opcode::k_shl: return widths(key, n, n, 4) ? &binary<T, T, u32, shift_left<T>> : nullptr;
    default: return nullptr;
  }
}

Handler predicate_form(const AluKey& key) {
  if (!only(key, 0)) return nullptr;
  switch (key.opcode) {
    case Opcode::k_and:
      return widths(key, 0, 0, 0)
                 ? &predicate_logic<[](LaneMask a, LaneMask b) { return a & b; }, 2>
                 : nullptr;
    case Opcode::k_or:
      return widths(key, 0, 0, 0)
                 ? &predicate_logic<[](LaneMask a, LaneMask b) { return a | b; }, 2>
                 : nullptr;
    case Opcode::k_xor:
      return widths(key, 0, 0, 0)
                 ? &predicate_logic<[](LaneMask a, LaneMask b) { return a ^ b; }, 2>
                 : nullptr;
    case Opcode::k_not:
      return widths(key, 0, 0) ? &predicate_logic<[](LaneMask a, LaneMask) { return ~a; }, 1>
                               : nullptr;
    default: return nullptr;
  }
}

template <class T>
Handler right(const AluKey& key) {
  return only(key, 0) && widths(key, sizeof(T), sizeof(T), 4) ? &binary<T, T, u32, shift_right<T>>
                                                              : nullptr;
}

Handler shift_right_form(const AluKey& key) {
  switch (key.modifiers.type) {
    case Type::kB16:
    case Type::kU16: return right<u16>(key);
    case Type::kB32:
    case Type::kU32: return right<u32>(key);
    case Type::kB64:
    case Type::kU64: return right<u64>(key);
    case Type::kS16: return right<s16>(key);
    case Type::kS32: return right<s32>(key);
    case Type::kS64: return right<s64>(key);
    default: return nullptr;
  }
}

Handler funnel_form(const AluKey& key) {
  if (key.modifiers.type != Type::kB32 || !only(key, kLeft | kClamp) || !widths(key, 4, 4, 4, 4))
    return nullptr;
  if (key.modifiers.left) {
    return key.modifiers.clamp
               ? &ternary<u32, u32, u32, u32,
                          [](u32 a, u32 b, u32 n) { return funnel_left(a, b, at_most_32(n)); }>
               : &ternary<u32, u32, u32, u32,
                          [](u32 a, u32 b, u32 n) { return funnel_left(a, b, n & 31); }>;
  }
  return key.modifiers.clamp
             ? &ternary<u32, u32, u32, u32,
                        [](u32 a, u32 b, u32 n) { return funnel_right(a, b, at_most_32(n)); }>
             : &ternary<u32, u32, u32, u32,
                        [](u32 a, u32 b, u32 n) { return funnel_right(a, b, n & 31); }>;
}

Handler lop3_form(const AluKey& key) {
  if (key.modifiers.type != Type::kB32 || !only(key, kBoolOp)) return nullptr;
  if (key.modifiers.bool_op == isa::BoolOp::kNone) {
    return !key.has_second_destination && widths(key, 4, 4, 4, 4, 4) ? &lop3 : nullptr;
  }
  // d|p, a, b, c, table, q: the two destinations count as one operand.
  if (!key.has_second_destination || !widths(key, 4, 4, 4, 4, 4, 0)) return nullptr;
  if (key.modifiers.bool_op == isa::BoolOp::kAnd) return &lop3_predicate<true>;
  if (key.modifiers.bool_op == isa::BoolOp::kOr) return &lop3_predicate<false>;
  return nullptr;
}

template <class T>
Handler count_form(const AluKey& key) {
  if (!only(key, 0)) return nullptr;
  switch (key.opcode) {
    case Opcode::k_popc: return widths(key, 4, sizeof(T)) ? &unary<u32, T, population<T>> : nullptr;
    case Opcode::k_clz:
      return widths(key, 4, sizeof(T)) ? &unary<u32, T, leading_zeros<T>> : nullptr;
    case Opcode::k_brev:
      return widths(key, sizeof(T), sizeof(T)) ? &unary<T, T, reversed<T>> : nullptr;
    default: return nullptr;
  }
}

template <class T>
Handler field_form(const AluKey& key) {
  constexpr int n = sizeof(T);
  if (key.opcode == Opcode::k_bfind) {
    if (!only(key, kShiftAmount) || !widths(key, 4, n)) return nullptr;
    return key.modifiers.shift_amount ? &unary<u32, T, find_bit<T, true>>
                                      : &unary<u32, T, find_bit<T, false>>;
  }
  return only(key, 0) && widths(key, n, n, 4, 4) ? &ternary<T, T, u32, u32, extract_field<T>>
                                                 : nullptr;
}

template <class T>
Handler extend_form(const AluKey& key) {
  if (!only(key, kClamp) || !widths(key, 4, 4, 4)) return nullptr;
  return key.modifiers.clamp ? &binary<T, T, u32, extend<T, true>>
                             : &binary<T, T, u32, extend<T, false>>;
}

Handler permute_form(const AluKey& key) {
  if (key.modifiers.type != Type::kB32 || !only(key, kPrmt) || !widths(key, 4, 4, 4, 4))
    return nullptr;
  switch (key.modifiers.prmt) {
    case PrmtMode::kNone: return &ternary<u32, u32, u32, u32, permute<PrmtMode::kNone>>;
    case PrmtMode::kF4e: return &ternary<u32, u32, u32, u32, permute<PrmtMode::kF4e>>;
    case PrmtMode::kB4e: return &ternary<u32, u32, u32, u32, permute<PrmtMode::kB4e>>;
    case PrmtMode::kRc8: return &ternary<u32, u32, u32, u32, permute<PrmtMode::kRc8>>;
    case PrmtMode::kEcl: return &ternary<u32, u32, u32, u32, permute<PrmtMode::kEcl>>;
    case PrmtMode::kEcr: return &ternary<u32, u32, u32, u32, permute<PrmtMode::kEcr>>;
    case PrmtMode::kRc16: return &ternary<u32, u32, u32, u32, permute<PrmtMode::kRc16>>;
  }
  return nullptr;
}

}  // namespace

Handler resolve_bits(const AluKey& key) {
  const Type type = key.modifiers.type;
  switch (key.opcode) {
    case Opcode::k_and:
    case Opcode::k_or:
    case Opcode::k_xor:
    case Opcode::k_not:
    case Opcode::k_cnot:
    case Opcode::k_shl:
      if (type == Type::kPred) return predicate_form(key);
      if (type == Type::kB16) return logic<u16>(key);
      if (type == Type::kB32) return logic<u32>(key);
      if (type == Type::kB64) return logic<u64>(key);
      return nullptr;
    case Opcode::k_shr: return shift_right_form(key);
    case Opcode::k_shf: return funnel_form(key);
    case Opcode::k_lop3: return lop3_form(key);
    case Opcode::k_popc:
    case Opcode::k_clz:
    case Opcode::k_brev:
      if (type == Type::kB32) return count_form<u32>(key);
      if (type == Type::kB64) return count_form<u64>(key);
      return nullptr;
    case Opcode::k_bfind:
    case Opcode::k_bfe:
      if (type == Type::kU32) return field_form<u32>(key);
      if (type == Type::kS32) return field_form<s32>(key);
      if (type == Type::kU64) return field_form<u64>(key);
      if (type == Type::kS64) return field_form<s64>(key);
      return nullptr;
    case Opcode::k_bfi:
      if (type == Type::kB32 && only(key, 0) && widths(key, 4, 4, 4, 4, 4))
        return &quaternary<u32, u32, u32, u32, u32, insert_field<u32>>;
      if (type == Type::kB64 && only(key, 0) && widths(key, 8, 8, 8, 4, 4))
        return &quaternary<u64, u64, u64, u32, u32, insert_field<u64>>;
      return nullptr;
    case Opcode::k_fns:
      return type == Type::kB32 && only(key, 0) && widths(key, 4, 4, 4, 4)
                 ? &ternary<u32, u32, u32, s32, find_nth_set>
                 : nullptr;
    case Opcode::k_szext:
      if (type == Type::kU32) return extend_form<u32>(key);
      if (type == Type::kS32) return extend_form<s32>(key);
      return nullptr;
    case Opcode::k_bmsk:
      if (type != Type::kB32 || !only(key, kClamp) || !widths(key, 4, 4, 4)) return nullptr;
      return key.modifiers.clamp ? &binary<u32, u32, u32, bit_mask<true>>
                                 : &binary<u32, u32, u32, bit_mask<false>>;
    case Opcode::k_prmt: return permute_form(key);
    default: return nullptr;
  }
}

}  // namespace lockstep::engine::alu
