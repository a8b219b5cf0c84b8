#include "simulator/engine/checks/byte_flow.h"

#include <algorithm>
#include <cstring>

namespace lockstep::engine {
namespace {

using Bits = std::uint32_t;  // bytes, a bit each

// The `count` lowest.
Bits low(int count) { return (1u << count) - 1; }

PassedBytes passed(Bits bytes, bool computed) { return {static_cast<std::uint8_t>(bytes), computed}; }

std::uint32_t constant_word(const Warp& w, Slot s) { return *source<std::uint32_t>(w, s); }

// By a constant number of bits.
PassedBytes shifted(const Warp& w, const Op& op, Bits bytes, bool left, bool is_signed = false) {
  const std::uint32_t bits = std::min<std::uint32_t>(constant_word(w, op.src[1]), 8u * op.register_bytes), whole = bits / 8;
  // What comes in from above repeats the sign.
  if (is_signed && bits != 0 && (bytes >> (op.register_bytes - 1) & 1) != 0) return passed(low(op.register_bytes), true);
  if (whole >= op.register_bytes) return {};
  const auto by = [&](std::uint32_t n) { return left ? bytes << n : bytes >> n; };
  return passed((by(whole) | (bits % 8 == 0 ? 0 : by(whole + 1))) & low(op.register_bytes), bits % 8 != 0);
}

// And a constant.
PassedBytes masked(const Warp& w, const Op& op, Bits bytes) {
  std::uint8_t mask[8] = {};
  std::memcpy(mask, source<std::byte>(w, is_constant(op.src[1]) ? op.src[1] : op.src[0]), op.register_bytes);
  bool computed = false;
  for (int k = 0; k < 8; ++k) {
    if (mask[k] == 0) bytes &= ~(1u << k);
    computed |= (bytes >> k & 1) != 0 && mask[k] != 0xff;
  }
  return passed(bytes, computed);
}

// bfe from a constant place, of a constant length (PTX ISA, bfe).
PassedBytes extracted(const Warp& w, const Op& op, Bits bytes, bool is_signed) {
  const std::uint32_t bits = 8u * op.register_bytes, at = constant_word(w, op.src[1]) & 0xff, length = constant_word(w, op.src[2]) & 0xff;
  const std::uint32_t end = std::min(at + length, bits);
  if (length == 0 || (at >= bits && !is_signed)) return {};
  // What lies beyond the top of the value repeats its sign.
  const Bits field = at >= bits ? 1u << (op.register_bytes - 1) : low(static_cast<int>((end + 7) / 8)) & ~low(static_cast<int>(at / 8));
  if ((bytes & field) == 0) return {};
  if (is_signed || at % 8 != 0 || end % 8 != 0) return passed(low(op.register_bytes), true);
  return passed((bytes & field) >> at / 8, false);
}

// prmt with a constant selection: four bits a byte, of which the highest repeats the byte's sign.
PassedBytes permuted(const Warp& w, const Op& op, const OperandUse& operand, Bits bytes) {
  const std::uint32_t selection = constant_word(w, op.src[2]);
  PassedBytes result;
  for (int k = 0; k < 4; ++k) {
    const std::uint32_t from = selection >> (4 * k);
    if (operand.slot != op.src[(from & 4) != 0 ? 1 : 0] || !(bytes >> (from & 3) & 1)) continue;
    result.bytes |= static_cast<std::uint8_t>(1u << k);
    result.computed |= (from & 8) != 0;
  }
  return result;
}

// Between integers. Op::width: bytes of the source's type, which may be narrower than its register.
PassedBytes converted(const Op& op, Bits bytes, bool is_signed) {
  bytes &= low(op.width);
  if (is_signed && op.register_bytes > op.width && (bytes >> (op.width - 1) & 1) != 0) return passed((bytes | ~low(op.width)) & low(op.register_bytes), true);
  return passed(bytes & low(op.register_bytes), false);
}

// lop3: an operand on which the table does not depend does not count. Of the table's eight bits, those with the first operand set are 0xf0, with the
// second 0xcc, with the third 0xaa (PTX ISA, lop3).
bool table_ignores(const Warp& w, const Op& op, const OperandUse& operand) {
  constexpr std::uint8_t kSet[3] = {0xf0, 0xcc, 0xaa};
  const auto table = static_cast<std::uint8_t>(constant_word(w, op.src[3]));
  for (int k = 0; k < 3; ++k) {
    const int width = 4 >> k;
    if (operand.slot == op.src[k] && ((table & kSet[k]) >> width) != (table & ~kSet[k] & 0xff)) return false;
  }
  return true;
}

}  // namespace

PassedBytes pass_bytes(const Warp& w, const Op& op, ValidityTransfer flow, const OperandUse& operand, std::uint8_t bytes) {
  switch (flow) {
    case ValidityTransfer::kCopy: return {bytes, false};
    case ValidityTransfer::kSelect: return operand.role == OperandUse::Role::kValue ? PassedBytes{bytes, false} : PassedBytes{0xff, true};
    case ValidityTransfer::kShiftRight: return shifted(w, op, bytes, false);
    case ValidityTransfer::kShiftRightSigned: return shifted(w, op, bytes, false, true);
    case ValidityTransfer::kShiftLeft: return shifted(w, op, bytes, true);
    case ValidityTransfer::kMask: return masked(w, op, bytes);
    case ValidityTransfer::kBitwise: return {bytes, true};
    case ValidityTransfer::kTable: return table_ignores(w, op, operand) ? PassedBytes{} : PassedBytes{bytes, true};
    case ValidityTransfer::kExtract: return extracted(w, op, bytes, false);
    case ValidityTransfer::kExtractSigned: return extracted(w, op, bytes, true);
    case ValidityTransfer::kPermute: return permuted(w, op, operand, bytes);
    case ValidityTransfer::kConvert: return converted(op, bytes, false);
    case ValidityTransfer::kConvertSigned: return converted(op, bytes, true);
    case ValidityTransfer::kConvertFrom: return (bytes & low(op.width)) == 0 ? PassedBytes{} : PassedBytes{0xff, true};
    default: return {0xff, true};
  }
}

}  // namespace lockstep::engine
