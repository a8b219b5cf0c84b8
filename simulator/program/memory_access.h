// The fields of operations that access memory: loads, stores, atomics and all others with an
// operand in brackets.
//
//   src[0] + immediate   the address of each lane
//   width, elements      bytes of an element, and the number of elements of a lane
//   register_bytes       bytes of the data's registers, at least `width`
//   dst, src[1]          loads, stores: the data of one element; several use ListedFields
//   AtomicFields         atomics. src[1] and src[2] are the operands, dst is the old value or
//                        kNoSlot. Several elements use ListedFields: first the operands' slots,
//                        then
//                        those for the old values
//   space, scope         the state space, and the scope of a strong access
//
// A kernel's parameter: its offset is `immediate`. Other parameters: storage at register-file
// offset src[0] with a stride of src[1] bytes a lane, plus `immediate`.
#pragma once

#include <cstdint>

#include "simulator/isa/opcode.h"
#include "simulator/program/operation.h"

namespace lockstep::program {

// MemoryFields::flags.
enum MemoryFlags : std::uint8_t {
  kSignExtend = 1,     // narrow load into a wider register; atomics: signed minimum or maximum
  kNarrowAddress = 2,  // the address register has 32 bits
  kFrameAddress = 4,   // a local address relative to the frame
  kStrong =
      8,  // volatile, relaxed, acquire, release or atomic: does not race with other strong accesses
  kFloatResult = 16,    // atomics: floating-point addition
  kAcquire = 32,        // orders later accesses
  kRelease = 64,        // orders earlier accesses
  kHalfElements = 128,  // atomics: each 16 bits are an f16, or with kSignExtend a bf16
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

// The conversion by cvta. Addresses of .shared, .local, .const and of .param (of a kernel) are
// relative to the start of that state space. For .const, the start is Op::immediate.
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
