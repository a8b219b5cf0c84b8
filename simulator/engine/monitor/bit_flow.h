// Which bits of a result depend on which bits of an operand, for values that nobody wrote.
//
// Compilers take words apart and put them together: a structure is read as a word, padding and all,
// and its members are cut out of it by shifts, masks, bfe, prmt and conversions; a bit field is put
// into its word by a mask and an or, or by bfi. What they cut away must not count, and what they
// only move or leave where it is must still count as a copy.
#pragma once

#include <cstdint>

#include "simulator/engine/state/warp.h"
#include "simulator/program/program.h"

namespace lockstep::engine {

using program::OperandUse;
using program::ValidityTransfer;

struct PassedBits {
  std::uint64_t bits = 0;  // of the result that depend on what nobody wrote
  bool computed = false;   // they are no copies of bits of the operand
  bool masked =
      false;  // they are what a mask has left of a byte, and nothing has been put beside them
  bool merged = false;  // something has
};

// Eight bits for each bit of `bytes`, and a bit for each byte of `bits` that is not 0.
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

// `bits`: of the operand at `operand`, a source of `op` that counts in this lane, those that nobody
// wrote; `other`: those of the first two sources' other one. `flow` is neither a store, an atomic
// nor a decision.
PassedBits pass_bits(const Warp& w, const Op& op, ValidityTransfer flow, const OperandUse& operand,
                     int lane, std::uint64_t bits, std::uint64_t other);

}  // namespace lockstep::engine
