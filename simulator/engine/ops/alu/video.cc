// Video instructions: scalar ones on bytes, halves and words, SIMD ones on halves and bytes (PTX
// ISA 9.0, 9.7.18 and 9.7.19).
//
// They are rare, so one handler reads from the operation what to do. Intermediate values have as
// many bits as they need, as the manual requires.
#include "simulator/program/video.h"

#include "simulator/engine/ops/alu/converting.h"
#include "simulator/engine/ops/alu/forms.h"
#include "simulator/engine/ops/alu/lanes.h"

namespace lockstep::engine::alu {
namespace {

using program::Video;
using Work = Video::Work;
using Second = Video::Second;

// `bits` bits of v from bit `at`, extended.
LOCKSTEP_INLINE s64 field(u32 v, int at, int bits, bool is_signed) {
  const u64 low = (u64{v} >> at) & ((u64{1} << bits) - 1);
  return is_signed && (low >> (bits - 1) & 1) ? static_cast<s64>(low) - (s64{1} << bits)
                                              : static_cast<s64>(low);
}

LOCKSTEP_INLINE s64 part(u32 v, int selector, bool is_signed) {
  if (selector == 0) return field(v, 0, 32, is_signed);
  return selector <= 4 ? field(v, 8 * (selector - 1), 8, is_signed)
                       : field(v, 16 * (selector - 5), 16, is_signed);
}
LOCKSTEP_INLINE int part_bits(int selector) { return selector == 0 ? 32 : selector <= 4 ? 8 : 16; }
LOCKSTEP_INLINE int part_begin(int selector) {
  return selector == 0 ? 0 : selector <= 4 ? 8 * (selector - 1) : 16 * (selector - 5);
}

LOCKSTEP_INLINE s128 limited(s128 v, int bits, bool is_signed) {
  const s128 low = is_signed ? -(s64{1} << (bits - 1)) : 0,
             high = (s64{1} << (is_signed ? bits - 1 : bits)) - 1;
  return v < low ? low : v > high ? high : v;
}

LOCKSTEP_INLINE bool holds(s64 a, s64 b, isa::Compare c) {
  switch (c) {
    case isa::Compare::kEq: return a == b;
    case isa::Compare::kNe: return a != b;
    case isa::Compare::kLt: return a < b;
    case isa::Compare::kLe: return a <= b;
    case isa::Compare::kGt: return a > b;
    default: return a >= b;
  }
}

LOCKSTEP_INLINE s128 worked(const Video& f, s64 a, s64 b) {
  switch (static_cast<Work>(f.work)) {
    case Work::kAdd: return a + b;
    case Work::kSub: return a - b;
    case Work::kAbsoluteDifference: return a < b ? b - a : a - b;
    case Work::kMin: return a < b ? a : b;
    case Work::kMax: return a < b ? b : a;
    case Work::kAverage: return a + b >= 0 ? (a + b + 1) >> 1 : (a + b) >> 1;
    case Work::kCompare: return holds(a, b, static_cast<isa::Compare>(f.compare));
    case Work::kShiftLeft:
    case Work::kShiftRight: {
      const s64 n = f.flags & Video::kWraps ? b & 31 : b > 32 ? 32 : b;
      return static_cast<Work>(f.work) == Work::kShiftLeft ? static_cast<s128>(a) << n : a >> n;
    }
    default: return 0;
  }
}

LOCKSTEP_INLINE u32 multiplied(const Video& f, s64 a, s64 b, u32 c) {
  s128 product = static_cast<s128>(a) * b;
  const bool minus = f.flags & Video::kMinusProduct, minus_c = f.flags & Video::kMinusC;
  const bool is_signed = (f.flags & (Video::kSignedA | Video::kSignedB)) || minus || minus_c;
  // The last source is as wide as the product is signed.
  s128 sum = is_signed ? static_cast<s128>(static_cast<s32>(c)) : static_cast<s128>(c);
  int one = f.flags & Video::kPlusOne ? 1 : 0;
  if (minus) {
    product = ~product;
    one = 1;
  } else if (minus_c) {
    sum = ~sum;
    one = 1;
  }
  s128 r = (product + sum + one) >> f.shift;
  if (f.flags & Video::kSaturates) {
    const s128 low = is_signed ? -(s128{1} << 31) : 0,
               high = (s128{1} << (is_signed ? 31 : 32)) - 1;
    r = r < low ? low : r > high ? high : r;
  }
  return static_cast<u32>(r);
}

LOCKSTEP_INLINE u32 scalar(const Video& f, u32 a, u32 b, u32 c) {
  const bool is_signed = f.flags & Video::kSignedResult;
  const s64 x = part(a, f.a, f.flags & Video::kSignedA),
            y = part(b, f.b, f.flags & Video::kSignedB);
  if (static_cast<Work>(f.work) == Work::kMultiplyAdd) return multiplied(f, x, y, c);
  s128 r = worked(f, x, y);
  if (f.flags & Video::kSaturates) r = limited(r, part_bits(f.to), is_signed);
  if (f.to != 0) {
    const u32 mask = ((f.to <= 4 ? 0xffu : 0xffffu)) << part_begin(f.to);
    return (c & ~mask) | ((static_cast<u32>(r) << part_begin(f.to)) & mask);
  }
  const s64 word = field(static_cast<u32>(r), 0, 32, is_signed), other = field(c, 0, 32, is_signed);
  switch (static_cast<Second>(f.second)) {
    case Second::kNone: return static_cast<u32>(r);
    case Second::kAdd: return static_cast<u32>(r) + c;
    case Second::kMin: return static_cast<u32>(word < other ? word : other);
    default: return static_cast<u32>(word < other ? other : word);
  }
}

LOCKSTEP_INLINE u32 simd(const Video& f, u32 a, u32 b, u32 c) {
  const int lanes = 2 * f.lanes, bits = 32 / lanes;
  const bool is_signed = f.flags & Video::kSignedResult,
             adds = static_cast<Second>(f.second) == Second::kAdd;
  u32 d = c;
  for (int i = 0; i < lanes; ++i) {
    if (!(f.to >> i & 1)) continue;
    const int from_a = f.a >> (3 * i) & 7, from_b = f.b >> (3 * i) & 7;
    const s64 x =
        field(from_a < lanes ? a : b, bits * (from_a % lanes), bits, f.flags & Video::kSignedA);
    const s64 y =
        field(from_b < lanes ? a : b, bits * (from_b % lanes), bits, f.flags & Video::kSignedB);
    s128 r = worked(f, x, y);
    if (f.flags & Video::kSaturates) r = limited(r, bits, is_signed);
    if (adds) {
      d += static_cast<u32>(r);
    } else {
      const u32 mask = ((u32{1} << bits) - 1) << (bits * i);
      d = (d & ~mask) | ((static_cast<u32>(r) << (bits * i)) & mask);
    }
  }
  return d;
}

void run_video(Warp& w, const Op& op, LaneMask mask) {
  const Video f = __builtin_bit_cast(Video, op.immediate);
  const u32* a = source<u32>(w, op.src[0]);
  const u32* b = source<u32>(w, op.src[1]);
  const u32* c = op.src[2] != kNoSlot ? source<u32>(w, op.src[2]) : a;  // it is not looked at
  u32* d = destination<u32>(w, op.dst);
  for (int i = 0; i < kWarpSize; ++i) {
    if (mask >> i & 1)
      d[i] = f.lanes == 0 ? scalar(f, a[i], b[i], c[i]) : simd(f, a[i], b[i], c[i]);
  }
}

}  // namespace

Handler resolve_selecting_video(const AluKey& key) {
  if (key.operand_count != 3 && key.operand_count != 4) return nullptr;
  for (int i = 0; i < key.operand_count; ++i) {
    if (key.register_bytes[i] != 4) return nullptr;
  }
  return &run_video;
}

}  // namespace lockstep::engine::alu
