#include <utility>

#include "simulator/translate/emitters.h"

namespace lockstep::translate {
namespace {

using isa::BoolOp;
using isa::Compare;
using isa::Type;
using Xbyak::Ymm;

constexpr std::uint32_t kSignOfWord = 0x80000000u;
constexpr std::uint64_t kWideSign = std::uint64_t{1} << 63;

// AVX's predicate of a comparison of floats.
int float_predicate(Compare c) {
  switch (c) {
    case Compare::kEq: return 0x00;
    case Compare::kNe: return 0x0c;  // ordered
    case Compare::kLt: return 0x01;
    case Compare::kLe: return 0x02;
    case Compare::kGt: return 0x0e;
    case Compare::kGe: return 0x0d;
    case Compare::kEqu: return 0x08;
    case Compare::kNeu: return 0x04;
    case Compare::kLtu: return 0x09;  // not at least
    case Compare::kLeu: return 0x0a;
    case Compare::kGtu: return 0x06;
    case Compare::kGeu: return 0x05;
    case Compare::kNum: return 0x07;
    case Compare::kNan: return 0x03;
    default: return -1;
  }
}
// A comparison of integers from `equal` and `greater`, of which one is asked for.
struct Order {
  bool equal, swapped, negated, is_unsigned;
};
Order order_of(Compare c, Type t) {
  const bool without_sign = t == Type::kU32 || t == Type::kU64;
  switch (c) {
    case Compare::kEq: return {true, false, false, false};
    case Compare::kNe: return {true, false, true, false};
    case Compare::kLt: return {false, true, false, without_sign};
    case Compare::kLe: return {false, false, true, without_sign};
    case Compare::kGt: return {false, false, false, without_sign};
    case Compare::kGe: return {false, true, true, without_sign};
    case Compare::kLo: return {false, true, false, true};
    case Compare::kLs: return {false, false, true, true};
    case Compare::kHi: return {false, false, false, true};
    default: return {false, true, true, true};  // kHs
  }
}
void compare_integers(RunOfLanes& r, Order o, int bytes, Ymm d, Ymm a, Ymm b) {
  if (o.equal) {
    bytes == 4 ? r.g.vpcmpeqd(d, a, b) : r.g.vpcmpeqq(d, a, b);
  } else {
    if (o.swapped) std::swap(a, b);
    if (o.is_unsigned) {
      const Xbyak::Address sign = bytes == 4 ? r.pool.all(kSignOfWord) : r.pool.all_wide(kWideSign);
      r.g.vpxor(r.t0, a, sign);
      r.g.vpxor(r.t1, b, sign);
      a = r.t0, b = r.t1;
    }
    bytes == 4 ? r.g.vpcmpgtd(d, a, b) : r.g.vpcmpgtq(d, a, b);
  }
  if (o.negated) r.g.vpxor(d, d, r.pool.all(~0u));
}
void compare(RunOfLanes& r, const Op& op, const Meaning& m) {
  const bool half = is_half(m.type),
             is_float = half || m.type == Type::kF32 || m.type == Type::kF64;
  const int bytes = m.bytes[1], predicate = float_predicate(m.compare);
  Order order = order_of(m.compare, m.type);
  if (bytes == 2) order.is_unsigned = false;  // 16 bits without a sign are 32 without one set
  const auto one = [&](Ymm d, Ymm a, Ymm b) {
    if (!is_float) return compare_integers(r, order, bytes == 8 ? 8 : 4, d, a, b);
    bytes == 8 ? r.g.vcmppd(d, a, b, predicate) : r.g.vcmpps(d, a, b, predicate);
  };
  const Ymm d = r.fresh();
  if (half) {
    floats_of_halves(r, m.type, r.t0, r.half(op.src[0]));
    floats_of_halves(r, m.type, r.t1, r.half(op.src[1]));
    one(d, r.t0, r.t1);
  } else if (bytes == 2) {
    const Xbyak::Xmm a = r.half(op.src[0]), b = r.half(op.src[1]);
    const bool with_sign = m.type == Type::kS16;
    with_sign ? r.g.vpmovsxwd(r.t0, a) : r.g.vpmovzxwd(r.t0, a);
    with_sign ? r.g.vpmovsxwd(r.t1, b) : r.g.vpmovzxwd(r.t1, b);
    one(d, r.t0, r.t1);
  } else if (bytes == 4) {
    one(d, r.word(op.src[0]), r.word(op.src[1]));
  } else {
    const Wide a = r.wide(op.src[0]), b = r.wide(op.src[1]);
    const Ymm second = r.fresh();
    one(d, a.part[0], b.part[0]);
    one(second, a.part[1], b.part[1]);
    words_of(r, d, {{d, second}}, false);
    // `second` is nobody's.
    r.release(second);
  }
  if (m.bool_op != BoolOp::kNone) {
    const Ymm c = r.mask(op.src[2], op.as<program::ComputeFields>().negates(2));
    switch (m.bool_op) {
      case BoolOp::kAnd: r.g.vpand(d, d, c); break;
      case BoolOp::kOr: r.g.vpor(d, d, c); break;
      default: r.g.vpxor(d, d, c);
    }
  }
  r.set_mask(op, d);
}

}  // namespace

Emitter comparison_emitter(const Meaning& m) {
  const int compared = m.bytes[1];
  if (is_half(m.type)) return !m.ftz && has_bytes(m, {0, 2, 2}) ? &compare : nullptr;
  const bool known = m.type == Type::kF32   ? compared == 4
                     : m.type == Type::kF64 ? compared == 8
                     : compared == 2        ? m.type == Type::kU16 || m.type == Type::kS16
                                            : is_integer(m.type, compared);
  return known && has_bytes(m, {0, compared, compared}) ? &compare : nullptr;
}

}  // namespace lockstep::translate
