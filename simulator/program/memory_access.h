// The fields of operations that access memory: loads, stores, atomics, and other operations with an
// address operand.
//
//   src[0] + immediate   the address of each lane
//   width, elements      bytes of an element, and how many elements a lane moves
//   register_bytes       of the data's registers, at least `width`
//   dst, src[1]          the data of one element: loads, stores. Of several: ListedFields
//   AtomicFields         atomics. Their operands are src[1] and src[2]; dst: the old value, or
//                        kNoSlot. Of several elements: ListedFields, first the operands' slots and
//                        then those for the old values
//   space, scope         the state space, and the scope of a strong access
//
// Parameters: offset in `immediate` (a kernel's), or storage at register-file offset src[0] with a
// stride of src[1] bytes a lane, plus `immediate`.
#pragma once

#include <cstdint>

#include "simulator/isa/opcode.h"
#include "simulator/program/operation.h"

namespace lockstep::program {

// Bits of MemoryFields::flags.
enum MemoryFlags : std::uint8_t {
  kSignExtend = 1,     // narrow load into a wider register; atomics: signed minimum or maximum
  kNarrowAddress = 2,  // the address register has 32 bits
  kFrameAddress = 4,   // an absolute local address, relative to the frame
  kStrong =
      8,  // volatile, relaxed, acquire, release or atomic: does not race with other strong accesses
  kFloatResult = 16,    // atomics: floating-point addition
  kAcquire = 32,        // orders later accesses
  kRelease = 64,        // orders earlier accesses
  kHalfElements = 128,  // atomics: every 16 bits are an f16 or, with kSignExtend, a bf16
};

// An operation that accesses memory or orders accesses.
class MemoryFields : public Fields {
 public:
  explicit MemoryFields(Op& op) : Fields(op) {}
  static constexpr bool fits(Action a) { return a != Action::kNone && a != Action::kBranch; }
  bool has(MemoryFlags flag) const { return (Fields::flags() & flag) != 0; }
  bool has_any(int of) const { return (Fields::flags() & of) != 0; }
  std::uint8_t flags() const { return Fields::flags(); }
  void add(int more) { Fields::flags() |= static_cast<std::uint8_t>(more); }
  void set(int all) { Fields::flags() = static_cast<std::uint8_t>(all); }
};

// An atomic, or a reduction of a surface.
class AtomicFields : public Fields {
 public:
  explicit AtomicFields(Op& op) : Fields(op) {}
  static constexpr bool fits(Action a) {
    return a == Action::kAtomic || a == Action::kSurfaceReduce;
  }
  isa::AtomOp what() const { return static_cast<isa::AtomOp>(Fields::what()); }
  void set_what(isa::AtomOp what) { Fields::what() = static_cast<std::uint8_t>(what); }
};

// The direction of cvta. An address in .shared, .local, .param (of a kernel) or .const is relative
// to the start of that state space; for .const the start is Op::immediate.
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

class AddressConversionFields : public Fields {
 public:
  explicit AddressConversionFields(Op& op) : Fields(op) {}
  static constexpr bool fits(Action a) { return a == Action::kConvertAddress; }
  AddressConversion which() const { return static_cast<AddressConversion>(what()); }
  void set_which(AddressConversion which) { what() = static_cast<std::uint8_t>(which); }
};

// mov from a special register.
class SpecialRegisterFields : public Fields {
 public:
  explicit SpecialRegisterFields(Op& op) : Fields(op) {}
  static constexpr bool fits(Action a) { return a == Action::kSpecialRegister; }
  isa::SpecialRegister which() const { return static_cast<isa::SpecialRegister>(word()); }
  void set_which(isa::SpecialRegister which) { word() = static_cast<std::uint32_t>(which); }
};

}  // namespace lockstep::program
