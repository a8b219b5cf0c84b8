// Integers, bits, comparisons and selections, computed one bit at a time or with wide integers.
#include <algorithm>

#include "simulator/fuzz/differential/reference.h"

namespace lockstep::fuzz::differential {
namespace {

using isa::Compare;
using isa::Modifiers;
using isa::Opcode;
using isa::Type;
using Bits = std::uint64_t;
using Wide = __int128;
using UWide = unsigned __int128;

int width_of(Type t) { return 8 * isa::size_of(t); }
Bits mask_of(int width) { return width >= 64 ? ~Bits{0} : (Bits{1} << width) - 1; }

Wide value(Bits b, int width, bool sign) {
  b &= mask_of(width);
  if (sign && (b >> (width - 1) & 1)) return static_cast<Wide>(b) - (Wide{1} << width);
  return static_cast<Wide>(b);
}

Wide clamped(Wide v, Wide low, Wide high) { return v < low ? low : v > high ? high : v; }

bool bit(Bits v, int i) { return i >= 0 && i < 64 && (v >> i & 1); }

bool holds(Compare c, int order) {
  switch (c) {
    case Compare::kEq: return order == 0;
    case Compare::kNe: return order == -1 || order == 1;
    case Compare::kLt:
    case Compare::kLo: return order == -1;
    case Compare::kLe:
    case Compare::kLs: return order == -1 || order == 0;
    case Compare::kGt:
    case Compare::kHi: return order == 1;
    case Compare::kGe:
    case Compare::kHs: return order == 1 || order == 0;
    case Compare::kEqu: return order == 0 || order == 2;
    case Compare::kNeu: return order != 0;
    case Compare::kLtu: return order == -1 || order == 2;
    case Compare::kLeu: return order != 1;
    case Compare::kGtu: return order == 1 || order == 2;
    case Compare::kGeu: return order != -1;
    case Compare::kNum: return order != 2;
    case Compare::kNan: return order == 2;
    default: return false;
  }
}

bool combined(const Modifiers& m, bool a, bool c) {
  switch (m.bool_op) {
    case isa::BoolOp::kAnd: return a && c;
    case isa::BoolOp::kOr: return a || c;
    case isa::BoolOp::kXor: return a != c;
    default: return a;
  }
}

bool is_packed(Type t) { return t == Type::kF16x2 || t == Type::kBF16x2; }
Type element_of(Type t) {
  return t == Type::kF16x2 ? Type::kF16 : t == Type::kBF16x2 ? Type::kBF16 : t;
}

Bits product(const Modifiers& m, Bits a, Bits b, int width) {
  const bool sign = is_signed(m.type);
  const UWide full =
      static_cast<UWide>(value(a, width, sign)) * static_cast<UWide>(value(b, width, sign));
  return static_cast<Bits>(m.half == isa::Half::kHi ? full >> width : full);
}

}  // namespace

bool evaluate_integer(const isa::Spelling& spelling, std::span<const Bits> in, bool& carry,
                      Values& to) {
  const Modifiers& m = spelling.modifiers;
  const Opcode op = spelling.form->row->opcode;
  const Type type = m.type;
  const int width = width_of(type);
  const bool sign = is_signed(type);
  const bool pairs = type == Type::kU16x2 || type == Type::kS16x2;
  const auto v = [&](std::size_t i) { return value(in[i], width, sign); };
  const auto give = [&](Wide r, int w) {
    to.first = static_cast<Bits>(r) & mask_of(w);
    return true;
  };
  const auto each = [&](auto f) {  // for two halves
    const Bits low = static_cast<Bits>(f(value(in[0], 16, sign), value(in[1], 16, sign))) & 0xffff;
    const Bits high =
        static_cast<Bits>(f(value(in[0] >> 16, 16, sign), value(in[1] >> 16, 16, sign))) & 0xffff;
    to.first = high << 16 | low;
    return true;
  };
  const auto with_carry = [&](UWide sum) {
    to.first = static_cast<Bits>(sum) & mask_of(width);
    if (m.carry_out) carry = (sum >> width) & 1;
    return true;
  };
  switch (op) {
    case Opcode::k_add:
    case Opcode::k_addc:
      if (pairs) return each([](Wide a, Wide b) { return a + b; });
      if (m.sat) return give(clamped(v(0) + v(1), -Wide{0x80000000}, 0x7fffffff), width);
      if (op == Opcode::k_addc || m.carry_out)
        return with_carry(static_cast<UWide>(in[0] & mask_of(width)) + (in[1] & mask_of(width)) +
                          (op == Opcode::k_addc && carry));
      return give(v(0) + v(1), width);
    case Opcode::k_sub:
    case Opcode::k_subc:
      if (m.sat) return give(clamped(v(0) - v(1), -Wide{0x80000000}, 0x7fffffff), width);
      if (op == Opcode::k_subc ||
          m.carry_out) {  // a - b is a + ~b + 1; the carry is that of this sum
        const Bits b = ~in[1] & mask_of(width);
        return with_carry(static_cast<UWide>(in[0] & mask_of(width)) + b +
                          (op == Opcode::k_subc ? (carry ? 1 : 0) : 1));
      }
      return give(v(0) - v(1), width);
    case Opcode::k_mul:
      if (m.half == isa::Half::kWide) return give(v(0) * v(1), 2 * width);
      return give(static_cast<Wide>(product(m, in[0], in[1], width)), width);
    case Opcode::k_mad:
    case Opcode::k_madc:
      if (m.half == isa::Half::kWide)
        return give(static_cast<Wide>(static_cast<UWide>(v(0) * v(1)) + in[2]), 2 * width);
      if (m.sat)
        return give(clamped(value(product(m, in[0], in[1], width), 32, true) + v(2),
                            -Wide{0x80000000}, 0x7fffffff),
                    width);
      if (op == Opcode::k_madc || m.carry_out)
        return with_carry(static_cast<UWide>(product(m, in[0], in[1], width) & mask_of(width)) +
                          (in[2] & mask_of(width)) + (op == Opcode::k_madc && carry));
      return give(static_cast<Wide>(static_cast<UWide>(product(m, in[0], in[1], width)) + in[2]),
                  width);
    case Opcode::k_mul24:
    case Opcode::k_mad24: {
      const Wide p = value(in[0], 24, sign) * value(in[1], 24, sign);
      Wide half = m.half == isa::Half::kHi ? p >> 16 : p;
      half = value(static_cast<Bits>(half), 32, sign);
      if (op == Opcode::k_mul24) return give(half, 32);
      return give(m.sat ? clamped(half + v(2), -Wide{0x80000000}, 0x7fffffff) : half + v(2), 32);
    }
    case Opcode::k_sad: return give((v(0) < v(1) ? v(1) - v(0) : v(0) - v(1)) + v(2), width);
    case Opcode::k_div: return v(1) == 0 ? give(0, width) : give(v(0) / v(1), width);
    case Opcode::k_rem: return v(1) == 0 ? give(0, width) : give(v(0) % v(1), width);
    case Opcode::k_abs: return give(v(0) < 0 ? -v(0) : v(0), width);
    case Opcode::k_neg: return give(-v(0), width);
    case Opcode::k_min:
    case Opcode::k_max: {
      const auto one = [&](Wide a, Wide b) {
        const Wide r = (op == Opcode::k_min) == (a < b) ? a : b;
        return m.relu && r < 0 ? Wide{0} : r;
      };
      return pairs ? each(one) : give(one(v(0), v(1)), width);
    }
    case Opcode::k_popc: {
      int n = 0;
      for (int i = 0; i < width; ++i) n += bit(in[0], i);
      return give(n, 32);
    }
    case Opcode::k_clz: {
      int n = 0;
      while (n < width && !bit(in[0], width - 1 - n)) ++n;
      return give(n, 32);
    }
    case Opcode::k_bfind: {
      const bool skipped = sign && bit(in[0], width - 1);
      for (int i = width - 1; i >= 0; --i) {
        if (bit(in[0], i) != skipped) return give(m.shift_amount ? width - 1 - i : i, 32);
      }
      return give(0xffffffff, 32);
    }
    case Opcode::k_fns: {
      const int base = static_cast<int>(in[1]), offset = static_cast<int>(value(in[2], 32, true));
      if (offset == 0) return give(bit(in[0], base) ? base : 0xffffffff, 32);
      int left = offset > 0 ? offset : -offset;
      for (int i = base; i >= 0 && i<32; i += offset> 0 ? 1 : -1) {
        if (bit(in[0], i) && --left == 0) return give(i, 32);
      }
      return give(0xffffffff, 32);
    }
    case Opcode::k_brev: {
      Bits r = 0;
      for (int i = 0; i < width; ++i) r |= Bits{bit(in[0], i)} << (width - 1 - i);
      to.first = r;
      return true;
    }
    case Opcode::k_bfe: {
      const int position = static_cast<int>(in[1] & 255), length = static_cast<int>(in[2] & 255);
      Bits r = 0;
      const bool fill =
          sign && length > 0 && bit(in[0], std::min(position + length - 1, width - 1));
      for (int i = 0; i < width; ++i)
        r |= Bits{i < length && position + i < width ? bit(in[0], position + i) : fill} << i;
      to.first = r;
      return true;
    }
    case Opcode::k_bfi: {
      const int position = static_cast<int>(in[2] & 255), length = static_cast<int>(in[3] & 255);
      Bits r = in[1] & mask_of(width);
      for (int i = 0; i < length && position + i < width; ++i) {
        r &= ~(Bits{1} << (position + i));
        r |= Bits{bit(in[0], i)} << (position + i);
      }
      to.first = r;
      return true;
    }
    case Opcode::k_szext: {
      const Bits n = m.clamp ? std::min<Bits>(in[1] & 0xffffffff, 32) : in[1] & 31;
      if (n == 0) return give(0, 32);
      return give(value(in[0], static_cast<int>(n), sign), 32);
    }
    case Opcode::k_bmsk: {
      const Bits a = m.clamp ? std::min<Bits>(in[0] & 0xffffffff, 32) : in[0] & 31,
                 b = m.clamp ? std::min<Bits>(in[1] & 0xffffffff, 32) : in[1] & 31;
      Bits r = 0;
      for (Bits i = a; i < a + b && i < 32; ++i) r |= Bits{1} << i;
      to.first = r;
      return true;
    }
    case Opcode::k_dp4a:
    case Opcode::k_dp2a: {
      Wide sum = in[2];
      const bool a_sign = is_signed(m.type), b_sign = is_signed(m.source_type);
      if (op == Opcode::k_dp4a) {
        for (int i = 0; i < 4; ++i)
          sum += value(in[0] >> (8 * i), 8, a_sign) * value(in[1] >> (8 * i), 8, b_sign);
      } else {
        const int start = m.half == isa::Half::kHi ? 16 : 0;
        for (int i = 0; i < 2; ++i)
          sum += value(in[0] >> (16 * i), 16, a_sign) * value(in[1] >> (start + 8 * i), 8, b_sign);
      }
      return give(sum, 32);
    }
    case Opcode::k_vmin4:
    case Opcode::k_vmax4: {
      const bool a_sign = is_signed(m.source_type), b_sign = is_signed(m.third_type),
                 d_sign = is_signed(m.type);
      Bits r = 0;
      for (int i = 0; i < 4; ++i) {
        const Wide a = value(in[0] >> (8 * i), 8, a_sign), b = value(in[1] >> (8 * i), 8, b_sign);
        Wide d = op == Opcode::k_vmin4 ? std::min(a, b) : std::max(a, b);
        if (m.sat) d = std::clamp<Wide>(d, d_sign ? -128 : 0, d_sign ? 127 : 255);
        r |= (static_cast<Bits>(d) & 255) << (8 * i);
      }
      to.first = r;
      return true;
    }
    case Opcode::k_vabsdiff4: {
      const bool a_sign = is_signed(m.source_type), b_sign = is_signed(m.third_type),
                 d_sign = is_signed(m.type);
      const bool adds = spelling.text.ends_with(".add");
      Bits r = adds ? in[2] : 0;
      for (int i = 0; i < 4; ++i) {
        Wide d = value(in[0] >> (8 * i), 8, a_sign) - value(in[1] >> (8 * i), 8, b_sign);
        if (d < 0) d = -d;
        if (m.sat) d = std::min<Wide>(d, d_sign ? 127 : 255);
        if (adds)
          r += static_cast<Bits>(d);
        else
          r |= (static_cast<Bits>(d) & 255) << (8 * i);
      }
      to.first = r & 0xffffffff;
      return true;
    }
    case Opcode::k_and:
      return give(static_cast<Wide>(in[0] & in[1]), type == Type::kPred ? 1 : width);
    case Opcode::k_or:
      return give(static_cast<Wide>(in[0] | in[1]), type == Type::kPred ? 1 : width);
    case Opcode::k_xor:
      return give(static_cast<Wide>(in[0] ^ in[1]), type == Type::kPred ? 1 : width);
    case Opcode::k_not: return give(static_cast<Wide>(~in[0]), type == Type::kPred ? 1 : width);
    case Opcode::k_cnot: return give((in[0] & mask_of(width)) == 0, width);
    case Opcode::k_lop3: {
      Bits r = 0;
      for (int i = 0; i < 32; ++i)
        r |= Bits{bit(in[3], 4 * bit(in[0], i) + 2 * bit(in[1], i) + bit(in[2], i))} << i;
      to.first = r;
      if (m.bool_op != isa::BoolOp::kNone) to.second = combined(m, r != 0, in[4] != 0);
      return true;
    }
    case Opcode::k_shf: {
      const int n = static_cast<int>(m.clamp ? std::min<Bits>(in[2] & 0xffffffff, 32) : in[2] & 31);
      const Bits both = (in[1] & 0xffffffff) << 32 | (in[0] & 0xffffffff);
      to.first = (m.left ? (n == 0 ? in[1] : both >> (32 - n)) : both >> n) & 0xffffffff;
      return true;
    }
    case Opcode::k_shl: {
      const Bits n = in[1] & 0xffffffff;
      return give(n >= static_cast<Bits>(width) ? 0 : static_cast<Wide>(in[0] << n), width);
    }
    case Opcode::k_shr:
      return give(v(0) >> std::min<Bits>(in[1] & 0xffffffff, static_cast<Bits>(width)), width);
    case Opcode::k_prmt: {
      const auto byte = [&](Bits i) {
        return i < 4 ? in[0] >> (8 * i) & 255 : in[1] >> (8 * (i - 4)) & 255;
      };
      const Bits s = in[2] & 3;
      Bits from[4];
      for (Bits i = 0; i < 4; ++i) {
        switch (m.prmt) {
          case isa::PrmtMode::kF4e: from[i] = i + s; break;
          case isa::PrmtMode::kB4e: from[i] = (8 + s - i) % 8; break;
          case isa::PrmtMode::kRc8: from[i] = s; break;
          case isa::PrmtMode::kEcl: from[i] = std::max(i, s); break;
          case isa::PrmtMode::kEcr: from[i] = std::min(i, s); break;
          case isa::PrmtMode::kRc16: from[i] = (i & 1) + 2 * (s & 1); break;
          default: from[i] = in[2] >> (4 * i) & 15; break;
        }
      }
      Bits r = 0;
      for (Bits i = 0; i < 4; ++i) {
        Bits b = byte(from[i] & 7);
        if (from[i] & 8) b = b & 128 ? 255 : 0;
        r |= b << (8 * i);
      }
      to.first = r;
      return true;
    }
    case Opcode::k_mov:
      if (m.variant == 1) return give(static_cast<Wide>(in[0] | in[1] << (width / 2)), width);
      if (m.variant == 2) {
        to.first = in[0] & mask_of(width / 2);
        to.second = in[0] >> (width / 2) & mask_of(width / 2);
        return true;
      }
      to.first = in[0];
      return true;
    case Opcode::k_selp: to.first = in[2] ? in[0] : in[1]; return true;
    case Opcode::k_slct: {
      const int order = order_of(m.source_type, m.ftz, in[2], 0);
      to.first = order == 0 || order == 1 ? in[0] : in[1];
      return true;
    }
    case Opcode::k_setp:
    case Opcode::k_set: {
      const bool c = in.size() > 2 && in[2] != 0;
      if (op == Opcode::k_setp) {
        if (is_packed(type)) {
          const Type e = element_of(type);
          to.first =
              combined(m, holds(m.compare, order_of(e, m.ftz, in[0] & 0xffff, in[1] & 0xffff)), c);
          to.second = combined(
              m, holds(m.compare, order_of(e, m.ftz, in[0] >> 16 & 0xffff, in[1] >> 16 & 0xffff)),
              c);
          return true;
        }
        const int order = order_of(type, m.ftz, in[0], in[1]);
        if (order == -2) return false;
        to.first = combined(m, holds(m.compare, order), c);
        to.second = combined(m, !holds(m.compare, order), c);
        return true;
      }
      const Type from = m.source_type;
      const auto truth = [&](Type t) -> Bits {
        return t == Type::kF32    ? 0x3f800000
               : t == Type::kF16  ? 0x3c00
               : t == Type::kBF16 ? 0x3f80
                                  : mask_of(8 * isa::size_of(t));
      };
      if (is_packed(from)) {
        const Type e = element_of(from);
        const Bits one = type == Type::kF16x2 ? 0x3c00 : type == Type::kBF16x2 ? 0x3f80 : 0xffff;
        const bool low =
            combined(m, holds(m.compare, order_of(e, m.ftz, in[0] & 0xffff, in[1] & 0xffff)), c);
        const bool high = combined(
            m, holds(m.compare, order_of(e, m.ftz, in[0] >> 16 & 0xffff, in[1] >> 16 & 0xffff)), c);
        to.first = (high ? one << 16 : 0) | (low ? one : 0);
        return true;
      }
      const int order = order_of(from, m.ftz, in[0], in[1]);
      if (order == -2) return false;
      to.first = combined(m, holds(m.compare, order), c) ? truth(type) : 0;
      return true;
    }
    case Opcode::k_cvt: {
      const Type from = m.source_type;
      Wide x = value(in[0], width_of(from), is_signed(from));
      if (m.sat)
        x = clamped(x, sign ? -(Wide{1} << (width - 1)) : 0,
                    (Wide{1} << (width - (sign ? 1 : 0))) - 1);
      // A register wider than the type is extended by the type's sign.
      to.first = static_cast<Bits>(value(static_cast<Bits>(x), width, sign));
      return true;
    }
    case Opcode::k_cvt_pack: {
      const int n = width_of(m.type);
      const Wide low = sign ? -(Wide{1} << (n - 1)) : 0,
                 high = (Wide{1} << (n - (sign ? 1 : 0))) - 1;
      const Bits a = static_cast<Bits>(clamped(value(in[0], 32, true), low, high)) & mask_of(n),
                 b = static_cast<Bits>(clamped(value(in[1], 32, true), low, high)) & mask_of(n);
      to.first = a << n | b;
      if (n == 8) to.first = ((in[2] & 0xffff) << 16 | to.first) & 0xffffffff;
      return true;
    }
    default: return false;
  }
}

}  // namespace lockstep::fuzz::differential
