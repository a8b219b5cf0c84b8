#include "simulator/engine/monitor/bit_flow.h"

#include <algorithm>
#include <cstring>

namespace lockstep::engine {
namespace {

using Bits = std::uint64_t;
using program::Bitwise;

constexpr Bits kAll = ~Bits{0};

// The `count` lowest bits.
Bits low(std::uint32_t count) { return count >= 64 ? kAll : (Bits{1} << count) - 1; }

std::uint32_t constant_word(const Warp& w, Slot s) { return *source<std::uint32_t>(w, s); }

// The value of a source in a lane, as wide as the operation's type.
Bits value_of(const Warp& w, const Op& op, Slot s, int lane) {
  Bits value = 0;
  std::memcpy(&value, source<std::byte>(w, s) + lane * op.register_bytes, op.register_bytes);
  return value;
}

// A shift by a constant number of bits.
PassedBits shifted(const Warp& w, const Op& op, Bits bits, bool left, bool is_signed = false) {
  const std::uint32_t width = 8u * op.register_bytes,
                      by = std::min(constant_word(w, op.src[1]), width);
  bits &= low(width);
  // Bits shifted in from above are copies of the sign.
  const Bits sign =
      is_signed && by != 0 && (bits >> (width - 1) & 1) != 0 ? low(width) & ~low(width - by) : 0;
  if (by >= width) return {sign, sign != 0};
  const Bits moved = ((left ? bits << by : bits >> by) & low(width)) | sign;
  return {moved, sign != 0 || by % 8 != 0};
}

// bfe at a constant position, with a constant length (PTX ISA, bfe).
PassedBits extracted(const Warp& w, const Op& op, Bits bits, bool is_signed) {
  const std::uint32_t width = 8u * op.register_bytes, at = constant_word(w, op.src[1]) & 0xff,
                      length = constant_word(w, op.src[2]) & 0xff;
  const std::uint32_t end = std::min(at + length, width);
  if (length == 0 || (at >= width && !is_signed)) return {};
  bits &= low(width);
  const Bits field = at >= width ? 0 : (bits & low(end)) >> at;
  // Bits above the field repeat its highest bit or, if the field exceeds the value, the value's
  // highest bit.
  const std::uint32_t highest = at >= width ? width - 1 : end - 1;
  const Bits above =
      is_signed && (bits >> highest & 1) != 0 ? low(width) & ~low(at >= width ? 0 : end - at) : 0;
  if ((field | above) == 0) return {};
  return {field | above, is_signed || at % 8 != 0 || end % 8 != 0};
}

// bfi with a constant length and position (PTX ISA, bfi): the lowest bits of the first source,
// surrounded by bits of the second.
PassedBits inserted(const Warp& w, const Op& op, const OperandUse& operand, Bits bits) {
  const std::uint32_t width = 8u * op.register_bytes, at = constant_word(w, op.src[2]) & 0xff,
                      length = constant_word(w, op.src[3]) & 0xff;
  const Bits field = at >= width ? 0 : low(std::min(length, width - at)) << at;
  const Bits moved = operand.slot == op.src[0] && at < width ? bits << at & field : 0;
  const Bits around = operand.slot == op.src[1] ? bits & low(width) & ~field : 0;
  return {moved | around, moved != 0 && at % 8 != 0, false, field != 0};
}

// prmt with a constant selector of four bits for each byte. The highest bit selects the byte's
// sign.
PassedBits permuted(const Warp& w, const Op& op, const OperandUse& operand, Bits bits) {
  const std::uint32_t selection = constant_word(w, op.src[2]);
  PassedBits result;
  for (int k = 0; k < 4; ++k) {
    const std::uint32_t from = selection >> (4 * k);
    if (operand.slot != op.src[(from & 4) != 0 ? 1 : 0]) continue;
    Bits byte = bits >> 8 * (from & 3) & 0xff;
    if ((from & 8) != 0) byte = (byte & 0x80) != 0 ? 0xff : 0;
    result.bits |= byte << 8 * k;
    result.computed |= (from & 8) != 0 && byte != 0;
  }
  return result;
}

// Conversion between integers. Op::width: bytes of the source's type, which may be narrower than
// its register.
PassedBits converted(const Op& op, Bits bits, bool is_signed) {
  const std::uint32_t from = 8u * op.width, to = 8u * op.register_bytes;
  bits &= low(from);
  if (is_signed && to > from && (bits >> (from - 1) & 1) != 0)
    return {(bits | ~low(from)) & low(to), true};
  return {bits & low(to)};
}

// and, or, xor, not. A known bit of the other operand may determine the result alone, or keep this
// operand's bit unchanged.
PassedBits bitwise(const Warp& w, const Op& op, const OperandUse& operand, int lane, Bits bits,
                   Bits other) {
  const Bits type = low(8u * op.register_bytes);
  bits &= type;
  const auto what = op.as<ComputeFields>().detail<Bitwise>();
  if (what == Bitwise::kNot || what == Bitwise::kXor) return {bits, true};
  const Bits beside = value_of(w, op, operand.slot == op.src[0] ? op.src[1] : op.src[0], lane);
  const bool is_and = what == Bitwise::kAnd;
  const Bits kept = bits & ((is_and ? beside : ~beside) | other);
  // A mask that removes whole bytes leaves copies of the other bytes.
  const bool masked = is_and && kept != bits_of_bytes(bytes_of_bits(kept));
  return {kept, (kept & other) != 0, masked, !is_and};
}

// lop3: of the table's eight bits, those with the first operand set are 0xf0, with the second 0xcc,
// with the third 0xaa (PTX ISA, lop3). An operand on which the table does not depend does not
// count.
PassedBits by_table(const Warp& w, const Op& op, const OperandUse& operand, Bits bits) {
  constexpr std::uint8_t kSet[3] = {0xf0, 0xcc, 0xaa};
  const auto table = static_cast<std::uint8_t>(constant_word(w, op.src[3]));
  for (int k = 0; k < 3; ++k) {
    const int width = 4 >> k;
    if (operand.slot == op.src[k] && ((table & kSet[k]) >> width) != (table & ~kSet[k] & 0xff))
      return {bits, true};
  }
  return {};
}

}  // namespace

PassedBits pass_bits(const Warp& w, const Op& op, ValidityTransfer flow, const OperandUse& operand,
                     int lane, Bits bits, Bits other) {
  switch (flow) {
    case ValidityTransfer::kCopy: return {bits};
    case ValidityTransfer::kSelect:
      return operand.role == OperandUse::Role::kValue ? PassedBits{bits} : PassedBits{kAll, true};
    case ValidityTransfer::kShiftRight: return shifted(w, op, bits, false);
    case ValidityTransfer::kShiftRightSigned: return shifted(w, op, bits, false, true);
    case ValidityTransfer::kShiftLeft: return shifted(w, op, bits, true);
    case ValidityTransfer::kBitwise: return bitwise(w, op, operand, lane, bits, other);
    case ValidityTransfer::kTable: return by_table(w, op, operand, bits);
    case ValidityTransfer::kExtract: return extracted(w, op, bits, false);
    case ValidityTransfer::kExtractSigned: return extracted(w, op, bits, true);
    case ValidityTransfer::kInsert: return inserted(w, op, operand, bits);
    case ValidityTransfer::kPermute: return permuted(w, op, operand, bits);
    case ValidityTransfer::kConvert: return converted(op, bits, false);
    case ValidityTransfer::kConvertSigned: return converted(op, bits, true);
    case ValidityTransfer::kConvertFrom:
      return (bits & low(8u * op.width)) == 0 ? PassedBits{} : PassedBits{kAll, true};
    default: return {kAll, true};
  }
}

}  // namespace lockstep::engine
