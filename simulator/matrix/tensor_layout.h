// Which cell of tensor memory a lane's register holds after tcgen05.ld, or gives to tcgen05.st, and
// where tcgen05.mma has the rows of its matrices.
//
// Source: PTX ISA 9.0, 9.7.16.2 (data movement shapes) and 9.7.16.10.5 (layouts of tcgen05.mma).
#pragma once

#include <cstdint>

#include "simulator/isa/opcode.h"

namespace lockstep::matrix {

// Relative to the address of the instruction.
struct TensorPlace {
  int lane = 0, column = 0;
};

// What tcgen05.ld and st move.
struct TensorTransfer {
  isa::TensorShape shape = isa::TensorShape::kNone;
  int number = 1;       // .x1 to .x128
  bool packed = false;  // a register has the low halves of two columns
  int half = 0;         // .16x32bx2: from the columns of the first half to those of the second

  int lanes() const { return shape == isa::TensorShape::k32x32b ? 32 : 16; }
  int registers() const;  // of a lane
  int columns() const;    // of tensor memory, of one half
  // `part`: of a register that is packed, 0 its low half and 1 its high half.
  TensorPlace place(int lane, int reg, int part) const;
};

// The lane of row `row` of an accumulator, or of an A in tensor memory, of `rows` rows, relative to
// that of its address: 128 rows lie in all lanes, 64 in every other 16.
inline int tensor_lane_of_row(int row, int rows) {
  return rows == 64 ? row / 16 * 32 + row % 16 : row;
}

}  // namespace lockstep::matrix
