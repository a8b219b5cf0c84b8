// The cells that all threads change, with one operation each, so that the order does not matter.
#pragma once

#include <cstdint>

#include "simulator/isa/opcode.h"

namespace lockstep::fuzz::differential {

inline constexpr std::uint64_t kSumStart =
    0x0c3aa5f05a0f3c96;                                 // in every cell before the first statement
inline constexpr std::uint64_t kSumLimit = 0x7fffffff;  // of inc and dec

// The cell of an operation; -1 if it does not commute with itself.
constexpr int sum_cell(isa::AtomOp op, isa::Type type) {
  using isa::AtomOp;
  using isa::Type;
  const bool wide = isa::size_of(type) == 8;
  const bool is_signed = type == Type::kS32 || type == Type::kS64;
  switch (type) {
    case Type::kB32:
    case Type::kB64:
    case Type::kU32:
    case Type::kU64:
    case Type::kS32:
    case Type::kS64: break;
    default: return -1;
  }
  switch (op) {
    case AtomOp::kAdd: return wide ? 1 : 0;
    case AtomOp::kMin: return 2 + (wide ? 2 : 0) + (is_signed ? 1 : 0);
    case AtomOp::kMax: return 6 + (wide ? 2 : 0) + (is_signed ? 1 : 0);
    case AtomOp::kAnd: return wide ? 11 : 10;
    case AtomOp::kOr: return wide ? 13 : 12;
    case AtomOp::kXor: return wide ? 15 : 14;
    case AtomOp::kInc: return 16;
    case AtomOp::kDec: return 17;
    default: return -1;
  }
}

}  // namespace lockstep::fuzz::differential
