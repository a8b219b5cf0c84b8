// Which bytes of a result depend on which bytes of an operand, for values that nobody wrote.
//
// Compilers take words apart and put them together: a structure is read as a word, padding and all, and its members are cut out of it by shifts,
// masks, bfe, prmt and conversions. What they cut away must not count, and what they only move must still count as a copy.
#pragma once

#include <cstdint>

#include "simulator/engine/schedule/warp.h"
#include "simulator/program/program.h"

namespace lockstep::engine {

using program::OperandUse;
using program::ValidityTransfer;

struct PassedBytes {
  std::uint8_t bytes = 0;  // of the result, a bit each, that depend on what nobody wrote
  bool computed = false;   // they are no copies of bytes of the operand
};

// `bytes`: of the operand at `operand`, a source of `op` that counts in this lane, those that nobody wrote. `flow` is neither a store, an atomic nor a
// decision.
PassedBytes pass_bytes(const Warp& w, const Op& op, ValidityTransfer flow, const OperandUse& operand, std::uint8_t bytes);

}  // namespace lockstep::engine
