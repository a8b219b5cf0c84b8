// Operations that copy asynchronously (PTX ISA 9.7.9.25).
#pragma once

#include <cstdint>

#include "simulator/isa/opcode.h"
#include "simulator/program/operation.h"

namespace lockstep::program {

// Action::kCopyAsync: cp.async. Destination: src[0] + immediate, in shared memory. Source: src[1] + target (signed), in global memory. width: bytes.
// mode: what src[2] is.
enum class CopyMode : std::uint8_t { kWhole, kSourceSize, kIgnoreSource };

// The address operand of an operation that has several.
struct AddressOperand {
  Slot slot = kNoSlot;
  std::int64_t offset = 0;
  bool narrow = false;  // a register of 32 bits
};

// Action::kBulkCopy: cp.async.bulk. Op::target: index into Program::bulk_copies.
struct BulkCopy {
  AddressOperand to, from, mbarrier;
  isa::Space to_space = isa::Space::kNone, from_space = isa::Space::kNone;
  Slot size = kNoSlot;
  Slot mask = kNoSlot;  // 16 bits: of blocks (to shared memory) or of bytes (to global memory)
};

}  // namespace lockstep::program
