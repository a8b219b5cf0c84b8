// Operations on tensor memory (PTX ISA 9.7.16, tcgen05): 128 lanes by 512 columns of 32 bits.
//
// Action::kTensorAllocate, kTensorFree, kTensorRelinquish, kTensorLoad, kTensorStore, kTensorWait:
// the whole warp executes them, and Op::immediate is the index into Program::tensor_operations.
// The others are each lane's own; SideDataFields: the index.
#pragma once

#include <cstdint>

#include "simulator/isa/opcode.h"
#include "simulator/program/copies.h"
#include "simulator/program/operation.h"

namespace lockstep::program {

inline constexpr std::uint32_t kTensorLanes = 128, kTensorColumns = 512;

struct TensorOperation {
  // In tensor memory: of ld, st and cp the data, of mma the accumulator, of dealloc what is freed.
  // In shared memory: where alloc stores the address, and the mbarrier object of commit.
  AddressOperand address;
  isa::Space space = isa::Space::kNone;  // of an address in shared memory
  isa::TensorShape shape = isa::TensorShape::kNone;
  isa::TensorMulticast multicast = isa::TensorMulticast::kNone;
  isa::TensorKind kind = isa::TensorKind::kNone;
  bool paired = false;      // .cta_group::2: two blocks of a cluster work together
  bool stationary = false;  // mma.ws
  bool sparse = false;      // mma.sp: A has half of its columns
  bool shifts_a = false;    // mma with .ashift
  int scale_vector = 0;     // mma: elements of a row with one scale; 0: none are scaled
  // ld and st: registers, Program::slots[first ..], and how many times the shape stands in a row.
  std::uint32_t first = 0;
  int registers = 0, number = 1;
  bool packed = false;  // two columns of 16 bits in a register
  // ld.red: the least or greatest of what a lane loads, of .u32, .s32 or .f32.
  Slot reduced = kNoSlot;
  isa::Type type = isa::Type::kNone;
  bool greatest = false, absolute = false, nan_wins = false;
  int narrow_bits = 0;     // cp: of an element in shared memory, which gets a byte; 0: as it is
  std::uint32_t half = 0;  // .16x32bx2: from the columns of lanes 0 to 15 to those of 16 to 31
  bool is_load = false;    // wait
  bool before = false;     // fence
  Slot columns = kNoSlot;  // alloc, dealloc
  Slot mask = kNoSlot;     // commit: blocks of the cluster, 16 bits
  // mma. a: descriptor, or kNoSlot, and a_address is where A lies in tensor memory.
  Slot a = kNoSlot, b = kNoSlot, instruction = kNoSlot, accumulates = kNoSlot;
  bool accumulates_negated = false;
  AddressOperand a_address;
  AddressOperand row_scales, column_scales;  // block scale
  AddressOperand metadata;                   // of a sparse A
  Slot zero_columns = kNoSlot;               // mma.ws: which columns of B count as zero
  // Lanes of D that stay, a bit each; of a pair, those of its second block come after.
  Slot disabled[8] = {kNoSlot, kNoSlot, kNoSlot, kNoSlot, kNoSlot, kNoSlot, kNoSlot, kNoSlot};
  int scale = 0;  // the accumulator is multiplied by 2^-scale first
};

}  // namespace lockstep::program
