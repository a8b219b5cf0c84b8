// The fields of operations that access memory: loads, stores, atomics, and whatever else has an
// operand in brackets.
//
//   src[0] + immediate   the address of each lane
//   width, elements      bytes of an element, and how many elements a lane moves
//   register_bytes       of the data's registers, at least `width`
//   dst, src[1]          the data of one element: loads, stores. Of several: Program::slots[target
//   ...] mode                 atomics: isa::AtomOp. Their operands are src[1] and src[2]; dst: the
//   old value, or kNoSlot. Of several elements: the
//                        operands' slots and then those for the old values, from
//                        Program::slots[target] on
//   space, scope         the state space, and the scope of a strong access
//
// Parameters: offset in `immediate` (a kernel's), or storage at register-file offset src[0] with a
// stride of src[1] bytes a lane, plus `immediate`.
#pragma once

#include <cstdint>

#include "simulator/program/operation.h"

namespace lockstep::program {

// Op::flags of memory operations.
enum MemoryFlags : std::uint8_t {
  kSignExtend = 1,     // narrow load into a wider register; atomics: signed minimum or maximum
  kNarrowAddress = 2,  // the address register has 32 bits
  kFrameAddress = 4,   // an absolute local address that counts from the frame
  kStrong = 8,         // volatile, relaxed, acquire, release or atomic: does not race with its like
  kFloatResult = 16,   // atomics: floating-point addition
  kAcquire = 32,       // orders what follows
  kRelease = 64,       // orders what came before
  kHalfElements = 128,  // atomics: every 16 bits are an f16, or with kSignExtend a bf16
};

// What cvta does; Op::mode of Action::kConvertAddress. An address of .shared, .local, .param (of a
// kernel) and .const counts from where that state space begins; that of .const is Op::immediate.
enum class AddressConversion : std::uint8_t {
  kFromShared,
  kToShared,
  kFromLocal,
  kToLocal,
  kFromParam,
  kToParam,
  kFromConst,
  kToConst
};

}  // namespace lockstep::program
