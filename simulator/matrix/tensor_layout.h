// The layout of tensor memory: the cells that a lane's registers transfer with tcgen05.ld and
// tcgen05.st, and the rows of the matrices of tcgen05.mma.
//
// Source: PTX ISA 9.0, 9.7.16.2 (data movement shapes) and 9.7.16.10.5 (layouts of tcgen05.mma).
#pragma once

#include <cstdint>
#include <vector>

#include "simulator/isa/opcode.h"

namespace lockstep::matrix {

// A cell relative to the instruction's address.
struct TensorPlace {
  int lane = 0, column = 0;
};

// The data of a tcgen05.ld or st.
struct TensorTransfer {
  isa::TensorShape shape = isa::TensorShape::kNone;
  int number = 1;       // .x1 to .x128
  bool packed = false;  // a register holds the low halves of two columns
  int half = 0;  // .16x32bx2: distance from the columns of the first half to those of the second

  int lanes() const { return shape == isa::TensorShape::k32x32b ? 32 : 16; }
  int registers() const;  // of each lane
  int columns() const;    // of tensor memory, for one half
  // `part`: 0 for the low half and 1 for the high half of a packed register.
  TensorPlace place(int lane, int reg, int part) const;
};

// The lane of row `row` of an accumulator, or of an A in tensor memory, with `rows` rows. Relative
// to the address's lane: 128 rows occupy all lanes, 64 rows every other group of 16.
inline int tensor_lane_of_row(int row, int rows) {
  return rows == 64 ? row / 16 * 32 + row % 16 : row;
}

// A part of an accumulator: rows [row, row + rows) and columns [column, column + columns) of D. Its
// first column is the address's; its rows begin `lane` lanes after the address's lane.
struct AccumulatorPart {
  int block = 0;  // of a pair
  int lane = 0;
  int row = 0, rows = 0, column = 0, columns = 0;
  bool spread = false;  // over every other group of 16 lanes

  // The lane of row `r` of the part.
  int lane_of(int r) const { return lane + (spread ? tensor_lane_of_row(r, 64) : r); }
  int lanes() const { return spread ? 112 : rows; }
};

// The parts of an accumulator with m rows and n columns. One block: 128 rows occupy all lanes, 64
// rows every other group of 16. With `stationary` weights, 64 rows occupy each half of the lanes
// with half of the columns, and 32 rows each quarter. A pair of blocks: each block has half of the
// rows. If these are 64, they occupy each half of its lanes with half of the columns; if A is
// sparse, every other group of 16 lanes with all columns.
std::vector<AccumulatorPart> accumulator_parts(int m, int n, bool paired, bool stationary,
                                               bool sparse = false);

}  // namespace lockstep::matrix
