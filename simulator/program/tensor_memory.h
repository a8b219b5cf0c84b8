// Operations on tensor memory (PTX ISA 9.7.16, tcgen05): 128 lanes by 512 columns of 32 bits.
//
// Action::kTensorAllocate, kTensorFree, kTensorRelinquish, kTensorLoad, kTensorStore and
// kTensorWait are executed by the whole warp; Op::immediate is the index into
// Program::tensor_operations. The other operations belong to single lanes; SideDataFields: the
// index.
#pragma once

#include <cstdint>

#include "simulator/isa/opcode.h"
#include "simulator/program/copies.h"
#include "simulator/program/operation.h"

namespace lockstep::program {

inline constexpr std::uint32_t kTensorLanes = 128, kTensorColumns = 512;

struct TensorOperation {
  // In tensor memory: the data of ld, st and cp, the accumulator of mma, the columns of dealloc. In
  // shared memory: where alloc stores the address, and the mbarrier object of commit.
  AddressOperand address;
  isa::Space space = isa::Space::kNone;  // of an address in shared memory
  isa::TensorShape shape = isa::TensorShape::kNone;
  isa::TensorMulticast multicast = isa::TensorMulticast::kNone;
  isa::TensorKind kind = isa::TensorKind::kNone;
  bool paired = false;      // .cta_group::2: two blocks of a cluster cooperate
  bool stationary = false;  // mma.ws
  bool sparse = false;      // mma.sp: A has half of its columns
  bool shifts_a = false;    // mma with .ashift
  int scale_vector = 0;     // mma: elements of a row with one scale; 0: no scales
  // ld and st: registers, Program::slots[first ..], and the repetition count of the shape.
  std::uint32_t first = 0;
  int registers = 0, number = 1;
  bool packed = false;  // two columns of 16 bits in a register
  // ld.red: the minimum or maximum of a lane's loaded values, of type .u32, .s32 or .f32.
  Slot reduced = kNoSlot;
  isa::Type type = isa::Type::kNone;
  bool greatest = false, absolute = false, nan_wins = false;
  int narrow_bits = 0;  // cp: bits of a packed element in shared memory, which is expanded to a
                        // byte; 0: not packed
  std::uint32_t half =
      0;  // .16x32bx2: distance from the columns of lanes 0 to 15 to those of 16 to 31
  bool is_load = false;    // wait
  bool before = false;     // fence
  Slot columns = kNoSlot;  // alloc, dealloc
  Slot mask = kNoSlot;     // commit: blocks of the cluster, 16 bits
  // mma. a: a descriptor; kNoSlot: A is in tensor memory at a_address.
  Slot a = kNoSlot, b = kNoSlot, instruction = kNoSlot, accumulates = kNoSlot;
  bool accumulates_negated = false;
  AddressOperand a_address;
  AddressOperand row_scales, column_scales;  // block scale
  AddressOperand metadata;                   // of a sparse A
  Slot zero_columns = kNoSlot;               // mma.ws: the columns of B that count as zero
  // Lanes of D that keep their value, one bit each; for a pair, those of the second block follow.
  Slot disabled[8] = {kNoSlot, kNoSlot, kNoSlot, kNoSlot, kNoSlot, kNoSlot, kNoSlot, kNoSlot};
  int scale = 0;  // the accumulator is multiplied by 2^-scale first
};

}  // namespace lockstep::program
