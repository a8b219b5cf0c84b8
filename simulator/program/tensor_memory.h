// Operations on tensor memory (PTX ISA 9.7.16, tcgen05): 128 lanes by 512 columns of 32 bits.
//
// A whole warp executes Action::kTensorAllocate, kTensorFree, kTensorRelinquish, kTensorLoad,
// kTensorStore and kTensorWait; Op::immediate is the index into Program::tensor_operations. Each
// lane executes the others by itself; SideDataFields: the index.
#pragma once

#include <cstdint>

#include "simulator/isa/opcode.h"
#include "simulator/program/copies.h"
#include "simulator/program/operation.h"

namespace lockstep::program {

inline constexpr std::uint32_t kTensorLanes = 128, kTensorColumns = 512;

struct TensorOperation {
  // In tensor memory: the data of ld, st and cp, the accumulator of mma, the columns that dealloc
  // frees. In shared memory: where alloc stores the address, and the mbarrier object of commit.
  AddressOperand address;
  isa::Space space = isa::Space::kNone;  // of an address in shared memory
  isa::TensorShape shape = isa::TensorShape::kNone;
  isa::TensorMulticast multicast = isa::TensorMulticast::kNone;
  isa::TensorKind kind = isa::TensorKind::kNone;
  bool paired = false;      // .cta_group::2: two blocks of a cluster cooperate
  bool stationary = false;  // mma.ws
  bool sparse = false;      // mma.sp: A has half of its columns
  bool shifts_a = false;    // mma with .ashift
  int scale_vector = 0;     // mma: elements of a row that share a scale; 0: no scales
  // ld and st: registers, Program::slots[first ..], and the repetitions of the shape in a row.
  std::uint32_t first = 0;
  int registers = 0, number = 1;
  bool packed = false;  // two columns of 16 bits in a register
  // ld.red: the minimum or maximum of the values that a lane loads, as .u32, .s32 or .f32.
  Slot reduced = kNoSlot;
  isa::Type type = isa::Type::kNone;
  bool greatest = false, absolute = false, nan_wins = false;
  int narrow_bits =
      0;  // cp: bits of an element in shared memory, which is extended to a byte; 0: not extended
  std::uint32_t half =
      0;  // .16x32bx2: the offset from the columns of lanes 0 to 15 to those of lanes 16 to 31
  bool is_load = false;    // wait
  bool before = false;     // fence
  Slot columns = kNoSlot;  // alloc, dealloc
  Slot mask = kNoSlot;     // commit: blocks of the cluster, 16 bits
  // mma. a: the descriptor of A, or kNoSlot if A lies in tensor memory at a_address.
  Slot a = kNoSlot, b = kNoSlot, instruction = kNoSlot, accumulates = kNoSlot;
  bool accumulates_negated = false;
  AddressOperand a_address;
  AddressOperand row_scales, column_scales;  // block scale
  AddressOperand metadata;                   // of a sparse A
  Slot zero_columns = kNoSlot;               // mma.ws: the columns of B that count as zero
  // A bit for each lane of D that is not written. For a pair, the lanes of the second block follow.
  Slot disabled[8] = {kNoSlot, kNoSlot, kNoSlot, kNoSlot, kNoSlot, kNoSlot, kNoSlot, kNoSlot};
  int scale = 0;  // the accumulator is first multiplied by 2^-scale
};

}  // namespace lockstep::program
