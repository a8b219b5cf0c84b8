// A decoded instruction, and the layout of the register file that contains its operands.
//
// A kernel is decoded once. An operation contains a pointer to a specialised handler and the byte
// offsets of its operands in the warp's register file, so its execution needs no table lookups and
// no branches on modifiers.
//
// Plain data only: this header is compiled into every instruction-set variant of the handlers.
#pragma once

#include <cassert>
#include <cstddef>
#include <cstdint>

#include "simulator/program/action.h"

namespace lockstep::engine {
struct Warp;  // engine/state/warp.h
}

namespace lockstep::program {

inline constexpr int kWarpSize = 32;
using LaneMask = std::uint32_t;
inline constexpr LaneMask kAllLanes = 0xffffffffu;

struct Op;

// Executes `op` for the lanes in `mask`, which is never 0. Handlers of control flow, barriers and
// memory may change the warp's program counter and state. All other handlers only write their
// destination, and only for the lanes in `mask`.
using Handler = void (*)(engine::Warp& warp, const Op& op, LaneMask mask);

// The place of an operand. The register file is a structure of arrays: 32 lanes of the register's
// own width side by side, 64-byte aligned. An 8-bit register takes 32 bytes, 16-bit 64, 32-bit 128,
// 64-bit 256, 128-bit 512. A predicate is one 32-bit LaneMask. Immediates, and other values that
// are equal in all lanes of all warps, are laid out the same way in a file of constants for each
// kernel. Bit 0 of the offset selects the file of constants.
using Slot = std::uint32_t;
inline constexpr Slot kNoSlot = 0xfffffffeu;
constexpr bool is_constant(Slot s) { return (s & 1) != 0; }

// The work of the scheduler's loop around a handler.
enum class OpKind : std::uint8_t {
  kCompute,  // registers in, registers out: none
  kMemory,   // may fail or read unwritten bytes: the loop stores the program counter before the
             // handler and examines the warp's event after it
  kControl,  // may change the program counter, the active lanes or the set of splits
  kBranch,   // bra: executed by the loop itself
};

class Fields;

struct alignas(64) Op {
  Handler run = nullptr;
  Slot dst = kNoSlot;
  Slot dst2 = kNoSlot;  // second destination: setp p|q, shfl d|p, add.cc's carry mask
  Slot src[4] = {kNoSlot, kNoSlot, kNoSlot, kNoSlot};
  Slot guard = kNoSlot;  // predicate slot; kNoSlot when unguarded
  bool guard_negated = false;
  std::uint8_t width = 0;     // memory operations: bytes of an element
  std::uint8_t elements = 1;  // memory operations: vector length
  OpKind kind = OpKind::kCompute;
  std::int64_t immediate =
      0;  // address offset, Video, or index of side data, depending on the category
  std::uint32_t origin = 0;  // index of its ptx::Instruction, for findings and counters

 private:
  // Fields that differ between categories. Only views access them.
  struct Own {
    std::uint32_t word = 0;
    std::uint8_t flags = 0, what = 0, sync = 0;
  };
  Own own_;
  friend class Fields;

 public:
  std::uint8_t register_bytes = 0;  // memory operations: width of the data registers, >= `width`
  std::uint8_t space = 0;           // memory operations: isa::Space
  std::uint8_t scope = 2;           // strong memory operations and fences: check::Scope
  Action action = Action::kNone;    // the action of the handler `run`, if it has one

  // A view of the operation as one of its category: `op.as<MbarrierFields>().what()`. A view of
  // another category does not compile, or fails an assertion if only the action distinguishes them.
  template <class View>
  View as() {
    assert(View::fits(action));
    return View(*this);
  }
  template <class View>
  const View as() const {
    assert(View::fits(action));
    return View(const_cast<Op&>(*this));  // a const View changes nothing
  }
};
static_assert(sizeof(Op) == 64);

// The base of the views. Each view names the fields that it uses, and only these.
class Fields {
 protected:
  explicit Fields(Op& op) : own_(&op.own_) {}
  std::uint32_t& word() { return own_->word; }
  std::uint32_t word() const { return own_->word; }
  std::uint8_t& flags() { return own_->flags; }
  std::uint8_t flags() const { return own_->flags; }
  std::uint8_t& what() { return own_->what; }
  std::uint8_t what() const { return own_->what; }
  std::uint8_t& sync() { return own_->sync; }
  std::uint8_t sync() const { return own_->sync; }

 private:
  Op::Own* own_;
};

// A branch of a warp's lanes, with the program counter of its target.
class BranchFields : public Fields {
 public:
  explicit BranchFields(Op& op) : Fields(op) {}
  static constexpr bool fits(Action a) { return a == Action::kBranch; }
  std::uint32_t target() const { return word(); }
  void set_target(std::uint32_t pc) { word() = pc; }
};

// An operation with data outside of the operation: an index into Program::calls (kCall), tables
// (kBranchTable), bulk_copies (kBulkCopy, kTensorMapCopy), async_stores (kAsyncStore, kBulkStore,
// kTryCancel), tensor_copies (kTensorCopy), multimem (kMultimem) or tensor_operations (of tensor
// memory).
class SideDataFields : public Fields {
 public:
  explicit SideDataFields(Op& op) : Fields(op) {}
  static constexpr bool fits(Action a) {
    return a == Action::kCall || a == Action::kBranchTable || a == Action::kBulkCopy ||
           a == Action::kTensorMapCopy || a == Action::kAsyncStore || a == Action::kBulkStore ||
           a == Action::kTryCancel || a == Action::kTensorCopy || a == Action::kMultimem ||
           (a >= Action::kTensorFill && a <= Action::kTensorMultiply);
  }
  std::uint32_t index() const { return word(); }
  void set_index(std::size_t index) { word() = static_cast<std::uint32_t>(index); }
};

// An operation with a list of registers: Program::slots[first() ..].
class ListedFields : public Fields {
 public:
  explicit ListedFields(Op& op) : Fields(op) {}
  static constexpr bool fits(Action a) {
    switch (a) {
      case Action::kLoad:
      case Action::kStore:
      case Action::kAtomic:
      case Action::kLoadKernelParameter:
      case Action::kLoadStorage:
      case Action::kStoreStorage:
      case Action::kTexture:
      case Action::kSurfaceLoad:
      case Action::kSurfaceStore:
      case Action::kSurfaceStoreFormatted:
      case Action::kSurfaceReduce:
      case Action::kImageQuery:
      case Action::kLoadMatrix:
      case Action::kStoreMatrix: return true;
      default: return false;
    }
  }
  std::uint32_t first() const { return word(); }
  void set_first(std::size_t index) { word() = static_cast<std::uint32_t>(index); }
};

// A computing operation. Its predicate sources may be negated (!p).
class ComputeFields : public Fields {
 public:
  explicit ComputeFields(Op& op) : Fields(op) {}
  static constexpr bool fits(Action a) { return a == Action::kNone; }
  bool negates(int source) const { return (flags() >> source & 1) != 0; }
  void set_negates(int source) { flags() |= static_cast<std::uint8_t>(1u << source); }
  // lop3.BoolOp's predicate q.
  Slot fifth_source() const { return word(); }
  void set_fifth_source(Slot slot) { word() = slot; }
  // Details for the checker of unwritten values: Selects, Bitwise or Decides.
  template <class Detail>
  Detail detail() const {
    return static_cast<Detail>(what());
  }
  template <class Detail>
  void set_detail(Detail detail) {
    what() = static_cast<std::uint8_t>(detail);
  }
};

}  // namespace lockstep::program
