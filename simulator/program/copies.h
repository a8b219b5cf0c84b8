// Operations that copy asynchronously (PTX ISA 9.7.9.25).
#pragma once

#include <cstdint>

#include "simulator/isa/opcode.h"
#include "simulator/program/operation.h"

namespace lockstep::program {

// Action::kCopyAsync: cp.async. The destination is src[0] + immediate in shared memory, the source
// src[1] + source_offset() in global memory. width: bytes. mode(): the meaning of src[2].
enum class CopyMode : std::uint8_t { kWhole, kSourceSize, kIgnoreSource };

class CopyAsyncFields : public Fields {
 public:
  explicit CopyAsyncFields(Op& op) : Fields(op) {}
  static constexpr bool fits(Action a) { return a == Action::kCopyAsync; }
  CopyMode mode() const { return static_cast<CopyMode>(what()); }
  void set_mode(CopyMode mode) { what() = static_cast<std::uint8_t>(mode); }
  std::int32_t source_offset() const { return static_cast<std::int32_t>(word()); }
  void set_source_offset(std::int32_t bytes) { word() = static_cast<std::uint32_t>(bytes); }
};

// cp.async.mbarrier.arrive.
class CopyArriveFields : public Fields {
 public:
  explicit CopyArriveFields(Op& op) : Fields(op) {}
  static constexpr bool fits(Action a) { return a == Action::kCopyArrive; }
  bool no_increment() const { return what() != 0; }
  void set_no_increment(bool no) { what() = no; }
};

// One address operand of an operation with several.
struct AddressOperand {
  Slot slot = kNoSlot;
  std::int64_t offset = 0;
  bool narrow = false;  // a register of 32 bits
};

// Action::kBulkCopy: cp.async.bulk and cp.reduce.async.bulk. SideDataFields: index into
// Program::bulk_copies.
struct BulkCopy {
  AddressOperand to, from, mbarrier;
  isa::Space to_space = isa::Space::kNone, from_space = isa::Space::kNone;
  Slot size = kNoSlot;
  Slot mask =
      kNoSlot;  // 16 bits: a mask of blocks (to shared memory) or of bytes (to global memory)
  isa::AtomOp reduction = isa::AtomOp::kNone;
  isa::Type type = isa::Type::kNone;  // type of the elements
};

// Action::kAsyncStore: st.async and red.async. Action::kBulkStore: st.bulk, whose data[0] is the
// number of bytes. Action::kTryCancel: clusterlaunchcontrol.try_cancel. SideDataFields: index into
// Program::async_stores.
struct AsyncStore {
  AddressOperand to, mbarrier;
  isa::Space space = isa::Space::kNone;  // kGeneric or kSharedCluster, for both addresses
  std::uint8_t width = 0, elements = 1;
  bool to_all = false;  // try_cancel: to all blocks of the cluster
  Slot data[4] = {kNoSlot, kNoSlot, kNoSlot, kNoSlot};
  isa::AtomOp reduction = isa::AtomOp::kNone;
  isa::Type type = isa::Type::kNone;
};

// Action::kMultimem: multimem.ld_reduce, st and red (PTX ISA 9.7.9.14). SideDataFields: index into
// Program::multimem.
struct Multimem {
  enum class What : std::uint8_t { kLoadReduce, kStore, kReduce };
  What what = What::kLoadReduce;
  AddressOperand address;
  isa::Space space = isa::Space::kNone;  // kGeneric or kGlobal
  isa::AtomOp reduction = isa::AtomOp::kNone;
  isa::Type type = isa::Type::kNone;
  bool wide_sum = false;  // .acc::f32 for 16-bit elements, .acc::f16 for 8-bit elements
  std::uint8_t elements = 1;
  Slot data[8] = {kNoSlot, kNoSlot, kNoSlot, kNoSlot, kNoSlot, kNoSlot, kNoSlot, kNoSlot};
  std::uint8_t order = 0;  // program::MemoryFlags
};

// Action::kTensorCopy: copies through a tensor map. SideDataFields: index into
// Program::tensor_copies.
struct TensorCopy {
  enum class What : std::uint8_t { kLoad, kStore, kReduce, kPrefetch };
  What what = What::kLoad;
  isa::LoadMode mode = isa::LoadMode::kNone;
  std::uint8_t cta_group = 0;  // 0: not specified
  std::uint8_t dimensions = 0;
  isa::AtomOp reduction = isa::AtomOp::kNone;
  isa::Space to_space = isa::Space::kNone;  // kLoad: kShared or kSharedCluster
  AddressOperand map, shared, mbarrier;
  // Coordinates, innermost first. For four rows: the common coordinate, then each row's number.
  Slot at[5] = {kNoSlot, kNoSlot, kNoSlot, kNoSlot, kNoSlot};
  // Offsets of im2col. For im2col::w: the number of halo pixels and the offset. kNoSlot: none.
  Slot offsets[3] = {kNoSlot, kNoSlot, kNoSlot};
  Slot mask = kNoSlot;  // of blocks
};

// Action::kTensorMapReplace: replaces a field of the tensor map at src[0] + immediate. src[1] is
// the value, of `width` bytes, unless PTX defines constants for the field.
enum class MapField : std::uint8_t {
  kAddress = 1,
  kRank,
  kBox,
  kSize,
  kStride,
  kElementStride,
  kType,
  kInterleave,
  kSwizzle,
  kFill,
  kAtom
};

// Action::kTensorMapCopy: tensormap.cp_fenceproxy. SideDataFields: index into Program::bulk_copies,
// with the size of a map.

class MapReplaceFields : public Fields {
 public:
  explicit MapReplaceFields(Op& op) : Fields(op) {}
  static constexpr bool fits(Action a) { return a == Action::kTensorMapReplace; }
  MapField field() const { return static_cast<MapField>(what()); }
  void set_field(MapField field) { what() = static_cast<std::uint8_t>(field); }
  // The dimension, or the value of a field for which PTX defines constants.
  std::uint32_t ordinal() const { return word(); }
  void set_ordinal(std::uint32_t ordinal) { word() = ordinal; }
};

}  // namespace lockstep::program
