// Floating-point instructions: computed exactly, rounded once.
#include <algorithm>

#include "simulator/engine/ops/alu/exact_reference.h"
#include "simulator/fuzz/differential/reference.h"

namespace lockstep::fuzz::differential {
namespace {

namespace exact = engine::exact;
using exact::Direction;
using exact::Format;
using exact::Number;
using isa::Modifiers;
using isa::Opcode;
using isa::Rounding;
using isa::Type;
using Bits = std::uint64_t;

// tf32 lies in the upper bits of an f32.
constexpr Format kTF32{11, 8, 0x7fffffff >> 13};

const Format* format_of(Type t) {
  switch (t) {
    case Type::kF16:
    case Type::kF16x2: return &exact::kF16;
    case Type::kBF16:
    case Type::kBF16x2: return &exact::kBF16;
    case Type::kF32:
    case Type::kF32x2: return &exact::kF32;
    case Type::kF64: return &exact::kF64;
    default: return nullptr;
  }
}

Direction direction_of(Rounding r) {
  switch (r) {
    case Rounding::kZero:
    case Rounding::kIntZero: return Direction::kZero;
    case Rounding::kDown:
    case Rounding::kIntDown: return Direction::kDown;
    case Rounding::kUp:
    case Rounding::kIntUp: return Direction::kUp;
    case Rounding::kNearestAway: return Direction::kNearestAway;
    default: return Direction::kNearestEven;
  }
}

Bits finished(Bits r, const Modifiers& m, const Format& f) {
  const bool nan = exact::is_nan_bits(r, f), negative = r & f.sign_bit();
  if (m.sat) {
    const Bits one = static_cast<Bits>(f.bias()) << (f.precision - 1);
    return nan || negative ? 0 : std::min(r, one);
  }
  if (m.relu) return nan ? f.canonical_nan : negative ? 0 : r;
  return r;
}

Bits rounded(const Number& n, const Modifiers& m, const Format& f) {
  const Direction d = direction_of(m.rounding);
  return finished(m.ftz ? exact::encode_flushed(n, f, d) : exact::encode(n, f, d), m, f);
}

Bits smaller_or_larger(const Modifiers& m, const Format& f, bool smaller, Bits a, Bits b) {
  if (m.ftz) a = exact::flush(a, f), b = exact::flush(b, f);
  const Bits sign = (a ^ b) & f.sign_bit();
  if (m.xorsign_abs || m.abs) a &= ~f.sign_bit(), b &= ~f.sign_bit();
  const bool nan_a = exact::is_nan_bits(a, f), nan_b = exact::is_nan_bits(b, f);
  if ((nan_a && nan_b) || (m.nan && (nan_a || nan_b))) return f.canonical_nan;
  Bits r;
  if (nan_a || nan_b) {
    r = nan_a ? b : a;
  } else {
    const int order = exact::compare(exact::decode(a, f), exact::decode(b, f));
    // Of the zeros, the negative one is the smaller.
    const bool a_first = order != 0 ? order < 0 : (a & f.sign_bit()) != 0;
    r = a_first == smaller ? a : b;
  }
  return m.xorsign_abs ? r | sign : r;
}

// An operation on one element of format f.
bool element(Opcode op, const Modifiers& m, const Format& f, const Bits* in, Bits* to) {
  const auto n = [&](int i) { return exact::decode(m.ftz ? exact::flush(in[i], f) : in[i], f); };
  const Direction d = direction_of(m.rounding);
  switch (op) {
    case Opcode::k_add: *to = rounded(exact::add(n(0), n(1), d), m, f); return true;
    case Opcode::k_sub: *to = rounded(exact::add(n(0), exact::negate(n(1)), d), m, f); return true;
    case Opcode::k_mul: *to = rounded(exact::multiply(n(0), n(1)), m, f); return true;
    case Opcode::k_fma:
    case Opcode::k_mad:
      if (m.oob) return false;
      *to = rounded(exact::add(exact::multiply(n(0), n(1)), n(2), d), m, f);
      return true;
    case Opcode::k_div: *to = rounded(exact::divide(n(0), n(1)), m, f); return !m.full;
    case Opcode::k_rcp:
      *to = rounded(exact::divide(exact::integer(false, 1), n(0)), m, f);
      return true;
    case Opcode::k_sqrt: *to = rounded(exact::square_root(n(0)), m, f); return true;
    case Opcode::k_abs: *to = (m.ftz ? exact::flush(in[0], f) : in[0]) & ~f.sign_bit(); return true;
    case Opcode::k_neg: *to = (m.ftz ? exact::flush(in[0], f) : in[0]) ^ f.sign_bit(); return true;
    case Opcode::k_min:
    case Opcode::k_max:
      *to = smaller_or_larger(m, f, op == Opcode::k_min, in[0], in[1]);
      return true;
    case Opcode::k_copysign: *to = (in[0] & f.sign_bit()) | (in[1] & ~f.sign_bit()); return true;
    default: return false;
  }
}

bool classified(isa::TestpOp op, Bits b, const Format& f) {
  const Bits magnitude = b & ~f.sign_bit();
  const bool nan = magnitude > f.infinity(), infinite = magnitude == f.infinity(),
             subnormal = exact::is_subnormal(b, f);
  switch (op) {
    case isa::TestpOp::kFinite: return !nan && !infinite;
    case isa::TestpOp::kInfinite: return infinite;
    case isa::TestpOp::kNumber: return !nan;
    case isa::TestpOp::kNotANumber: return nan;
    case isa::TestpOp::kNormal:
      return !nan && !infinite && !subnormal;  // zeros are normal, says the manual
    default: return subnormal;
  }
}

bool is_integer(Type t) {
  switch (t) {
    case Type::kU8:
    case Type::kU16:
    case Type::kU32:
    case Type::kU64:
    case Type::kS8:
    case Type::kS16:
    case Type::kS32:
    case Type::kS64: return true;
    default: return false;
  }
}

Number number_of(Bits b, Type t) {
  const int width = 8 * isa::size_of(t);
  if (width < 64) b &= (Bits{1} << width) - 1;
  if (!is_signed(t) || !(b >> (width - 1) & 1)) return exact::integer(false, b);
  return exact::integer(true, (static_cast<unsigned __int128>(1) << width) - b);
}

bool rounds_to_integer(Rounding r) {
  return r == Rounding::kIntNearestEven || r == Rounding::kIntZero || r == Rounding::kIntDown ||
         r == Rounding::kIntUp;
}

bool convert(const Modifiers& as_spelled, std::span<const Bits> in, std::string_view text,
             Bits* to) {
  Modifiers m = as_spelled;
  const bool satfinite = text.find(".satfinite") != std::string_view::npos;
  if (satfinite) m.sat = false;
  const Type from = m.source_type;
  const Direction d = direction_of(m.rounding);
  const Format* source = format_of(from);
  const Format* destination = format_of(m.type);
  const auto finite = [&](Bits r, const Format& f) {
    return satfinite && (r & ~f.sign_bit()) == f.infinity() ? r - 1 : r;
  };
  if (m.rounding == Rounding::kStochastic) return false;
  if (is_integer(from)) {
    if (destination == nullptr) return false;
    *to = finished(exact::encode(number_of(in[0], from), *destination, d), m, *destination);
    return true;
  }
  if (source == nullptr || from == Type::kF16x2 || from == Type::kBF16x2)
    return false;  // the eight-bit formats
  const Bits a = m.ftz && from == Type::kF32 ? exact::flush(in[0], *source) : in[0];
  const Number n = exact::decode(a, *source);
  if (is_integer(m.type)) {
    const int width = 8 * isa::size_of(m.type);
    const Number whole = exact::to_integral(n, d);
    Bits r;
    if (n.is_nan()) {
      r = 0;
    } else {
      const bool sign = is_signed(m.type);
      const Number low =
          sign ? exact::integer(true, static_cast<unsigned __int128>(1) << (width - 1))
               : exact::zero(false);
      const Number high = exact::integer(
          false, (static_cast<unsigned __int128>(1) << (width - (sign ? 1 : 0))) - 1);
      const Number& c = exact::compare(whole, low) < 0    ? low
                        : exact::compare(whole, high) > 0 ? high
                                                          : whole;
      r = c.is_zero() ? 0 : c.magnitude.shifted_left(c.exponent).from_bit(0);
      if (c.negative) r = Bits{0} - r;
    }
    if (width < 64) {
      r &= (Bits{1} << width) - 1;
      if (is_signed(m.type) && (r >> (width - 1) & 1)) r |= ~((Bits{1} << width) - 1);
    }
    *to = r;
    return true;
  }
  if (m.type == Type::kTF32) {
    Bits r = exact::encode(n, kTF32, d);
    if (satfinite && (r & ~kTF32.sign_bit()) == kTF32.infinity()) --r;
    if (m.relu && !n.is_nan() && n.negative) r = 0;
    *to = n.is_nan() ? 0x7fffffff : r << 13;
    return true;
  }
  if (destination == nullptr) return false;
  if (m.type == Type::kF16 && from == Type::kF32 && m.ftz)
    return false;  // the manual does not clearly define what it flushes
  if (m.type == Type::kF16x2 || m.type == Type::kBF16x2) {
    const auto one = [&](Bits b) {
      Bits r = exact::encode(exact::decode(b, *source), *destination, d);
      if (m.relu)
        r = exact::is_nan_bits(r, *destination) ? destination->canonical_nan
            : r & destination->sign_bit()       ? 0
                                                : r;
      return finite(r, *destination);
    };
    *to = one(in[0]) << 16 | one(in[1]);
    return true;
  }
  if (rounds_to_integer(m.rounding)) {
    *to = finished(exact::encode(exact::to_integral(n, d), *destination, Direction::kNearestEven),
                   m, *destination);
    return true;
  }
  const bool flushes = m.ftz && m.type == Type::kF32;
  *to = finite(finished(flushes ? exact::encode_flushed(n, *destination, d)
                                : exact::encode(n, *destination, d),
                        m, *destination),
               *destination);
  return true;
}

}  // namespace

int order_of(Type type, bool ftz, Bits a, Bits b) {
  const int width = 8 * isa::size_of(type);
  if (const Format* f = format_of(type)) {
    const Bits mask = width >= 64 ? ~Bits{0} : (Bits{1} << width) - 1;
    a &= mask, b &= mask;
    if (ftz) a = exact::flush(a, *f), b = exact::flush(b, *f);
    return exact::compare(exact::decode(a, *f), exact::decode(b, *f));
  }
  if (width == 0) return -2;
  const int spare = 64 - width;
  if (is_signed(type)) {
    const auto x = static_cast<std::int64_t>(a << spare), y = static_cast<std::int64_t>(b << spare);
    return x < y ? -1 : x > y;
  }
  return a << spare < b << spare ? -1 : a << spare > b << spare;
}

bool evaluate_float(const isa::Spelling& spelling, std::span<const Bits> in, Values& to) {
  const Modifiers& m = spelling.modifiers;
  const Opcode op = spelling.form->row->opcode;
  if (m.approx || m.full) return false;
  if (op == Opcode::k_cvt) return convert(m, in, spelling.text, &to.first);
  const Format* f = format_of(m.type);
  if (f == nullptr) return false;
  if (op == Opcode::k_testp) {
    to.first = classified(m.testp, in[0], *f);
    return true;
  }
  if (m.source_type != Type::kNone) return false;  // mixed precision
  if (in.size() == 3 && (op == Opcode::k_min || op == Opcode::k_max)) {
    Bits two = smaller_or_larger(m, *f, op == Opcode::k_min, in[0], in[1]);
    to.first = smaller_or_larger(m, *f, op == Opcode::k_min, two, in[2]);
    return true;
  }
  const bool packed = m.type == Type::kF16x2 || m.type == Type::kBF16x2 || m.type == Type::kF32x2;
  if (!packed) return element(op, m, *f, in.data(), &to.first);
  const int half = 4 * isa::size_of(m.type);
  const Bits mask = (Bits{1} << half) - 1;
  Bits low[3], high[3], l = 0, h = 0;
  for (std::size_t i = 0; i < in.size() && i < 3; ++i)
    low[i] = in[i] & mask, high[i] = in[i] >> half & mask;
  if (!element(op, m, *f, low, &l) || !element(op, m, *f, high, &h)) return false;
  to.first = h << half | l;
  return true;
}

bool evaluate(const isa::Spelling& spelling, std::span<const Bits> in, bool& carry, Values& to) {
  const Modifiers& m = spelling.modifiers;
  const Opcode op = spelling.form->row->opcode;
  switch (op) {
    case Opcode::k_mov:
    case Opcode::k_selp:
    case Opcode::k_slct:
    case Opcode::k_set:
    case Opcode::k_setp: return evaluate_integer(spelling, in, carry, to);
    case Opcode::k_cvt:
      if (is_integer(m.type) && is_integer(m.source_type))
        return evaluate_integer(spelling, in, carry, to);
      break;
    case Opcode::k_cvt_pack: return evaluate_integer(spelling, in, carry, to);
    default:
      if (format_of(m.type) == nullptr) return evaluate_integer(spelling, in, carry, to);
      break;
  }
  return evaluate_float(spelling, in, to);
}

}  // namespace lockstep::fuzz::differential
