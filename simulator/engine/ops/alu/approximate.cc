// Approximate instructions: PTX ISA 9.7.3 (div.approx, div.full, rcp.approx, sqrt.approx,
// rsqrt.approx, sin, cos, lg2, ex2, tanh).
//
// PTX bounds their error and does not define the bits. Here they are computed in double precision
// and rounded once, well within every bound. Zeros, infinities, NaNs and subnormals give the
// manual's results.
#include "simulator/engine/ops/alu/elementary.h"
#include "simulator/engine/ops/alu/forms.h"

namespace lockstep::engine::alu {
namespace {

struct Exp2 {
  LOCKSTEP_INLINE static f32 of(f32 a) {
    const f32 r = static_cast<f32>(exp2_f64(a));
    return a == a ? r : a;
  }
};
struct Log2 {
  LOCKSTEP_INLINE static f32 of(f32 a) {
    const f64 x = a;
    f64 r = log2_f64(x > 0 ? x : 1.0);
    r = x > 0 ? r : x == 0 ? -__builtin_inf() : __builtin_nan("");
    return static_cast<f32>(a == __builtin_inff() ? __builtin_inf() : r);
  }
};
// Hardware first multiplies by 1 / (2 pi) in single precision. The rounding of that product is most
// of the error that the manual allows, and makes the sine of anything beyond 2^24 turns zero. This
// code does the same, so that large arguments give the same results.
constexpr f32 kTurnsPerRadian = 0.15915494309189533577f;
struct Sine {
  LOCKSTEP_INLINE static f32 of(f32 a) {
    const f32 turns = a * kTurnsPerRadian;
    const bool finite = (bits_as<u32>(a) & 0x7fffffffu) < 0x7f800000u;
    const f64 fraction = static_cast<f64>(turns - __builtin_roundevenf(turns));
    const f32 r = static_cast<f32>(sincos_turns(fraction).sin);
    // Too small for the product to keep its digits: the sine equals the argument.
    const bool tiny = (bits_as<u32>(a) & 0x7fffffffu) < 0x30000000u;
    return tiny ? a : finite ? r : canonical_nan();
  }
};
struct Cosine {
  LOCKSTEP_INLINE static f32 of(f32 a) {
    const f32 turns = a * kTurnsPerRadian;
    const bool finite = (bits_as<u32>(a) & 0x7fffffffu) < 0x7f800000u;
    const f64 fraction = static_cast<f64>(turns - __builtin_roundevenf(turns));
    const f32 r = static_cast<f32>(sincos_turns(fraction).cos);
    return finite ? r : canonical_nan();
  }
};
struct Tanh {
  LOCKSTEP_INLINE static f32 of(f32 a) {
    const f32 r = static_cast<f32>(tanh_f64(a));
    return a == a ? r : a;
  }
};
struct Reciprocal {
  LOCKSTEP_INLINE static f32 of(f32 a) { return 1.0f / a; }
};
struct Root {
  LOCKSTEP_INLINE static f32 of(f32 a) { return __builtin_sqrtf(a); }
};
struct ReciprocalRoot {
  LOCKSTEP_INLINE static f32 of(f32 a) {
    return static_cast<f32>(1.0 / __builtin_sqrt(static_cast<f64>(a)));
  }
};

template <class O>
LOCKSTEP_INLINE f32 approximated(f32 a) {
  return canonical(O::of(a));
}

template <class O>
Handler one(const AluKey& key) {
  if (!key.modifiers.approx || !only(key, kApprox | kFtz) || !widths(key, 4, 4)) return nullptr;
  return key.modifiers.ftz ? &unary<f32, f32, approximated<O>, Round::kNearest, true>
                           : &unary<f32, f32, approximated<O>>;
}

// a * (1 / b). The reciprocal of a large b vanishes: the quotient is then zero, or NaN if a is
// infinite.
LOCKSTEP_INLINE f32 divided_approx(f32 a, f32 b) {
  const u32 magnitude = bits_as<u32>(b) & 0x7fffffffu;
  const bool vanishes = magnitude > 0x7e800000u && magnitude < 0x7f800000u;  // 2^126 < |b| < 2^128
  const f32 zero = bits_as<f32>(bits_as<u32>(b) & 0x80000000u);
  return canonical(vanishes ? a * zero : a / b);
}
LOCKSTEP_INLINE f32 divided_full(f32 a, f32 b) { return canonical(a / b); }

Handler divide(const AluKey& key) {
  if (!widths(key, 4, 4, 4)) return nullptr;
  if (key.modifiers.approx && only(key, kApprox | kFtz))
    return key.modifiers.ftz ? &binary<f32, f32, f32, divided_approx, Round::kNearest, true>
                             : &binary<f32, f32, f32, divided_approx>;
  if (key.modifiers.full && only(key, kFull | kFtz))
    return key.modifiers.ftz ? &binary<f32, f32, f32, divided_full, Round::kNearest, true>
                             : &binary<f32, f32, f32, divided_full>;
  return nullptr;
}

// The f64 forms use only the high word of the operand and return a result whose low word is zero.
constexpr u64 kHighWord = 0xffffffff00000000u;
LOCKSTEP_INLINE f64 high_operand(f64 a) {
  const u64 bits = bits_as<u64>(a);
  const u64 exponent = bits & 0x7ff0000000000000u;
  return bits_as<f64>(exponent == 0 ? bits & 0x8000000000000000u : bits & kHighWord);
}
LOCKSTEP_INLINE f64 high_result(f64 r, bool is_nan) {
  const u64 bits = bits_as<u64>(r);
  const u64 exponent = bits & 0x7ff0000000000000u;
  const u64 flushed_bits = exponent == 0 ? bits & 0x8000000000000000u : bits & kHighWord;
  return bits_as<f64>(is_nan ? u64{0x7fffffff00000000u} : flushed_bits);
}
LOCKSTEP_INLINE f64 gross_reciprocal(f64 a) {
  const f64 high =
      high_operand(a);  // a NaN whose payload is in the low word alone counts as infinite
  return high_result(1.0 / high, high != high);
}
LOCKSTEP_INLINE f64 gross_reciprocal_root(f64 a) {
  const f64 r = 1.0 / __builtin_sqrt(high_operand(a));
  return high_result(r, r != r);
}

Handler gross(const AluKey& key) {
  if (!key.modifiers.approx || !only(key, kApprox | kFtz) || !widths(key, 8, 8)) return nullptr;
  if (key.opcode == Opcode::k_rcp)
    return key.modifiers.ftz ? &unary<f64, f64, gross_reciprocal> : nullptr;
  if (key.modifiers.ftz) return &unary<f64, f64, gross_reciprocal_root>;
  return &unary<f64, f64, [](f64 a) {
    const f64 r = 1.0 / __builtin_sqrt(a);
    return r == r ? r : a == a ? kMadeNaN : quieted(a);
  }>;
}

}  // namespace

Handler resolve_approximate(const AluKey& key) {
  if (key.modifiers.type == Type::kF64 &&
      (key.opcode == Opcode::k_rcp || key.opcode == Opcode::k_rsqrt))
    return gross(key);
  if (key.modifiers.type != Type::kF32) return nullptr;
  switch (key.opcode) {
    case Opcode::k_ex2: return one<Exp2>(key);
    case Opcode::k_lg2: return one<Log2>(key);
    case Opcode::k_sin: return one<Sine>(key);
    case Opcode::k_cos: return one<Cosine>(key);
    case Opcode::k_tanh: return key.modifiers.ftz ? nullptr : one<Tanh>(key);
    case Opcode::k_rcp: return one<Reciprocal>(key);
    case Opcode::k_sqrt: return one<Root>(key);
    case Opcode::k_rsqrt: return one<ReciprocalRoot>(key);
    case Opcode::k_div: return divide(key);
    default: return nullptr;
  }
}

}  // namespace lockstep::engine::alu
