// Which bits of a result depend on which uninitialised bits of an operand.
//
// Compilers take words apart and reassemble them. They read a structure as a word, padding
// included, and extract its members by shifts, masks, bfe, prmt and conversions. They insert a bit
// field into its word by a mask and an or, or by bfi. Bits that are cut off must not count. Bits
// that are only moved or kept must still count as a copy.
#pragma once

#include <cstdint>

#include "simulator/engine/state/warp.h"
#include "simulator/program/program.h"

namespace lockstep::engine {

using program::OperandUse;
using program::ValidityTransfer;

struct PassedBits {
  std::uint64_t bits = 0;  // of the result: bits that depend on uninitialised bits
  bool computed = false;   // they are not mere copies of bits of the operand
  bool masked = false;     // a mask has left them of a byte, and nothing has been merged with them
  bool merged = false;     // other bits have been merged with them
};

// Conversions between one bit a byte and eight: bits_of_bytes() sets all bits of each byte;
// bytes_of_bits() sets a bit for each byte that is not 0.
constexpr std::uint64_t bits_of_bytes(std::uint8_t bytes) {
  std::uint64_t bits = 0;
  for (int k = 0; k < 8; ++k) bits |= (bytes >> k & 1) != 0 ? std::uint64_t{0xff} << 8 * k : 0;
  return bits;
}
constexpr std::uint8_t bytes_of_bits(std::uint64_t bits) {
  unsigned bytes = 0;
  for (int k = 0; k < 8; ++k) bytes |= unsigned{(bits >> 8 * k & 0xff) != 0} << k;
  return static_cast<std::uint8_t>(bytes);
}

// The bits that pass from one source of `op` to its result in this lane. `bits`: the uninitialised
// bits of the source `operand`. `other`: those of the other one of the first two sources. `flow`
// must not be a store, an atomic or a decision.
PassedBits pass_bits(const Warp& w, const Op& op, ValidityTransfer flow, const OperandUse& operand,
                     int lane, std::uint64_t bits, std::uint64_t other);

}  // namespace lockstep::engine
