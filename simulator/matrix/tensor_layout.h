// Which cell of tensor memory a lane's register holds after tcgen05.ld, or gives to tcgen05.st, and
// where tcgen05.mma has the rows of its matrices.
//
// Source: PTX ISA 9.0, 9.7.16.2 (data movement shapes) and 9.7.16.10.5 (layouts of tcgen05.mma).
#pragma once

#include <cstdint>
#include <vector>

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

// A part of an accumulator: rows [row, row + rows) and columns [column, column + columns) of D. Its
// first column is that of the address, its rows begin in lane `lane` after that of the address.
struct AccumulatorPart {
  int block = 0;  // of a pair
  int lane = 0;
  int row = 0, rows = 0, column = 0, columns = 0;
  bool spread = false;  // over every other 16 lanes

  // Of row `r` of the part.
  int lane_of(int r) const { return lane + (spread ? tensor_lane_of_row(r, 64) : r); }
  int lanes() const { return spread ? 112 : rows; }
};

// The parts of an accumulator of m rows and n columns. One block: 128 rows in all lanes, 64 in
// every other 16; with `stationary` weights 64 rows in each half of the lanes, which have half of
// the columns each, and 32 rows in each quarter. A pair of blocks: each has half of the rows; 64 of
// them lie in each half of its lanes, with half of the columns each, or where A is sparse in every
// other 16 lanes with all columns.
std::vector<AccumulatorPart> accumulator_parts(int m, int n, bool paired, bool stationary,
                                               bool sparse = false);

}  // namespace lockstep::matrix
